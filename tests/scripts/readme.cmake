# The pages of this tree and what generates the support matrix, as tests; included by tests/scripts/CMakeLists.txt.
tenon_add_script_test(support_matrix L0)
if(TARGET tenon_command)
  tenon_add_script_test(readme L1)
  set_tests_properties(scripts.readme PROPERTIES COST 50)
  set_property(TEST scripts.readme APPEND PROPERTY ENVIRONMENT
    "TENON_PROGRAM=$<TARGET_FILE:tenon_command>" "TENON_BUILD=${CMAKE_BINARY_DIR}"
    "TENON_HAS_BENCHMARKS=$<IF:$<BOOL:${TENON_BUILD_BENCHMARKS}>,ON,OFF>" "TENON_CXX=${CMAKE_CXX_COMPILER}"
    "TENON_NVCC=${CMAKE_CUDA_COMPILER}" "TENON_CUDA_INCLUDE=${CUDAToolkit_INCLUDE_DIRS}")
  set_property(TEST scripts.docs scripts.phone APPEND PROPERTY ENVIRONMENT "TENON_PROGRAM=$<TARGET_FILE:tenon_command>")
  # What scripts/run does after the build, on the program itself.
  add_test(NAME scripts.main_job COMMAND "${TENON_PYTHON}" -B "${PROJECT_SOURCE_DIR}/scripts/main_job"
           "$<TARGET_FILE:tenon_command>" "${CMAKE_CURRENT_BINARY_DIR}/main_job")
  set_tests_properties(scripts.main_job PROPERTIES LABELS L2 TIMEOUT 300 COST 40)
endif()
