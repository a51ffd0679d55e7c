# find_package(tenon): tenon::headers (header-only) and tenon::tenon (the compiled library).
include(CMakeFindDependencyMacro)
find_dependency(CUDAToolkit)
include("${CMAKE_CURRENT_LIST_DIR}/tenonTargets.cmake")
