// Chooses how a model is computed: the code of a layer, the 16-bit type on a GPU, and the
// activations that a backward keeps. sums.h has the order of sums.
#pragma once

#include "base/enum_names.h"

namespace tritonsmith::model {

// The code that computes a layer. automatic: the fused kernels on a CPU. On a GPU our own kernels,
// if the build has them and they support the shape, else ATen. aten: plain autograd everywhere, as
// the reference of the tests.
enum class LayerPath { automatic, aten };

// The 16-bit type of weights and activations on a GPU. Gradients are bfloat16 in both cases.
// float16 rounds eight times finer, so trainer and engine, whose sums have different orders, agree
// better (docs/gpu.md). bfloat16 is for models whose activations exceed the range of float16
// (65504).
enum class Precision { float16, bfloat16 };

// The activations of a layer that a GPU keeps for the backward. `nothing`: it keeps all of them and
// recomputes nothing. `layers`: it keeps only the layer's input and recomputes the rest. That takes
// a third more work and a tenth of the memory. The results are the same.
enum class Recompute { nothing, layers };

}  // namespace tritonsmith::model

namespace tritonsmith {
template <>
inline constexpr auto enum_names<model::Recompute> = names<model::Recompute>(
    {{model::Recompute::nothing, "nothing"}, {model::Recompute::layers, "layers"}});
template <>
inline constexpr auto enum_names<model::Precision> = names<model::Precision>(
    {{model::Precision::float16, "float16"}, {model::Precision::bfloat16, "bfloat16"}});
}  // namespace tritonsmith
