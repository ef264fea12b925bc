# CUDA is never linked: the driver and NVRTC are loaded at run time, where there are any. Only the driver's header
# is needed to build, and Triton's wheel brings it; NVRTC comes with torch's wheel, and a test compiles with it.
execute_process(
  COMMAND ${TRITONSMITH_PYTHON} -c "import importlib.util as u, os; print(os.path.dirname(u.find_spec('triton').origin))"
  OUTPUT_VARIABLE TRITON_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${TRITONSMITH_PYTHON} has no triton; run tools/setup and pass what it prints as -DTRITONSMITH_PYTHON=")
endif()
set(TRITONSMITH_CUDA_INCLUDE ${TRITON_ROOT}/backends/nvidia/include)
file(GLOB TRITONSMITH_NVRTC ${TRITON_ROOT}/../nvidia/*/lib/libnvrtc.so.*)
list(FILTER TRITONSMITH_NVRTC EXCLUDE REGEX "alt")
list(APPEND TRITONSMITH_NVRTC "")
list(GET TRITONSMITH_NVRTC 0 TRITONSMITH_NVRTC)
