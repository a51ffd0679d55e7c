# A project with tenon below it that uses the headers alone: nothing of the library is built or installed with it. Then without
# CUDA, without Python, and with an nvcc that is too old; and by FetchContent, and with a copied folder of headers.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${WORK})
set(options -G ${GENERATOR} -DCMAKE_BUILD_TYPE=None)
run(${CMAKE_COMMAND} -S ${PARENT} -B ${WORK}/build ${options} -DTENON=${TENON})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${CMAKE_COMMAND} --install ${WORK}/build --prefix ${WORK}/prefix)
file(GLOB_RECURSE installed RELATIVE ${WORK}/prefix ${WORK}/prefix/*)
if(NOT installed STREQUAL "bin/parent")
  message(FATAL_ERROR "installed with the project: ${installed}")
endif()
file(GLOB_RECURSE built ${WORK}/build/tenon/*.o ${WORK}/build/tenon/*.a)
if(built)
  message(FATAL_ERROR "built with the project: ${built}")
endif()
run(${WORK}/prefix/bin/parent)

# A copy without .tools, whose Python is not there either.
set(copy ${WORK}/copy)
file(COPY ${TENON}/CMakeLists.txt ${TENON}/LICENSE ${TENON}/include ${TENON}/src ${TENON}/scripts ${TENON}/ptx DESTINATION ${copy})
# without(<name> <sentence>): configures, builds and runs the project on that machine. CMake says the sentence.
function(without name sentence)
  machine(${WORK}/${name} ${ARGN})
  run(${on_machine} -S ${PARENT} -B ${WORK}/build_${name} ${of_machine} -DTENON=${copy} -DCOMPILED=ON)
  string(REGEX REPLACE "[ \n]+" " " said "${output}")
  if(NOT said MATCHES "tenon::tenon, the library, is not: ${sentence}")
    message(FATAL_ERROR "CMake does not say '${sentence}':\n${output}")
  endif()
  if(said MATCHES "CUDA compiler identification")
    message(FATAL_ERROR "CUDA is enabled:\n${output}")
  endif()
  run(${on_machine} --build ${WORK}/build_${name} --target parent)
  run(${WORK}/build_${name}/parent)
endfunction()
# nvcc(<name> <text>): a program in place of that machine's nvcc.
function(nvcc name text)
  file(WRITE ${WORK}/${name}/nvcc "#!/bin/sh\n${text}\n")
  file(CHMOD ${WORK}/${name}/nvcc PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endfunction()
nvcc(no_python "echo 'Cuda compilation tools, release 13.0, V13.0.88'")
nvcc(old "echo 'Cuda compilation tools, release 12.4, V12.4.99'")
nvcc(new_compiler "[ \"$1\" = --version ] && echo 'Cuda compilation tools, release 13.0, V13.0.88' && exit
echo '#error -- unsupported GNU version! gcc versions later than 3 are not supported! The nvcc flag is another matter' >&2
exit 1")
without(bare "there is no nvcc, but it needs the nvcc of CUDA 13\\.0 or newer: \\./scripts/setup")
without(no_python "there is no python3")
without(old "[^ ]*/old/nvcc is of CUDA 12\\.4, but it needs the nvcc of CUDA 13\\.0 or newer: name one in CMAKE_CUDA_COMPILER, or \\./scripts/setup" python3)
without(new_compiler "nvcc of CUDA 13\\.0 refuses its host compiler g\\+\\+ [0-9.]+ \\(unsupported GNU version! gcc versions later than 3 are not supported!\\): name another in CMAKE_CUDA_HOST_COMPILER, or \\./scripts/setup"
  python3)
# Where the library was asked for, the same sentence ends the configuration.
execute_process(COMMAND ${CMAKE_COMMAND} -E env PATH=${WORK}/old ${CMAKE_COMMAND} -S ${copy} -B ${WORK}/refused -G ${GENERATOR}
  -DTENON_BUILD_TESTS=OFF -DTENON_BUILD_BENCHMARKS=OFF RESULT_VARIABLE result ERROR_VARIABLE output OUTPUT_QUIET)
string(REGEX REPLACE "[ \n]+" " " output "${output}")
if(result EQUAL 0 OR NOT output MATCHES "the library of tenon cannot be built here: [^ ]*/old/nvcc is of CUDA 12\\.4, but it needs")
  message(FATAL_ERROR "an old nvcc is not refused with its sentence (${result}):\n${output}")
endif()

# By FetchContent, and the headers alone.
run(${CMAKE_COMMAND} -S ${PARENT} -B ${WORK}/fetched ${options} -DTENON=${copy} -DFETCH=ON)
run(${CMAKE_COMMAND} --build ${WORK}/fetched)
run(${WORK}/fetched/parent)
file(COPY ${TENON}/include/tenon DESTINATION ${WORK}/headers)
run(c++ -std=c++17 -I${WORK}/headers ${PARENT}/parent.cpp -o ${WORK}/by_hand)
run(${WORK}/by_hand)
run(${NVCC} -std=c++17 -arch=sm_80 -I${WORK}/headers -c ${PARENT}/../../examples/embed_sm80.cu -o ${WORK}/embed_sm80.o)
