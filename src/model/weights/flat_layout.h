// FlatLayout: the offset of each parameter when all parameters of a model lie in one buffer.
// Matrices come first, then vectors (norms, biases). Each begins on a cache line. The optimizer's
// buffers and the 16-bit copy for a GPU share the layout, so that one pass updates both.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace tritonsmith::model {

struct FlatLayout {
  // The buffers' length is a multiple of this. Elements between parameters are zero and stay zero.
  static constexpr std::int64_t kRow = 1024;

  std::vector<std::int64_t> offsets;  // of each parameter, in the given order
  std::int64_t matrices = 0;          // number of elements at the beginning that belong to matrices
  std::int64_t total = 0;
  std::int64_t parameter_count = 0;  // without padding
};

FlatLayout flat_layout(const std::vector<at::Tensor>& parameters);

}  // namespace tritonsmith::model
