# Makes ptxas's notes about lost performance errors. Usable from any project:
#
#   list(APPEND CMAKE_MODULE_PATH <tenon>/scripts/cmake)
#   include(TenonPtxas)
#   tenon_forbid_ptxas_notes(my_kernels)
#
# An installed copy is in <prefix>/share/tenon/scripts/cmake; use that folder instead of <tenon>/scripts/cmake.
include_guard(GLOBAL)
include(TenonSass)  # TENON_PYTHON, TENON_SCRIPTS

# tenon_forbid_ptxas_notes(<target>...): compiling the sources of these targets fails if ptxas serialises wgmma, injects
# waits for it, or ignores setmaxnreg. Works with the Ninja and Makefile generators.
function(tenon_forbid_ptxas_notes)
  foreach(target IN LISTS ARGN)
    if(NOT TARGET "${target}")
      message(FATAL_ERROR "tenon_forbid_ptxas_notes: '${target}' must be a target defined so far")
    endif()
    set_target_properties(${target} PROPERTIES
      RULE_LAUNCH_COMPILE "\"${TENON_PYTHON}\" \"${TENON_SCRIPTS}/ptxas_notes\" --")
  endforeach()
endfunction()
