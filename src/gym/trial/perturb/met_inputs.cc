#include "gym/trial/perturb/met_inputs.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "gym/trial/perturb/input_content.h"

namespace tritonsmith::gym::trial {

using plan::analysis::DrawKind;
using plan::analysis::InputDraw;

bool is_moved_draw(std::span<const InputDraw> draws, int input) {
  int count = 0;
  for (const InputDraw& draw : draws) {
    if (std::ranges::find(draw.inputs, input) == draw.inputs.end()) continue;
    if (!draw.is_affine || (draw.kind != DrawKind::uniform && draw.kind != DrawKind::normal))
      return false;
    ++count;
  }
  return count == 1;
}

device::InputChange meeting(const MetInputs& met, const tensors::TensorTable& tensors, Rng& rng) {
  if (!met.facts.jumps_as_given || !met.facts.compares_inputs || met.facts.gives_unordered_indices)
    return {};
  const at::Tensor& tensor = tensors.at(static_cast<std::size_t>(met.inputs[met.nth]));
  if (!tensor.is_floating_point()) return {};
  std::vector<double> numbers;
  for (std::size_t k = 0; k < met.inputs.size(); ++k) {
    const at::Tensor& other = tensors.at(static_cast<std::size_t>(met.inputs[k]));
    if (k == met.nth || !is_changeable(other) || other.scalar_type() != tensor.scalar_type())
      continue;
    for (const double number : elements_between_bounds(other, tensor)) numbers.push_back(number);
  }
  rng.shuffle(numbers);
  if (numbers.empty()) return {};
  return {.seed = rng.next_u64(), .pattern = device::pattern::Numbers{std::move(numbers)}};
}

}  // namespace tritonsmith::gym::trial
