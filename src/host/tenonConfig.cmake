# find_package(tenon): tenon::headers (header-only), tenon::layouts and tenon::tenon (the compiled libraries).
include(CMakeFindDependencyMacro)
# CMake 3.25 as Debian 12 has it fails on a toolkit without nvToolsExt, as 13 is: it sets a property of this target unasked.
if(CMAKE_VERSION VERSION_LESS 3.26 AND NOT TARGET CUDA::nvToolsExt)
  add_library(CUDA::nvToolsExt INTERFACE IMPORTED)
endif()
find_dependency(CUDAToolkit)
include("${CMAKE_CURRENT_LIST_DIR}/tenonTargets.cmake")
