// ElementValues: some elements of one output, with a value for each.
#pragma once

#include <ATen/core/Tensor.h>

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace tritonsmith::gym::trial {

struct ElementValues {
  std::size_t output = 0;  // among the tensors of a module's result, in their order
  std::int64_t rows = 0;   // of the output; an output of one dimension has a row for each element
  std::int64_t numel = 0;  // of the output
  at::Tensor elements;     // int64 on the CPU: indices into the flattened output
  at::Tensor values;       // float64 on the CPU
  // A value v may be off by tolerance * (|v| + unit). Both are 0 where values must be equal.
  double tolerance = 0, unit = 0;

  double allowed(double value) const { return tolerance * (std::abs(value) + unit); }
};

}  // namespace tritonsmith::gym::trial
