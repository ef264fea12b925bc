# LibTorch from the wheel of the pinned Python environment, linked directly: the wheel's own
# find_package(Torch) demands a whole CUDA toolkit. libtorch_cuda is not linked but loaded when a GPU is
# there (src/base has no part in it: src/model/memory/device.h), so the same program runs on machines without one.
execute_process(
  COMMAND ${TRITONSMITH_PYTHON} -c "import importlib.util as u, os; print(os.path.dirname(u.find_spec('torch').origin))"
  OUTPUT_VARIABLE TORCH_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${TRITONSMITH_PYTHON} has no torch; run tools/setup and pass what it prints as -DTRITONSMITH_PYTHON=")
endif()

# The wheel's headers bring another fmt than the library that we link: ours must be found before it. (Using the wheel's
# header-only instead costs every file that formats anything 2.4 s of compilation.)
get_target_property(fmt_folder fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/fmt_first)
file(CREATE_LINK ${fmt_folder}/fmt ${CMAKE_BINARY_DIR}/fmt_first/fmt SYMBOLIC)

add_library(tritonsmith_torch INTERFACE)
target_include_directories(tritonsmith_torch SYSTEM INTERFACE
  ${CMAKE_BINARY_DIR}/fmt_first ${TORCH_ROOT}/include ${TORCH_ROOT}/include/torch/csrc/api/include)
target_link_directories(tritonsmith_torch INTERFACE ${TORCH_ROOT}/lib)
target_link_libraries(tritonsmith_torch INTERFACE torch_cpu c10)
# --disable-new-dtags: libraries that torch itself loads are then found by our path as well.
target_link_options(tritonsmith_torch INTERFACE
  "LINKER:--disable-new-dtags,-rpath,${TORCH_ROOT}/lib")
