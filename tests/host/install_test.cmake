# Installs tenon into an empty folder, moves it, then configures, builds and runs projects that know only that folder.
# SCRIPTS, if the command line is built: where in it the scripts lie.
include(${CMAKE_CURRENT_LIST_DIR}/installed.cmake)

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD}/src --prefix ${WORK}/installed)
file(RENAME ${WORK}/installed ${WORK}/prefix)

set(modules "")
if(SCRIPTS)
  set(modules -DCMAKE_MODULE_PATH=${WORK}/prefix/${SCRIPTS}/cmake)
endif()
string(TIMESTAMP started %s)
consume(consumer_headers -DEXAMPLES=${CONSUMERS}/../examples -DCMAKE_CUDA_COMPILER=${NVCC} ${modules})
string(TIMESTAMP ended %s)
math(EXPR seconds "${ended} - ${started}")
message(STATUS "two kernels are embedded in ${seconds} s")
if(seconds GREATER 60)
  message(FATAL_ERROR "a project that embeds two kernels from the headers takes ${seconds} s but must take 60 at most")
endif()
consume(consumer ${modules})
consume(consumer_c)
consume(consumer_emulator)
consume(consumer_emulator_gtest)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${CONSUMERS}/consumer -B ${WORK}/unknown -G ${GENERATOR}
  -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCOMPONENT=kernels RESULT_VARIABLE result ERROR_VARIABLE output OUTPUT_QUIET)
string(REGEX REPLACE "[ \n]+" " " output "${output}")
if(result EQUAL 0 OR NOT output MATCHES "tenon has no component 'kernels': it has headers, layouts, emulator and library")
  message(FATAL_ERROR "an unknown component is not refused with its sentence (${result}):\n${output}")
endif()

without_cmake(" -L\\\${cuda_libdir} -lcudart_static -lstdc\\+\\+ -lm -lpthread -ldl -lrt")

# Without CUDA, and without Python.
machine(${WORK}/bare)
consume(consumer_layouts)
consume(consumer_emulator)

if(SCRIPTS)
  # Each script has what it imports, and a compiler's note fails an installed ptxas_notes too.
  file(GLOB scripts ${WORK}/prefix/${SCRIPTS}/*)
  list(FILTER scripts EXCLUDE REGEX "/(cmake|tenon_sass)$")
  foreach(script IN LISTS scripts)
    run(${script} --help)
  endforeach()
  execute_process(COMMAND ${WORK}/prefix/${SCRIPTS}/ptxas_notes -- sh -c "echo Potential Performance Loss >&2" RESULT_VARIABLE result
    ERROR_VARIABLE output)
  if(NOT result EQUAL 1 OR NOT output MATCHES "ptxas made 1 note about lost performance")
    message(FATAL_ERROR "the installed ptxas_notes lets a note pass (${result}):\n${output}")
  endif()
  # The moved program finds its PTX, and knows nothing of the folder of the build.
  run(${WORK}/prefix/bin/tenon gemm --m 16 --n 16 --k 16 --device emulator --check)
  file(STRINGS ${WORK}/prefix/bin/tenon paths REGEX "${BUILD}")
  if(paths)
    message(FATAL_ERROR "the installed program names the folder of the build: ${paths}")
  endif()
endif()
