// Inputs for the tests of both optimizer kernels: on the CPU (train/optimizer/adamw_test.cc) and on the GPU
// (model/layers/cuda_extremes_gpu_test.cc). They combine numbers of all magnitudes.
#pragma once

#include <ATen/ATen.h>

#include <vector>

namespace tritonsmith::model {

// AdamW's state before an update: float32 tensors of one length on the CPU.
struct Moments {
  at::Tensor weights, gradients, first, second;
};

inline Moments moments_of_all_sizes() {
  std::vector<double> w, g, m, v;
  for (const double weight : {0.0, 1.0, -3e4})
    for (const double gradient : {0.0, 1.0, -1e-12, 1e-18, 1e15, -1e15})
      for (const double first : {0.0, 0.1, 1e8})
        for (const double second : {0.0, 1e-24, 1.0, 1e20})
          w.push_back(weight), g.push_back(gradient), m.push_back(first), v.push_back(second);
  const auto tensor = [](const std::vector<double>& values) {
    return at::tensor(values, at::kFloat);
  };
  return {tensor(w), tensor(g), tensor(m), tensor(v)};
}

}  // namespace tritonsmith::model
