// Draws new weights: normally distributed matrices, zero biases, unit norms. All threads draw, and
// the result does not depend on the number of threads. Transformer::random and `model make` use it.
#pragma once

#include <cstdint>
#include <span>

#include "model/weights/safetensors.h"

namespace tritonsmith::model {

// Fills a model's parameters of any float type on any device. The result depends only on their
// order and shapes, `deviation` and `seed`. Values are drawn as float32 and rounded to the tensor's
// type.
void fill_random_weights(std::span<const NamedTensor> parameters, double deviation,
                         std::uint64_t seed);

}  // namespace tritonsmith::model
