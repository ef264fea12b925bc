# LibTorch from the wheel of the pinned Python environment, linked directly: the wheel's own
# find_package(Torch) demands a whole CUDA toolkit. libtorch_cuda is not linked but loaded when a GPU is
# there (src/base has no part in it: src/model/device.h), so the same program runs on machines without one.
execute_process(
  COMMAND ${TRITONSMITH_PYTHON} -c "import importlib.util as u, os; print(os.path.dirname(u.find_spec('torch').origin))"
  OUTPUT_VARIABLE TORCH_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${TRITONSMITH_PYTHON} has no torch; run tools/setup and pass what it prints as -DTRITONSMITH_PYTHON=")
endif()

add_library(tritonsmith_torch INTERFACE)
target_include_directories(tritonsmith_torch SYSTEM INTERFACE
  ${TORCH_ROOT}/include ${TORCH_ROOT}/include/torch/csrc/api/include)
# The wheel's headers bring a newer fmt than Debian's library; with torch it is used header-only.
target_compile_definitions(tritonsmith_torch INTERFACE FMT_HEADER_ONLY=1)
target_link_directories(tritonsmith_torch INTERFACE ${TORCH_ROOT}/lib)
target_link_libraries(tritonsmith_torch INTERFACE torch_cpu c10)
# --disable-new-dtags: libraries that torch itself loads are then found by our path as well.
target_link_options(tritonsmith_torch INTERFACE
  "LINKER:--disable-new-dtags,-rpath,${TORCH_ROOT}/lib")

add_library(tritonsmith_torch_pch STATIC ${CMAKE_CURRENT_LIST_DIR}/torch_pch.cc)
target_link_libraries(tritonsmith_torch_pch PUBLIC tritonsmith_flags tritonsmith_torch)
target_precompile_headers(tritonsmith_torch_pch PRIVATE <ATen/ATen.h> <torch/csrc/autograd/custom_function.h>)
