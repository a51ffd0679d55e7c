# find_package(tenon): tenon::headers (header-only), tenon::layouts and tenon::tenon (the compiled libraries).
include(CMakeFindDependencyMacro)
find_dependency(CUDAToolkit)
include("${CMAKE_CURRENT_LIST_DIR}/tenonTargets.cmake")
