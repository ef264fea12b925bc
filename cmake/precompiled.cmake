# Precompiled headers: most of a file's compilation was reading the same few headers again. Four kinds: plain, torch,
# and for the tests of folders of either kind plain_test and torch_test. Only headers from outside, and no more of
# LibTorch than most files use: every file pays for what is in them (the templates that a header has left to
# instantiate are instantiated in each file), 2 s for all of torch/csrc/autograd/custom_function.h alone.
# Sources still include what they use: `make lint-all` reads each by itself without any of this.
set(precompiled_plain <nlohmann/json.hpp> <fmt/format.h> <tl/expected.hpp> <algorithm> <chrono> <filesystem> <functional>
  <map> <memory> <optional> <string> <string_view> <variant> <vector>)
set(precompiled_torch <ATen/ATen.h> <ATen/core/grad_mode.h> ${precompiled_plain})
set(precompiled_tests <gmock/gmock.h> <gtest/gtest.h>)
# A test's own code runs once, and compiles in a quarter less time with -Og (service_test). A header precompiled so serves
# only sources compiled so.
set(tritonsmith_test_optimization "")
if(NOT TRITONSMITH_SANITIZE)
  set(tritonsmith_test_optimization -Og)
endif()

function(tritonsmith_precompiled target kind)
  set(from tritonsmith_precompiled_${kind})
  if(NOT TARGET ${from})
    set(source ${CMAKE_SOURCE_DIR}/cmake/precompiled.cc)
    add_library(${from} STATIC ${source})
    string(REGEX REPLACE "_test$" "" base ${kind})
    set(headers ${precompiled_${base}})
    target_link_libraries(${from} PUBLIC tritonsmith_flags)
    if("${base}" STREQUAL "torch")
      target_link_libraries(${from} PUBLIC tritonsmith_torch)
    endif()
    if(NOT "${base}" STREQUAL "${kind}")
      target_link_libraries(${from} PUBLIC GTest::gmock GTest::gtest)
      list(APPEND headers ${precompiled_tests})
      target_compile_options(${from} PRIVATE ${tritonsmith_test_optimization})
    endif()
    target_precompile_headers(${from} PRIVATE ${headers})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${from})
  # It was made with -fPIC; CMake would compile a program with -fPIE and refuse it.
  get_target_property(type ${target} TYPE)
  if("${type}" STREQUAL "EXECUTABLE")
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
endfunction()

# GCC 12 takes a std::string's own small buffer for all it has (its bug 105651), in a few files, once the header comes
# precompiled.
function(tritonsmith_without_bounds_warnings)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "-Wno-array-bounds;-Wno-stringop-overread")
endfunction()
