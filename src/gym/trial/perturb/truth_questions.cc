#include "gym/trial/perturb/truth_questions.h"

#include <algorithm>
#include <utility>

#include "gym/plan/analysis/random_origin.h"
#include "gym/trial/perturb/truth_rows.h"

namespace tritonsmith::gym::trial {

using device::InputChange;
using plan::analysis::DrawKind;
using plan::analysis::InputDraw;

// Rows of two values, in a tensor that forward also computes with, need rows beside them that stay.
bool TruthQuestions::asks(Perturbation kind, int input) const {
  const bool moves_far = kind == Perturbation::uneven || kind == Perturbation::ragged;
  if (!moves_far && kind != Perturbation::scaled && kind != Perturbation::sparse) return false;
  if (holds_truths(input) && facts_.asks_any_or_all) return true;
  if (!facts_.asks_any_or_all_compared) return false;
  return task_.tensors.at(static_cast<std::size_t>(input)).dtype == plan::DType::boolean ||
         whole_draw_of(input) != nullptr ||
         (moves_far && facts_.asked_dimension &&
          std::ranges::find(direct_, input) != direct_.end());
}

bool TruthQuestions::holds_truths(int input) const {
  const plan::DType dtype = task_.tensors.at(static_cast<std::size_t>(input)).dtype;
  return dtype == plan::DType::boolean || dtype == plan::DType::uint8;
}

const InputDraw* TruthQuestions::whole_draw_of(int input) const {
  for (const InputDraw& draw : draws_)
    if (draw.kind == DrawKind::whole && draw.low < draw.high &&
        plan::analysis::storage_of(task_, draw.tensor) == plan::analysis::storage_of(task_, input))
      return &draw;
  return nullptr;
}

InputChange TruthQuestions::change(Perturbation kind, int input, Rng& rng) const {
  const std::int64_t variant = kind == Perturbation::uneven   ? 0
                               : kind == Perturbation::ragged ? 1
                               : kind == Perturbation::scaled ? 2
                                                              : 3;
  device::pattern::Truths truths{.variant = variant, .dimension = facts_.asked_dimension};
  if (!holds_truths(input)) truths.values = values_around(facts_.bounds, whole_draw_of(input));
  const std::vector<int> inputs = input_tensors(task_);
  const auto asked = [&](int each) { return asks(kind, each); };
  if (facts_.compares_inputs && std::ranges::count_if(inputs, asked) == 2) {
    const bool is_first = *std::ranges::find_if(inputs, asked) == input;
    truths.is_alike = is_first == (variant % 2 == 0);
  }
  return {.seed = rng.next_u64(), .pattern = std::move(truths)};
}

}  // namespace tritonsmith::gym::trial
