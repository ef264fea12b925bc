// What the optimizer's kernels of the CPU (train/adamw_test.cc) and of the GPU
// (model/cuda_extremes_gpu_test.cc) are both held to: numbers of all sizes, each with each.
#pragma once

#include <ATen/ATen.h>

#include <vector>

namespace tritonsmith::model {

// As AdamW has them before an update; float32 on the CPU, of one length.
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
