# L2: the machine code of the GEMM kernels, of each family and types; included by tests/gemm/CMakeLists.txt.
#
# The counts are those of one k-tile of the family's smallest tile: an HMMA does 16 x 8 x 16 multiply-adds, an LDSM loads
# four 8 x 8 matrices. LDGSTS.E.BYPASS copies 16 bytes; ptxas makes some of them .LTC128B, which prefetches into the L2.
# Registers: unaligned kernels may use 128 a thread; tma is compiled for 384 threads.

# tenon_expect_sass(KERNEL ...): what tenon_add_sass_test(tenon_kernels KERNEL ...) checks, in one test with all others,
# sass.kernels, of the library: sass.read disassembles a kernel once, not for every requirement.
function(tenon_expect_sass)
  cmake_parse_arguments(arg "SPILL_FREE" "KERNEL;MAX_REGISTERS" "ARCH;EXPECT;FORBID" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_KERNEL)
    message(FATAL_ERROR "tenon_expect_sass: unknown arguments '${arg_UNPARSED_ARGUMENTS}', or no KERNEL <regex>")
  endif()
  set(fields "\"kernel\": \"${arg_KERNEL}\"")
  foreach(list IN ITEMS ARCH EXPECT FORBID)
    string(TOLOWER ${list} field)
    list(JOIN arg_${list} "\", \"" values)
    if(values)
      string(APPEND fields ", \"${field}\": [\"${values}\"]")
    endif()
  endforeach()
  if(arg_MAX_REGISTERS)
    string(APPEND fields ", \"max_registers\": ${arg_MAX_REGISTERS}")
  endif()
  if(arg_SPILL_FREE)
    string(APPEND fields ", \"spill_free\": true")
  endif()
  set_property(DIRECTORY APPEND_STRING PROPERTY sass_expectations ",\n {${fields}}")
endfunction()

foreach(types IN ITEMS
    "f16_f32 __half float HMMA.16816.F32 HMMA.16816.F32.BF16 HMMA.16816.F16"
    "bf16_f32 __nv_bfloat16 float HMMA.16816.F32.BF16 HMMA.16816.F16"
    "f16_f16 __half __half HMMA.16816.F16 HMMA.16816.F32")
  separate_arguments(types)
  list(POP_FRONT types label operands accumulator hmma)  # what remains are the forms that must not occur
  set(config "GemmConfig<${operands}, ${accumulator}, ")

  tenon_expect_sass(KERNEL "gemm_cp_async<(?!.*FusedEpilogue).*${config}.*Alignment.0,"
    ARCH ${TENON_ARCHITECTURES}
    EXPECT ${hmma}>=32 LDSM.16>=16 LDGSTS.E.BYPASS>=16 LDGDEPBAR>=3
    FORBID ${types} HMMA.1688 LDL STL MAX_REGISTERS 255 SPILL_FREE)
  tenon_expect_sass(KERNEL "gemm_cp_async<(?!.*FusedEpilogue).*${config}.*Alignment.1,"
    ARCH ${TENON_ARCHITECTURES}
    EXPECT ${hmma}>=32 LDSM.16>=12 LDGSTS.E.BYPASS.128>=8 LDGSTS>=24 STS.128>=2
    FORBID ${types} HMMA.1688 LDL STL MAX_REGISTERS 128 SPILL_FREE)
  if(NOT label STREQUAL "f16_f16")
    tenon_expect_sass(KERNEL "gemm_tma<.*${config}"
      ARCH 90a
      EXPECT ${hmma}>=64 LDSM.16>=24 UTMALDG.2D>=2 SYNCS.PHASECHK>=3 USETMAXREG>=2
      FORBID ${types} HMMA.1688 LDGSTS LDL STL MAX_REGISTERS 168 SPILL_FREE)
  endif()
endforeach()

# The other types by mma.sync, one k-tile of the smallest tile likewise. On 9.0 fp8 is converted and multiplied as f16.
set(fp8_names ${TENON_ARCHITECTURES})
list(TRANSFORM fp8_names REPLACE "^8[0-8]$" "89")
list(REMOVE_DUPLICATES fp8_names)
foreach(types IN ITEMS "tf32 tf32 float HMMA.1688.F32.TF32>=16" "s8 signed.char int IMMA.16832.S8.S8>=16")
  separate_arguments(types)
  list(POP_FRONT types label operands accumulator instruction)
  tenon_expect_sass(KERNEL "gemm_cp_async<.*GemmConfig<[a-z:]*${operands}, ${accumulator}, "
    ARCH ${TENON_ARCHITECTURES}
    EXPECT ${instruction} LDSM.16>=8 LDGSTS.E.BYPASS>=8 LDGDEPBAR>=3
    FORBID HMMA.16816 LDL STL MAX_REGISTERS 255 SPILL_FREE)
endforeach()
# f32 that is rounded to 16 bits: two words make a register of a fragment.
foreach(types IN ITEMS "f16 __half HMMA.16816.F32" "bf16 __nv_bfloat16 HMMA.16816.F32.BF16")
  separate_arguments(types)
  list(POP_FRONT types label operands instruction)
  tenon_expect_sass(KERNEL "gemm_cp_async<.*GemmConfig<[a-zA-Z:]*<${operands}>, float, "
    ARCH ${TENON_ARCHITECTURES}
    EXPECT ${instruction}>=16 F2FP>=32 LDGSTS.E.BYPASS>=8 LDGDEPBAR>=3
    FORBID HMMA.1688 LDL STL MAX_REGISTERS 255 SPILL_FREE)
endforeach()
# f64: an m16n8k16 is one DMMA on 9.0, eight on 8.0. Lanes load 16 bytes where k is contiguous, else 8.
foreach(arch IN LISTS TENON_ARCHITECTURES)
  set(instruction DMMA.884>=64)
  if(arch GREATER_EQUAL 90)
    set(instruction DMMA.16x8x16>=8)
  endif()
  foreach(alignment IN ITEMS "aligned 0" "unaligned 1")
    separate_arguments(alignment)
    list(POP_FRONT alignment label number)
    set(copies LDGSTS.E.BYPASS.128>=8)
    if(number EQUAL 1)
      list(APPEND copies LDGSTS.E.64>=8)
    endif()
    tenon_expect_sass(ARCH ${arch}
      KERNEL "gemm_cp_async<.*GemmConfig<double, double, .*Alignment.${number}," EXPECT ${instruction} ${copies} LDGDEPBAR>=3
      FORBID HMMA LDSM LDL STL MAX_REGISTERS 255 SPILL_FREE)
    tenon_expect_sass(ARCH ${arch}
      KERNEL "gemm_cp_async<.*GemmConfig<double, double, .*Order.0, .*Order.1, .*Alignment.${number}," EXPECT LDS.128>=8 FORBID LDS.64)
  endforeach()
endforeach()
foreach(arch IN LISTS fp8_names)
  set(instruction QMMA.16832.F32)
  if(arch EQUAL 90)
    set(instruction HMMA.16816.F32)
  endif()
  tenon_expect_sass(ARCH ${arch}
    KERNEL "gemm_cp_async<.*GemmConfig<[^_]*e[45]m[23].*, float, " EXPECT ${instruction}>=16 LDSM.16>=8 LDGSTS.E.BYPASS.128>=8
    FORBID LDL STL MAX_REGISTERS 255 SPILL_FREE)
endforeach()

# Batches. The counts of the small kernels are those of a tile of 16 x 32 x 16; A and B of a whole tile come in by one copy a
# thread at least, and C of 16 bits leaves through shared memory (by ST: its address may come from a list).
foreach(types IN ITEMS "f16 __half HMMA.16816.F32 HMMA.16816.F32.BF16" "bf16 __nv_bfloat16 HMMA.16816.F32.BF16")
  separate_arguments(types)
  list(POP_FRONT types label operand hmma)
  foreach(alignment IN ITEMS "small 2" "small_unaligned 1")
    separate_arguments(alignment)
    list(POP_FRONT alignment family number)
    tenon_expect_sass(ARCH ${TENON_ARCHITECTURES}
      KERNEL "gemm_small<.*SmallConfig<${operand}, float, .*Alignment.${number},"
      EXPECT ${hmma}>=4 LDSM.16>=3 LDGSTS.E.BYPASS.128>=3 LDS.128>=2 ST.E.128>=2
      FORBID ${types} HMMA.16816.F16 HMMA.1688 LDL STL MAX_REGISTERS 128 SPILL_FREE)
  endforeach()
  tenon_expect_sass(ARCH ${TENON_ARCHITECTURES}
    KERNEL "gemm_direct<.*DirectConfig<${operand}, " EXPECT ${hmma}>=4 LDG.E.64>=6 ST.E.128>=2
    FORBID ${types} HMMA.16816.F16 HMMA.1688 LDSM LDS LDL STL MAX_REGISTERS 64 SPILL_FREE)
  tenon_expect_sass(ARCH ${TENON_ARCHITECTURES}
    KERNEL "gemm_cp_async_batched<.*GemmConfig<${operand}, float, "
    EXPECT ${hmma}>=64 LDSM.16>=12 LDGSTS.E.BYPASS.128>=8
    FORBID ${types} HMMA.16816.F16 HMMA.1688 LDL STL MAX_REGISTERS 255 SPILL_FREE)
endforeach()

# sass.read disassembles the kernels once, for sass.kernel_report and sass.kernels.
set(machine_code ${CMAKE_CURRENT_LIST_DIR}/machine_code.py)
set(kernels_read ${CMAKE_CURRENT_BINARY_DIR}/kernels_read)

# Compares all kernels of the library and of the module with a committed report of their registers, memory, loops and
# findings. `scripts/kernel_report --help` explains the tolerances and how to update the report. sm_80 and sm_90a only: the
# other architectures are compiled from the same PTX as sm_80. Skipped where another CUDA version compiles than made the report.
set(report_of_cuda 13.0)
set(archs 90a)
if(80 IN_LIST TENON_ARCHITECTURES)
  list(PREPEND archs 80)
endif()
add_test(NAME sass.kernel_report COMMAND "${TENON_PYTHON}" -B "${PROJECT_SOURCE_DIR}/tests/scripts/recorded_with.py"
  ${report_of_cuda} ${CMAKE_CUDA_COMPILER_VERSION} "${TENON_PYTHON}" -B ${machine_code} report ${kernels_read}
  --arch ${archs} --baseline "${CMAKE_CURRENT_LIST_DIR}/kernel_report.json")
set_tests_properties(sass.kernel_report PROPERTIES LABELS L2 FIXTURES_REQUIRED kernels_read SKIP_RETURN_CODE 77)

# The cp.async kernels for architectures that this build leaves out: ptxas compiles the same PTX for them.
set(others ${tenon_proven_architectures})
list(REMOVE_ITEM others ${TENON_ARCHITECTURES})
foreach(arch IN LISTS others)
  foreach(source IN ITEMS cp_async_f16_f32_64x64x64_s5 cp_async_unaligned_f16_f32_128x128x32_s2)
    set(cubin ${CMAKE_CURRENT_BINARY_DIR}/${source}_sm_${arch}.cubin)
    add_test(NAME gemm_ptxas.${source}_sm_${arch} COMMAND ${TENON_PTXAS} -arch=sm_${arch}
      ${CMAKE_BINARY_DIR}/share/tenon/ptx/${source}.ptx -o ${cubin})
    set_tests_properties(gemm_ptxas.${source}_sm_${arch} PROPERTIES LABELS L1 FIXTURES_SETUP ${source}_${arch})
    tenon_add_sass_test(${cubin} NAME sass.${source}_sm_${arch} KERNEL gemm_cp_async
      EXPECT HMMA.16816.F32>=16 LDSM.16>=8 LDGSTS>=4 FORBID HMMA.16816.F16 HMMA.1688 LDL STL SPILL_FREE)
    set_tests_properties(sass.${source}_sm_${arch} PROPERTIES FIXTURES_REQUIRED ${source}_${arch})
  endforeach()
endforeach()

# wgmma: four instructions for a k-tile of 64 and 64 rows; TMA stores C.
foreach(types IN ITEMS "f16_f32 __half F32" "bf16_f32 __nv_bfloat16 F32.BF16")
  separate_arguments(types)
  list(POP_FRONT types label operand suffix)
  set(operands "WgmmaOperands<${operand}, ${operand}, float, ")
  # A tile 32 wide has half as many stores to shared memory.
  tenon_expect_sass(ARCH 90a
    KERNEL "gemm_wgmma[a-z_]*<.*${operands}.*TileShape<128, 32, "
    EXPECT HGMMA.64x32x16.${suffix}>=4 UTMALDG.2D>=2 UTMASTG.2D>=1 STSM.16>=2 SYNCS.PHASECHK>=2
    FORBID HMMA LDSM LDGSTS LDL STL MAX_REGISTERS 255 SPILL_FREE)
  tenon_expect_sass(ARCH 90a
    KERNEL "gemm_wgmma[a-z_]*<(?!.*RowInterleaved)(?!.*FusedEpilogue)(?!.*TileShape<128, 32, ).*${operands}"
    EXPECT HGMMA>=4 UTMALDG.2D>=2 UTMASTG.2D>=1 STSM.16>=4 SYNCS.PHASECHK>=2
    FORBID HMMA LDSM LDGSTS LDL STL MAX_REGISTERS 255 SPILL_FREE)
  # Grouped products: the same instructions, and stores of the rows at the end of a group that TMA must not write.
  tenon_expect_sass(KERNEL "gemm_grouped<.*${operands}" ARCH 90a
    EXPECT HGMMA>=4 UTMALDG.2D.MULTICAST>=2 UTMALDG.2D>=4 UTMASTG.2D>=1 STG.E.128>=2 STSM.16>=4 SYNCS.PHASECHK>=2
    FORBID HMMA LDSM LDGSTS LDL STL MAX_REGISTERS 168 SPILL_FREE)
  tenon_expect_sass(ARCH 90a
    KERNEL "gemm_grouped<.*${operands}.*TileShape<128, 256, " EXPECT HGMMA.64x256x16.${suffix}>=4)
  # Rows of C that belong to a row-interleaved view are not adjacent, so TMA does not store them.
  tenon_expect_sass(KERNEL "gemm_wgmma[a-z_]*<.*RowInterleaved.*${operands}" ARCH 90a
    EXPECT HGMMA>=4 UTMALDG.2D>=2 STG.E.128>=2 SYNCS.PHASECHK>=2
    FORBID HMMA LDSM LDGSTS UTMASTG LDL STL MAX_REGISTERS 255 SPILL_FREE)
  # Unaligned operands: one comes from registers, read by words and shifted. The instructions of a k-tile, and of one step
  # more for the rest of k.
  tenon_expect_sass(KERNEL "gemm_unaligned<.*UnalignedConfig<${operand}, " ARCH 90a
    EXPECT HGMMA.64x256x16.${suffix}>=9 UTMALDG.2D>=2 LDS>=96 PRMT>=32 STG.E.128>=16 SYNCS.PHASECHK>=2
    FORBID HMMA LDSM LDGSTS UTMASTG LDL STL MAX_REGISTERS 255 SPILL_FREE)
  tenon_expect_sass(ARCH 90a
    KERNEL "gemm_wgmma[a-z_]*<.*${operands}.*TileShape<128, 256, " EXPECT HGMMA.64x256x16.${suffix}>=4)
  # Cluster split-K: 64 x 64 accumulators are 32 registers a lane, sent to the peer CTA 4 at a time; 32 wide, half as many.
  tenon_expect_sass(ARCH 90a
    KERNEL "gemm_wgmma[a-z_]*<(?!.*TileShape<128, 32, ).*${operands}.*(ClusterShape<1, 1, |LaunchedCluster<)[24]>" EXPECT STAS.128>=8 LDS.128>=8)
  tenon_expect_sass(ARCH 90a
    KERNEL "gemm_wgmma[a-z_]*<.*${operands}.*TileShape<128, 32, .*LaunchedCluster<[24]>" EXPECT STAS.128>=4 LDS.128>=4)
endforeach()

# The other types: the same loads and stores, another instruction. Integers are stored without stmatrix.
foreach(types IN ITEMS
    "f16_f16 __half __half __half HGMMA.64x256x16.F16 STSM.16>=4"
    "tf32 tf32 tf32 float HGMMA.64x256x8.F32.TF32 STSM.16>=4"
    "e4m3 e4m3 e4m3 float QGMMA.64x256x32.F32.E4M3.E4M3 STSM.16>=4"
    "e4m3_e5m2 e4m3 e5m2 float QGMMA.64x256x32.F32.E4M3.E5M2 STSM.16>=4"
    "e5m2_e4m3 e5m2 e4m3 float QGMMA.64x256x32.F32.E5M2.E4M3 STSM.16>=4"
    "e5m2 e5m2 e5m2 float QGMMA.64x256x32.F32.E5M2.E5M2 STSM.16>=4"
    "s8 char char int IGMMA.64x256x32.S8.S8 STS.64>=8")
  separate_arguments(types)
  list(POP_FRONT types label a b accumulator instruction store)
  set(operands "WgmmaOperands<[a-z: ]*${a}, [a-z: ]*${b}, ${accumulator}, false>")
  if(a STREQUAL b)
    tenon_expect_sass(ARCH 90a KERNEL "gemm_wgmma[a-z_]*<(?!.*(FusedEpilogue|ReduceByModulus|TileShape<128, 32, )).*${operands}"
      EXPECT UTMALDG.2D>=2 UTMASTG.2D>=2 ${store} SYNCS.PHASECHK>=2
      FORBID HMMA IMMA QMMA LDSM LDGSTS LDL STL MAX_REGISTERS 255 SPILL_FREE)
  endif()
  tenon_expect_sass(ARCH 90a
    KERNEL "gemm_wgmma[a-z_]*<.*${operands}.*TileShape<128, 256, " EXPECT ${instruction}>=4)
  # A tile 32 wide is stored by one TMA instruction.
  if(label MATCHES "^(e4m3|s8)$")
    tenon_expect_sass(ARCH 90a
      KERNEL "gemm_wgmma[a-z_]*<.*${operands}.*TileShape<128, 32, " EXPECT UTMALDG.2D>=2 UTMASTG.2D>=1 SYNCS.PHASECHK>=2
      FORBID HMMA IMMA QMMA LDSM LDGSTS LDL STL MAX_REGISTERS 255 SPILL_FREE)
  endif()
endforeach()
# Fused epilogues: accumulators pass through shared memory in f32, and D leaves in rows of 16 bytes a lane. The
# activations take their exponentials and reciprocals from the multi-function unit. Of 16-bit operands TMA stores D where
# only a bias, relu and gelu are asked for.
# All but 128x192, which takes the epilogues alone that TMA serves, have StoreRows.
tenon_expect_sass(ARCH 90a
  KERNEL "gemm_wgmma[a-z_]*<(?!.*TileShape<128, (192|256), ).*FusedEpilogue"
  EXPECT UTMALDG.2D>=2 STS.64>=16 LDS.128>=2 STG.E.128>=1 MUFU.EX2>=8 MUFU.RCP>=8 SYNCS.PHASECHK>=2
  FORBID HMMA LDGSTS LDL STL MAX_REGISTERS 255 SPILL_FREE)
# C comes by TMA and is read by ldmatrix.
tenon_expect_sass(ARCH 90a
  KERNEL "gemm_wgmma[a-z_]*<.*WgmmaOperands<__(half|nv_bfloat16), .*FusedEpilogue"
  EXPECT HGMMA>=4 UTMALDG.2D>=5 UTMASTG.2D>=4 LDSM.16>=8 STSM.16>=20
  FORBID HMMA LDGSTS LDL STL MAX_REGISTERS 255 SPILL_FREE)
# Lanes store the elements of gated pairs to shared memory one by one.
tenon_expect_sass(ARCH 90a
  KERNEL "gemm_wgmma[a-z_]*<.*TileShape<(128, 192|128, 256|64, 128), .*FusedEpilogue" EXPECT STS.U16>=64)
tenon_expect_sass(ARCH ${TENON_ARCHITECTURES}
  KERNEL "gemm_cp_async<.*signed char, int, .*FusedEpilogue"
  EXPECT IMMA.16832.S8.S8>=32 STS.64>=16 LDS.128>=2 STG.E.128>=1 FORBID LDL STL MAX_REGISTERS 255 SPILL_FREE)
tenon_expect_sass(ARCH 90a KERNEL "gemm_wgmma[a-z_]*<.*char, int, .*FusedEpilogue"
  EXPECT IGMMA>=4 I2FP.F32.S32>=16 STS.64>=16 LDS.128>=2 STG.E.128>=1 FORBID LDL STL MAX_REGISTERS 255 SPILL_FREE)
tenon_expect_sass(ARCH ${TENON_ARCHITECTURES}
  KERNEL "gemm_cp_async<(?!.*signed char).*FusedEpilogue"
  EXPECT HMMA.16816.F32>=16 STS.64>=16 LDS.128>=2 STG.E.128>=1 MUFU.EX2>=8
  FORBID LDL STL MAX_REGISTERS 232 SPILL_FREE)
# Slices of f64: accumulators are reduced by bytewise dot products and f32, and 16 residues leave at a time. An element of A or
# B is converted to an integer once; all its residues, and those of the product, become other numbers without conversions.
tenon_expect_sass(ARCH 90a KERNEL "gemm_wgmma[a-z_]*<.*ReduceByModulus"
  EXPECT IGMMA.64x256x32.S8.S8>=4 UTMALDG.2D>=2 UTMALDG.2D.MULTICAST>=1 IDP.4A.U8.U8>=128 FFMA>=256 STG.E.128>=8
  FORBID LDSM LDGSTS LDL STL MAX_REGISTERS 168 SPILL_FREE)
tenon_expect_sass(ARCH 90 KERNEL "tenon_slices_residues"
  EXPECT IDP.4A.S8.S8>=96 FFMA>=128 F2I.S64.F64>=4 FORBID I2F LDL STL MAX_REGISTERS 64 SPILL_FREE)
tenon_expect_sass(ARCH 90 KERNEL "tenon_slices_combine"
  EXPECT DFMA>=192 FORBID I2F LDL STL MAX_REGISTERS 64 SPILL_FREE)
# Promoted accumulators: those of a k-tile are added in f32 while the next k-tile accumulates in other registers.
tenon_expect_sass(ARCH 90a
  KERNEL "gemm_wgmma[a-z_]*<(?!.*BlockScaled).*e[45]m[32], float, true>.*TileShape<128, 128, "
  EXPECT QGMMA.64x128x32.F32>=8 FADD>=128 FORBID LDL STL MAX_REGISTERS 255 SPILL_FREE)
tenon_expect_sass(ARCH 90a
  KERNEL "gemm_wgmma[a-z_]*<.*__nv_bfloat16, float, true>.*TileShape<128, 128, "
  EXPECT HGMMA.64x128x16.F32.BF16>=8 FADD>=128 FORBID LDL STL MAX_REGISTERS 255 SPILL_FREE)
tenon_expect_sass(ARCH 90a
  KERNEL "gemm_wgmma[a-z_]*<.*tf32, float, true>.*TileShape<128, 128, "
  EXPECT HGMMA.64x128x8.F32.TF32>=8 FADD>=128 FORBID LDL STL MAX_REGISTERS 255 SPILL_FREE)
# Block-scaled: TMA loads both operands and their scales, and each accumulator of a k-tile is one FFMA.
tenon_expect_sass(ARCH 90a KERNEL "gemm_wgmma[a-z_]*<.*BlockScaled<"
  EXPECT QGMMA>=8 FFMA>=64 LDS>=6 UTMALDG.2D>=4 SYNCS.PHASECHK>=2 FORBID HMMA LDSM LDGSTS LDL STL MAX_REGISTERS 255 SPILL_FREE)
tenon_expect_sass(ARCH 90a
  KERNEL "gemm_wgmma[a-z_]*<.*BlockScaled<.*TileShape<128, 128, " EXPECT QGMMA.64x128x32.F32.E4M3.E4M3>=8 FFMA>=128)
tenon_expect_sass(ARCH 90a
  KERNEL "gemm_wgmma[a-z_]*<.*BlockScaled<.*TileShape<(128, 192|256, 128), "
  EXPECT QGMMA>=8 FFMA>=128 UTMALDG.2D.MULTICAST>=1 MAX_REGISTERS 168 SPILL_FREE)
tenon_expect_sass(ARCH 90a KERNEL "gemm_grouped<.*BlockScaled<.*TileShape<256, 128, "
  EXPECT QGMMA.64x128x32.F32.E4M3.E4M3>=8 FFMA>=128 LDS>=6 UTMALDG.2D.MULTICAST>=2 UTMALDG.2D>=4 UTMASTG.2D>=1 STG.E.128>=2
  SYNCS.PHASECHK>=2 FORBID HMMA LDSM LDGSTS LDL STL MAX_REGISTERS 168 SPILL_FREE)

get_property(expectations DIRECTORY PROPERTY sass_expectations)
string(REGEX REPLACE "^,\n" "" expectations "${expectations}")
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/sass_expectations.json "[\n${expectations}\n]\n")
get_target_property(module_cubins tenon_module_cubins TENON_CUBINS)
add_test(NAME sass.read COMMAND "${TENON_PYTHON}" -B ${machine_code} read ${kernels_read}
  $<TARGET_FILE:tenon_library> ${module_cubins} --arch ${archs}
  --expectations ${CMAKE_CURRENT_BINARY_DIR}/sass_expectations.json)
add_test(NAME sass.kernels COMMAND "${TENON_PYTHON}" -B ${machine_code} check ${kernels_read}
  --expectations ${CMAKE_CURRENT_BINARY_DIR}/sass_expectations.json)
set_tests_properties(sass.read PROPERTIES LABELS L2 FIXTURES_SETUP kernels_read COST 100)
set_tests_properties(sass.kernels PROPERTIES LABELS L2 FIXTURES_REQUIRED kernels_read)
