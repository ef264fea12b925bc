// Computes a model's outputs and gradients, for comparison with those of another computation.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "model/transformer/transformer.h"

namespace tritonsmith::model {

// Returns the hidden states (only of `rows`, if given) and the gradients of a loss that weighs each
// of them differently.
inline std::vector<at::Tensor> run(Transformer& model, const PackedBatch& batch, LayerPath path,
                                   const at::Tensor& rows = {}) {
  model.set_layer_path(path);
  for (const auto& each : model.parameters()) each.tensor.mutable_grad() = at::Tensor();
  at::Tensor hidden = model.forward(batch);
  if (rows.defined()) hidden = hidden.index_select(0, rows);
  const auto weights = at::sin(at::arange(hidden.numel(), hidden.options().requires_grad(false)));
  (hidden.flatten() * weights).sum().backward();
  std::vector<at::Tensor> results = {hidden.detach()};
  for (const auto& each : model.parameters())
    if (each.tensor.grad().defined()) results.push_back(each.tensor.grad().clone());
  return results;
}

// Returns the largest difference relative to the largest value of its tensor in `b`.
inline double worst(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  EXPECT_EQ(a.size(), b.size());
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double size = std::max(b[i].abs().max().item<double>(), 1e-3);
    worst = std::max(worst, (a[i] - b[i].to(a[i].scalar_type())).abs().max().item<double>() / size);
  }
  return worst;
}

}  // namespace tritonsmith::model
