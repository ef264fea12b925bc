#include "model/host_copy.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cstring>

namespace tritonsmith::model {
namespace {

constexpr std::int64_t kPiece = std::int64_t{32} << 20;

// The bytes [begin, end) of `from`, on a GPU, to the same place of `to`.
void copy_bytes(const at::Tensor& from, std::byte* to, std::int64_t begin, std::int64_t end) {
  const at::NoGradGuard no_grad;  // each thread's own
  const at::Tensor buffer =
      at::empty({std::min(kPiece, end - begin)}, at::TensorOptions(at::kByte).pinned_memory(true));
  for (std::int64_t at = begin; at < end; at += kPiece) {
    const std::int64_t count = std::min(kPiece, end - at);
    at::Tensor piece = buffer.narrow(0, 0, count);
    piece.copy_(from.narrow(0, at, count));
    std::memcpy(to + at, piece.const_data_ptr(), static_cast<std::size_t>(count));
  }
}

}  // namespace

at::Tensor host_copy(const at::Tensor& tensor) {
  const at::NoGradGuard no_grad;
  const at::Tensor source = tensor.detach().contiguous();
  at::Tensor copy = at::empty(source.sizes(), source.options().device(at::kCPU));
  if (!source.is_cuda()) return copy.copy_(source);
  const at::Tensor bytes = source.view({-1}).view(at::kByte);
  auto* to = static_cast<std::byte*>(copy.mutable_data_ptr());
  at::parallel_for(0, bytes.numel(), kPiece, [&](std::int64_t begin, std::int64_t end) {
    if (begin < end) copy_bytes(bytes, to, begin, end);
  });
  return copy;
}

}  // namespace tritonsmith::model
