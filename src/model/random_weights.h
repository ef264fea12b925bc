// Fresh weights: normal matrices, zero biases, unit norms, drawn by all threads and the same for
// any number of them. What Transformer::random and `model make` share.
#pragma once

#include <cstdint>
#include <span>

#include "model/safetensors.h"

namespace tritonsmith::model {

// Fills a model's parameters, of any float type and on any device, as a function of (their order
// and shapes, deviation, seed) alone. Draws are float32 and rounded to the tensor's type.
void fill_random_weights(std::span<const NamedTensor> parameters, double deviation,
                         std::uint64_t seed);

}  // namespace tritonsmith::model
