// FlatLayout: where each parameter lies when all of a model's are laid end to end in one buffer:
// matrices first, vectors (norms, biases) behind them, each on a cache line. The optimizer's
// buffers and the 16-bit copy that a GPU computes with share it, so that one pass serves both.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace tritonsmith::model {

struct FlatLayout {
  // The buffers' length is a multiple of this; what no parameter fills is zero and stays so.
  static constexpr std::int64_t kRow = 1024;

  std::vector<std::int64_t> offsets;  // of each parameter, in the order given
  std::int64_t matrices = 0;          // the first so many elements are the matrices'
  std::int64_t total = 0;
  std::int64_t parameter_count = 0;  // without padding
};

FlatLayout flat_layout(const std::vector<at::Tensor>& parameters);

}  // namespace tritonsmith::model
