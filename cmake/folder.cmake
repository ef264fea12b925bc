# One call a folder: every source in it becomes the library tritonsmith_<name>, every *_test.cc goes into the
# program <name>_test. Files are found by pattern, so adding one needs no edit here.
#
#   tritonsmith_folder(<name> [TORCH] [DEPENDS other names] [LINK outside libraries])
#
# TORCH folders get LibTorch's headers and the shared precompiled header; the others build without torch.
# *_gpu_test.cc goes into <name>_gpu_test, which carries the ctest label gpu.
function(tritonsmith_folder name)
  cmake_parse_arguments(arg "TORCH" "" "DEPENDS;LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "*.cc" "testing/*.cc")
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  set(gpu_tests ${tests})
  list(FILTER gpu_tests INCLUDE REGEX "_gpu_test\\.cc$")
  list(FILTER tests EXCLUDE REGEX "_gpu_test\\.cc$")

  set(target tritonsmith_${name})
  list(TRANSFORM arg_DEPENDS PREPEND tritonsmith_)
  if(sources)
    add_library(${target} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_link_libraries(${target} ${scope} tritonsmith_flags ${arg_DEPENDS} ${arg_LINK})
  if(arg_TORCH)
    target_link_libraries(${target} ${scope} tritonsmith_torch)
    if(sources)
      target_precompile_headers(${target} REUSE_FROM tritonsmith_torch_pch)
    endif()
  endif()
  if(tests)
    tritonsmith_test(${name}_test SOURCES ${tests} LINK ${target} $<$<BOOL:${arg_TORCH}>:tritonsmith_torch>)
  endif()
  if(gpu_tests)
    tritonsmith_test(${name}_gpu_test SOURCES ${gpu_tests} LINK ${target} $<$<BOOL:${arg_TORCH}>:tritonsmith_torch>
      LABEL gpu)
  endif()
  foreach(program ${name}_test ${name}_gpu_test)
    if(arg_TORCH AND TARGET ${program})
      target_precompile_headers(${program} REUSE_FROM tritonsmith_torch_pch)
      # The precompiled header was made with -fPIC; CMake would compile a program with -fPIE and refuse it.
      set_target_properties(${program} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_compile_options(${program} PRIVATE -fPIC)
    endif()
  endforeach()
endfunction()

# A GoogleTest program that ctest runs as one entry (starting LibTorch for each single test would cost minutes).
function(tritonsmith_test name)
  cmake_parse_arguments(arg "" "LABEL" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK} rapidcheck GTest::gmock GTest::gtest GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600
    ENVIRONMENT "TRITONSMITH_BINARY=${CMAKE_BINARY_DIR}/tritonsmith")
  if(arg_LABEL)
    set_tests_properties(${name} PROPERTIES LABELS ${arg_LABEL} SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]")
  endif()
endfunction()
