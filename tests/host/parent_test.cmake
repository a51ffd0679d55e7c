# A project with tenon below it that uses the headers alone: nothing of the library is built or installed with it. Then without
# CUDA, without Python, and with an nvcc that is too old; and by FetchContent, and with a copied folder of headers. At the end
# tenon is installed from a machine without CUDA, and used there.
include(${CMAKE_CURRENT_LIST_DIR}/installed.cmake)

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
# without(<name> <sentence>): configures, builds and runs the project on that machine. CMake says the sentence. What a
# machine before built by the same commands of Ninja is not built again.
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
  set(commands "")
  file(GLOB files ${WORK}/build_${name}/build.ninja ${WORK}/build_${name}/CMakeFiles/rules.ninja)
  foreach(file IN LISTS files)
    file(READ ${file} text)
    string(REPLACE ${WORK}/build_${name} <build> text "${text}")
    string(REPLACE ${WORK}/${name}/ <machine>/ text "${text}")
    string(APPEND commands "${text}")
  endforeach()
  string(SHA256 commands "${commands}")
  if(files AND commands STREQUAL built)
    return()
  endif()
  run(${on_machine} --build ${WORK}/build_${name} --target parent)
  run(${WORK}/build_${name}/parent)
  set(built ${commands} PARENT_SCOPE)
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
if(result EQUAL 0 OR NOT output MATCHES "the library of tenon cannot be built here: [^ ]*/old/nvcc is of CUDA 12\\.4, but it needs.*; headers, layouts and emulator can, with TENON_BUILD_TESTS")
  message(FATAL_ERROR "an old nvcc is not refused with its sentence (${result}):\n${output}")
endif()

# By FetchContent, and the headers alone.
run(${CMAKE_COMMAND} -S ${PARENT} -B ${WORK}/fetched ${options} -DTENON=${copy} -DFETCH=ON)
run(${CMAKE_COMMAND} --build ${WORK}/fetched)
run(${WORK}/fetched/parent)
file(COPY ${TENON}/include/tenon DESTINATION ${WORK}/headers)
run(c++ -std=c++17 -I${WORK}/headers ${PARENT}/parent.cpp -o ${WORK}/by_hand)
run(${WORK}/by_hand)
run(${NVCC} -std=c++17 -arch=sm_80 --Ofast-compile=max -I${WORK}/headers -c ${PARENT}/../../examples/embed_sm80.cu
  -o ${WORK}/embed_sm80.o)

# Without CUDA headers, layouts and emulator are built and installed. The emulator takes minutes to compile: EMULATOR, of this build,
# stands in its place.
machine(${WORK}/bare)
run(${on_machine} -S ${copy} -B ${WORK}/without_library ${of_machine} -DTENON_BUILD_TESTS=OFF -DTENON_BUILD_BENCHMARKS=OFF
  -DTENON_BUILD_COMMAND=OFF)
run(${on_machine} --build ${WORK}/without_library --target tenon_layouts)
file(COPY ${EMULATOR} DESTINATION ${WORK}/without_library/src/emulator)
file(REMOVE_RECURSE ${WORK}/prefix)
run(${on_machine} --install ${WORK}/without_library --prefix ${WORK}/installed)
file(RENAME ${WORK}/installed ${WORK}/prefix)
file(GLOB licence ${WORK}/prefix/share/licenses/tenon/LICENSE)
file(GLOB_RECURSE of_library ${WORK}/prefix/tenon.pc ${WORK}/prefix/tenonLibraryTargets*.cmake ${WORK}/prefix/libtenon.*)
if(NOT licence OR of_library)
  message(FATAL_ERROR "the installation must have the licence, but nothing of the library: ${licence} ${of_library}")
endif()
consume(consumer_layouts)
consume(consumer_emulator)
# Who asks for the library is told why there is none.
execute_process(COMMAND ${on_machine} -S ${CONSUMERS}/consumer -B ${WORK}/no_library ${of_machine} -DCMAKE_PREFIX_PATH=${WORK}/prefix
  -DCOMPONENT=library RESULT_VARIABLE result ERROR_VARIABLE output OUTPUT_QUIET)
string(REGEX REPLACE "[ \n]+" " " output "${output}")
if(result EQUAL 0 OR NOT output MATCHES "this copy of tenon has headers, layouts and emulator, but not the library, which the machine that made it could not build: there is no nvcc, but it needs the nvcc of CUDA 13\\.0")
  message(FATAL_ERROR "a missing library is not refused with its sentence (${result}):\n${output}")
endif()
# Who can do without it finds the rest.
file(WRITE ${WORK}/rest/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(rest LANGUAGES CXX)
find_package(tenon REQUIRED COMPONENTS headers OPTIONAL_COMPONENTS library)
find_package(tenon REQUIRED)
if(TARGET tenon::tenon OR NOT TARGET tenon::emulator)
  message(FATAL_ERROR \"tenon has the library or lacks the emulator\")
endif()
")
run(${on_machine} -S ${WORK}/rest -B ${WORK}/rest/build ${of_machine} -DCMAKE_PREFIX_PATH=${WORK}/prefix)
