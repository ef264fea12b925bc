// The other kernels of decoding: embeddings of the slots' tokens, and copies of pages.
#include "model/cuda/common.cuh"
#include "model/cuda/launches.h"

namespace tritonsmith::model::cuda {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads) embed_kernel(Embed a) {
  const int row = blockIdx.x, slot = a.slots[row];
  const std::int64_t token = slot < 0 ? 0 : a.arrays.token[slot];
  if (threadIdx.x == 0) a.positions[row] = slot < 0 ? 0 : a.arrays.position[slot];
  // A failed draw left -1. The engine notices it when it reads the draw.
  const auto* from =
      reinterpret_cast<const float4*>(a.table) + (token < 0 ? 0 : token) * (a.hidden / 4);
  auto* to = reinterpret_cast<float4*>(a.x) + std::int64_t{row} * (a.hidden / 4);
  for (int i = threadIdx.x; i < a.hidden / 4; i += kThreads) to[i] = from[i];
}

__global__ void __launch_bounds__(kThreads) copy_pages_kernel(CopyPages a) {
  const std::int64_t layer = std::int64_t{blockIdx.y} * a.pages;
  Bf16* cache = blockIdx.z == 0 ? a.keys : a.values;
  const auto* from =
      reinterpret_cast<const uint4*>(cache + (layer + a.from[blockIdx.x]) * a.page_elements);
  auto* to = reinterpret_cast<uint4*>(cache + (layer + a.to[blockIdx.x]) * a.page_elements);
  for (int i = threadIdx.x; i < a.page_elements / 8; i += kThreads) to[i] = from[i];
}

}  // namespace

void launch_embed(const Embed& a, Stream stream) {
  if (a.rows == 0) return;
  embed_kernel<<<static_cast<unsigned>(a.rows), kThreads, 0, stream_of(stream)>>>(a);
}

void launch_copy_pages(const CopyPages& a, Stream stream) {
  if (a.pairs == 0) return;
  copy_pages_kernel<<<dim3(a.pairs, a.layers, 2), kThreads, 0, stream_of(stream)>>>(a);
}

}  // namespace tritonsmith::model::cuda
