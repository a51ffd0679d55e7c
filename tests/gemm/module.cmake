# Tests of the hand-written PTX module; included by tests/gemm/CMakeLists.txt.
get_target_property(module_ptx tenon_module_cubins TENON_PTX)
get_target_property(module_cubins tenon_module_cubins TENON_CUBINS)

# L1: ptxas accepts the text, without spills and with two CTAs of 128 threads per SM.
foreach(arch IN ITEMS 80 86 89 90)
  add_test(NAME module_ptxas.sm_${arch}
    COMMAND ${CMAKE_COMMAND} -D PTXAS=${TENON_PTXAS} -D ARCH=${arch} -D PTX=${module_ptx}
            -D CUBIN=${CMAKE_CURRENT_BINARY_DIR}/module_ptxas_sm_${arch}.cubin
            -P ${CMAKE_CURRENT_LIST_DIR}/module_test.cmake)
  set_tests_properties(module_ptxas.sm_${arch} PROPERTIES LABELS L1)
endforeach()

tenon_add_test(module_text_test LEVEL L0 SOURCES ${CMAKE_CURRENT_LIST_DIR}/module_test.cpp
  LIBRARIES tenon::tenon)
target_compile_definitions(module_text_test PRIVATE TENON_MODULE_PTX="${module_ptx}")
tenon_add_device_test(module_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/module_test.cu)

# L2: 64 tensor-core instructions in the loop; 24 ldmatrix (8 before the loop, 16 in it); 32 copies.
foreach(cubin IN LISTS module_cubins)
  get_filename_component(name ${cubin} NAME_WE)
  tenon_add_sass_test(${cubin} NAME sass.${name} KERNEL tenon_module_f16_f32_tn_128x128x32_s4
    EXPECT HMMA.16816.F32>=64 LDSM.16.M88.4>=24 LDGSTS.E.BYPASS>=32 LDGDEPBAR>=4
    FORBID LDL STL MAX_REGISTERS 255 SPILL_FREE)
endforeach()
