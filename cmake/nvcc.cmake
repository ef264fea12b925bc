# Our own CUDA kernels (src/model/cuda), where an nvcc of the pinned LibTorch's CUDA major version is; elsewhere the
# build is complete without them. nvcc is run as a plain command: the sources include no LibTorch, the runtime is
# linked statically, and nothing of it is touched before a driver has answered, so the program starts anywhere.
set(TRITONSMITH_CUDA "auto" CACHE STRING "Own CUDA kernels: auto, on or off")
set(TRITONSMITH_CUDA_ARCHITECTURE "sm_90" CACHE STRING "The GPU they are compiled for")
set(TRITONSMITH_HAS_NVCC OFF)
if(NOT TRITONSMITH_CUDA STREQUAL "off")
  find_program(TRITONSMITH_NVCC nvcc HINTS /usr/local/cuda/bin ENV CUDA_HOME PATH_SUFFIXES bin)
  if(TRITONSMITH_NVCC)
    execute_process(COMMAND ${TRITONSMITH_NVCC} --version OUTPUT_VARIABLE nvcc_version)
    execute_process(COMMAND ${TRITONSMITH_PYTHON} -c "import torch.version as v; print(v.cuda or '')"
      OUTPUT_VARIABLE torch_cuda OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(REGEX MATCH "release ([0-9]+)" ignored "${nvcc_version}")
    set(nvcc_major ${CMAKE_MATCH_1})
    if(torch_cuda MATCHES "^${nvcc_major}\\.")
      set(TRITONSMITH_HAS_NVCC ON)
    else()
      message(STATUS "nvcc of CUDA ${nvcc_major} does not fit LibTorch's CUDA '${torch_cuda}'")
    endif()
  endif()
  if(TRITONSMITH_CUDA STREQUAL "on" AND NOT TRITONSMITH_HAS_NVCC)
    message(FATAL_ERROR "TRITONSMITH_CUDA=on, but no nvcc fits; set TRITONSMITH_NVCC to one of CUDA ${torch_cuda}")
  endif()
endif()
message(STATUS "Own CUDA kernels: ${TRITONSMITH_HAS_NVCC}")

# Compiles .cu files into objects and gives their names back.
function(tritonsmith_cuda_objects result)
  set(objects)
  foreach(source IN LISTS ARGN)
    get_filename_component(name ${source} NAME_WE)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.cu.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${TRITONSMITH_NVCC} -std=c++20 -O3 -arch=${TRITONSMITH_CUDA_ARCHITECTURE}
        --expt-relaxed-constexpr -Xcompiler=-fPIC,-Wall -Werror all-warnings -I ${CMAKE_SOURCE_DIR}/src
        -MD -MF ${object}.d -c ${source} -o ${object}
      DEPENDS ${source} DEPFILE ${object}.d COMMENT "Compiling ${name}.cu" VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  set(${result} ${objects} PARENT_SCOPE)
endfunction()
