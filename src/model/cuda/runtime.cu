// The table of launches, and the parts of CUDA's runtime that the engine needs.
#include "model/cuda/common.cuh"
#include "model/cuda/launches.h"

namespace tritonsmith::model::cuda {
namespace {

cudaEvent_t event_of(void* event) { return static_cast<cudaEvent_t>(event); }

int begin_capture(Stream stream) {
  return cudaStreamBeginCapture(stream_of(stream), cudaStreamCaptureModeThreadLocal);
}

int end_capture(Stream stream, void** executable_graph) {
  cudaGraph_t graph = nullptr;
  cudaError_t code = cudaStreamEndCapture(stream_of(stream), &graph);
  if (code != cudaSuccess) return code;
  cudaGraphExec_t executable = nullptr;
  code = cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphDestroy(graph);
  *executable_graph = executable;
  return code;
}

int launch_graph(void* executable_graph, Stream stream) {
  return cudaGraphLaunch(static_cast<cudaGraphExec_t>(executable_graph), stream_of(stream));
}

void destroy_graph(void* executable_graph) {
  cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(executable_graph));
}

int make_event(void** event) {
  cudaEvent_t made = nullptr;
  const cudaError_t code = cudaEventCreate(&made);
  *event = made;
  return code;
}

void destroy_event(void* event) { cudaEventDestroy(event_of(event)); }

int record_event(void* event, Stream stream) {
  return cudaEventRecord(event_of(event), stream_of(stream));
}

int wait_event(void* event) { return cudaEventSynchronize(event_of(event)); }

int elapsed_ms(void* from, void* to, float* ms) {
  return cudaEventElapsedTime(ms, event_of(from), event_of(to));
}

int copy(void* to, const void* from, std::size_t bytes, Stream stream) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_of(stream));
}

int synchronize(Stream stream) { return cudaStreamSynchronize(stream_of(stream)); }

int pinned(void** memory, std::size_t bytes) { return cudaMallocHost(memory, bytes); }

void free_pinned(void* memory) { cudaFreeHost(memory); }

int memory(std::size_t* free_bytes, std::size_t* total_bytes) {
  return cudaMemGetInfo(free_bytes, total_bytes);
}

int last_error() { return cudaGetLastError(); }

const char* message(int code) { return cudaGetErrorString(static_cast<cudaError_t>(code)); }

}  // namespace

Runtime runtime() {
  return {.begin_capture = begin_capture,
          .end_capture = end_capture,
          .launch_graph = launch_graph,
          .destroy_graph = destroy_graph,
          .make_event = make_event,
          .destroy_event = destroy_event,
          .record_event = record_event,
          .wait_event = wait_event,
          .elapsed_ms = elapsed_ms,
          .copy = copy,
          .synchronize = synchronize,
          .pinned = pinned,
          .free_pinned = free_pinned,
          .memory = memory,
          .last_error = last_error,
          .message = message};
}

const Kernels* kernels() {
  static const Kernels table = {.norm = launch_norm,
                                .norm_backward = launch_norm_backward,
                                .rope = launch_rope,
                                .rope_backward = launch_rope_backward,
                                .swiglu = launch_swiglu,
                                .swiglu_backward = launch_swiglu_backward,
                                .head_rows = launch_head_rows,
                                .head_rows_backward = launch_head_rows_backward,
                                .adamw = launch_adamw,
                                .embed = launch_embed,
                                .decode = launch_decode,
                                .decode_in_order = launch_decode_in_order,
                                .attend_in_order = launch_attend_in_order,
                                .gather_rows = launch_gather_rows,
                                .sum_rows = launch_sum_rows,
                                .sample = launch_sample,
                                .copy_pages = launch_copy_pages,
                                .runtime = runtime()};
  return &table;
}

}  // namespace tritonsmith::model::cuda
