// Lists the functions of CUDA's runtime that the engine needs, as a table (kernels.h). The runtime
// is linked statically behind it if the build has it.
#pragma once

#include <cstddef>

namespace tritonsmith::model::cuda {

using Stream = void*;  // a cudaStream_t

// A result other than 0 is an error code.
struct Runtime {
  int (*begin_capture)(Stream);
  int (*end_capture)(Stream, void** executable_graph);
  int (*launch_graph)(void* executable_graph, Stream);
  void (*destroy_graph)(void* executable_graph);
  int (*make_event)(void** event);
  void (*destroy_event)(void* event);
  int (*record_event)(void* event, Stream);
  int (*wait_event)(void* event);
  int (*elapsed_ms)(void* from, void* to, float* ms);
  // between host and device, in either direction
  int (*copy)(void* to, const void* from, std::size_t bytes, Stream);
  int (*synchronize)(Stream);
  int (*pinned)(void** memory, std::size_t bytes);
  void (*free_pinned)(void* memory);
  int (*memory)(std::size_t* free_bytes, std::size_t* total_bytes);
  int (*last_error)();
  const char* (*message)(int code);
};

}  // namespace tritonsmith::model::cuda
