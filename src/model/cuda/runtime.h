// The parts of CUDA's runtime that the engine needs, as a table (kernels.h): the runtime is linked
// statically behind it, where it is there at all.
#pragma once

#include <cstddef>

namespace tritonsmith::model::cuda {

using Stream = void*;  // a cudaStream_t

// Codes other than 0 are errors.
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
  int (*copy)(void* to, const void* from, std::size_t bytes, Stream);  // either direction
  int (*synchronize)(Stream);
  int (*pinned)(void** memory, std::size_t bytes);
  void (*free_pinned)(void* memory);
  int (*memory)(std::size_t* free_bytes, std::size_t* total_bytes);
  int (*last_error)();
  const char* (*message)(int code);
};

}  // namespace tritonsmith::model::cuda
