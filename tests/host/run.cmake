# run(<command> <argument>...): ends the test with what the command printed if it fails. Leaves it in `output`.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed (${result}): ${ARGN}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# machine(<folder> <program>...): a folder for PATH that has these programs and no others, but those that compile C and C++. Sets
# `on_machine` to what calls CMake there, and `of_machine` to its options for a configuration.
function(machine folder)
  file(MAKE_DIRECTORY ${folder})
  foreach(program IN ITEMS c++ g++ cc as ld ar ranlib uname ninja make ${ARGN})
    find_program(found ${program} NO_CACHE)
    if(found)
      file(CREATE_LINK ${found} ${folder}/${program} SYMBOLIC)
    endif()
    unset(found)
  endforeach()
  set(on_machine ${CMAKE_COMMAND} -E env --unset=CUDACXX --unset=CUDA_PATH --unset=CUDAToolkit_ROOT PATH=${folder} ${CMAKE_COMMAND}
    PARENT_SCOPE)
  # No build type: host code is not optimised.
  set(of_machine -G ${GENERATOR} -DCMAKE_BUILD_TYPE=None -DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF -DCMAKE_CXX_COMPILER=${folder}/c++ -DCMAKE_C_COMPILER=${folder}/cc
    PARENT_SCOPE)
endfunction()
