# Tests in ctest of the machine code of a target's CUDA kernels. Usable from any project:
#
#   list(APPEND CMAKE_MODULE_PATH <tenon>/scripts/cmake)
#   include(TenonSass)
#   tenon_add_sass_test(my_kernels KERNEL "fused_.*" ARCH 80 90a
#                       EXPECT HMMA.16816.F32>=64 LDSM FORBID LDL STL MAX_REGISTERS 168 SPILL_FREE)
#
# An installed copy is in <prefix>/share/tenon/scripts/cmake; use that folder instead of <tenon>/scripts/cmake.
include_guard(GLOBAL)

get_filename_component(_tenon_scripts "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
set(TENON_SCRIPTS "${_tenon_scripts}" CACHE INTERNAL "Folder of tenon's scripts")

# The Python of the private folder (it has the packages that the tests import), else the system's. The result of an earlier
# configuration is out of date once set-up has made the folder, or once that Python is gone.
get_filename_component(_tenon_private_bin "${TENON_SCRIPTS}/../.tools/venv/bin" ABSOLUTE)
if(EXISTS "${_tenon_private_bin}/python3" OR NOT EXISTS "${TENON_PYTHON}")
  unset(TENON_PYTHON CACHE)
endif()
find_program(TENON_PYTHON NAMES python3 PATHS "${_tenon_private_bin}" NO_DEFAULT_PATH)
find_program(TENON_PYTHON NAMES python3 REQUIRED)
mark_as_advanced(TENON_PYTHON)

# tenon_add_sass_test(<target or file> KERNEL <regex> [NAME <test>] [ARCH <80|90a>...] [EXPECT <opcode[>=n]>...]
#                     [FORBID <opcode>...] [MAX_REGISTERS <n>] [SPILL_FREE])
#
# Adds a ctest test, labelled L2, for an object, static, shared or executable target, or for the absolute path of a
# cubin. Every kernel whose mangled or demangled name matches must satisfy every requirement. The test fails if there is
# no such kernel for an architecture of ARCH, or no disassembler on the machine.
function(tenon_add_sass_test subject)
  cmake_parse_arguments(arg "SPILL_FREE" "NAME;KERNEL;MAX_REGISTERS" "ARCH;EXPECT;FORBID" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tenon_add_sass_test(${subject}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_KERNEL)
    message(FATAL_ERROR "tenon_add_sass_test(${subject}): KERNEL <regex> is missing")
  endif()
  if(NOT (arg_EXPECT OR arg_FORBID OR arg_MAX_REGISTERS OR arg_SPILL_FREE))
    message(FATAL_ERROR "tenon_add_sass_test(${subject}): nothing to check: give EXPECT, FORBID, MAX_REGISTERS or SPILL_FREE")
  endif()
  if(TARGET ${subject})
    get_target_property(type ${subject} TYPE)
    if(type STREQUAL "OBJECT_LIBRARY")
      set(files "$<TARGET_OBJECTS:${subject}>")
    elseif(type MATCHES "^(STATIC_LIBRARY|SHARED_LIBRARY|MODULE_LIBRARY|EXECUTABLE)$")
      set(files "$<TARGET_FILE:${subject}>")
    else()
      message(FATAL_ERROR "tenon_add_sass_test(${subject}): is of type ${type}, which has no machine code")
    endif()
  elseif(IS_ABSOLUTE "${subject}")
    set(files "${subject}")
  else()
    message(FATAL_ERROR "tenon_add_sass_test(${subject}): neither a target defined so far nor an absolute path")
  endif()
  if(NOT arg_NAME)
    get_filename_component(base "${subject}" NAME)
    string(REGEX REPLACE "[^A-Za-z0-9_]+" "_" kernel "${arg_KERNEL}")
    set(arg_NAME "sass.${base}.${kernel}")
  endif()

  set(command "${TENON_PYTHON}" "${TENON_SCRIPTS}/sass_check" ${files} --kernel "${arg_KERNEL}")
  foreach(list IN ITEMS ARCH EXPECT FORBID)
    if(arg_${list})
      string(TOLOWER ${list} option)
      list(APPEND command --${option} ${arg_${list}})
    endif()
  endforeach()
  if(arg_MAX_REGISTERS)
    list(APPEND command --max-registers ${arg_MAX_REGISTERS})
  endif()
  if(arg_SPILL_FREE)
    list(APPEND command --spill-free)
  endif()
  add_test(NAME "${arg_NAME}" COMMAND ${command} COMMAND_EXPAND_LISTS)
  set_tests_properties("${arg_NAME}" PROPERTIES LABELS L2)
endfunction()

# tenon_add_kernel_resources(<library> FROM <target>...), for tenon's own build
#
# Compiles into <library> the table of gemm/kernel_resources.hpp: the registers and memory of each kernel of the targets. A
# target is an object library, or a custom target that makes the cubins named in its property TENON_CUBINS.
function(tenon_add_kernel_resources library)
  cmake_parse_arguments(arg "" "" "FROM" ${ARGN})
  set(files "")
  foreach(target IN LISTS arg_FROM)
    if(NOT TARGET "${target}")
      message(FATAL_ERROR "tenon_add_kernel_resources(${library}): FROM '${target}' must name a target defined so far")
    endif()
    get_target_property(type ${target} TYPE)
    get_target_property(cubins ${target} TENON_CUBINS)
    if(type STREQUAL "OBJECT_LIBRARY")
      list(APPEND files "$<TARGET_OBJECTS:${target}>")
      # By default nvcc 13 gives the host stub of a template kernel internal linkage; the table must refer to it.
      target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-static-global-template-stub=false>)
    elseif(cubins)
      list(APPEND files ${cubins})
      add_dependencies(${library} ${target})
    else()
      message(FATAL_ERROR "tenon_add_kernel_resources(${library}): ${target} is of type ${type} and has no property "
        "TENON_CUBINS: FROM takes object libraries and targets that make cubins")
    endif()
  endforeach()
  if(NOT files)
    message(FATAL_ERROR "tenon_add_kernel_resources(${library}): FROM <target>... is missing")
  endif()
  set(table "${CMAKE_CURRENT_BINARY_DIR}/${library}_kernel_resources.cpp")
  add_custom_command(
    OUTPUT "${table}"
    COMMAND "${TENON_PYTHON}" "${TENON_SCRIPTS}/kernel_report" ${files} --cpp "${table}"
    DEPENDS ${files} "${TENON_SCRIPTS}/tenon_sass/resources.py"
    COMMENT "Reading registers and memory of the kernels for ${library}"
    COMMAND_EXPAND_LISTS VERBATIM)
  target_sources(${library} PRIVATE "${table}")
  target_include_directories(${library} PRIVATE "${TENON_SCRIPTS}/../src")
endfunction()
