# ptxas must take PTX for sm_ARCH without a warning and without a spill, in at most 255 registers. Writes CUBIN.
execute_process(COMMAND ${PTXAS} -arch=sm_${ARCH} -v --warning-as-error ${PTX} -o ${CUBIN}
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "ptxas -arch=sm_${ARCH} fails (${status}):\n${output}")
endif()
if(NOT output MATCHES "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads")
  message(FATAL_ERROR "ptxas -arch=sm_${ARCH} spills:\n${output}")
endif()
if(NOT output MATCHES "Used ([0-9]+) registers" OR CMAKE_MATCH_1 GREATER 255)
  message(FATAL_ERROR "ptxas -arch=sm_${ARCH} needs too many registers, or does not say how many:\n${output}")
endif()
message("sm_${ARCH}: ${CMAKE_MATCH_1} registers, no spill")
