#include "gym/trial/perturb/perturbation.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/check.h"
#include "base/hash.h"
#include "gym/plan/analysis/random_origin.h"
#include "gym/plan/operators/operator_traits.h"
#include "gym/trial/perturb/input_changes.h"

namespace tritonsmith::gym::trial {

// In the order in which trials run. `negated` is left for the end.
std::span<const PerturbationRow> perturbation_rows() {
  using enum Perturbation;
  static constexpr auto kRows = std::to_array<PerturbationRow>({
      {.kind = plain, .what_is_done = ""},
      {.kind = scaled, .what_is_done = ""},
      {.kind = sparse, .what_is_done = ""},
      {.kind = shifted,
       .what_is_done = "100 (in float64: 800) added to the inputs",
       .shows_weakness = true},
      {.kind = lowered,
       .what_is_done = "110 (in float64: 800) taken from the inputs",
       .shows_weakness = true},
      {.kind = small, .what_is_done = "inputs 20 or 256 times smaller", .shows_weakness = true},
      {.kind = tiny,
       .what_is_done = "inputs about as small as an epsilon of the task",
       .shows_weakness = true},
      {.kind = uneven,
       .what_is_done = "rows of zeros, of one value and in order, and single large elements in the "
                       "inputs",
       .spoils_scores = true,
       .shows_weakness = true},
      {.kind = scattered,
       .what_is_done = "rows in order, and single large elements in the inputs",
       .spoils_scores = true,
       .shows_weakness = true},
      {.kind = ragged,
       .what_is_done = "elements and blocks of very different sizes in the inputs",
       .spoils_scores = true,
       .shows_weakness = true},
      {.kind = enlarged,
       .what_is_done = "rows so large that what they are reduced to passes the task's numbers",
       .spoils_scores = true,
       .shows_weakness = true},
      {.kind = below,
       .what_is_done = "4 taken from the inputs",
       .moves_a_little = true,
       .shows_weakness = true},
      {.kind = above,
       .what_is_done = "4 added to the inputs",
       .moves_a_little = true,
       .shows_weakness = true},
      {.kind = parted,
       .what_is_done = "4 taken from, added to, taken from, ... one after another of the inputs",
       .moves_a_little = true,
       .shows_weakness = true},
      {.kind = crossed,
       .what_is_done = "4 added to, taken from, added to, ... one after another of the inputs",
       .moves_a_little = true,
       .shows_weakness = true},
      {.kind = spiked,
       .what_is_done = "a few elements 1024 times as large in the inputs",
       .spoils_scores = true},
      {.kind = last_spiked,
       .what_is_done = "a few elements 1024 times as large in the last of the inputs"},
      {.kind = tied,
       .what_is_done = "inputs exactly at halves and at the numbers they meet",
       .meets_jumps = true},
      {.kind = close,
       .what_is_done = "values that differ by their last digits in the inputs",
       .meets_jumps = true},
      {.kind = special,
       .what_is_done = "NaN, infinity or zeros of both signs in the inputs",
       .makes_specials = true,
       .meets_jumps = true},
      {.kind = heavy, .what_is_done = "32 times the drawn weights", .only_overflow_counts = true},
      {.kind = negated, .what_is_done = "the opposite of the inputs"},
  });
  return kRows;
}

const PerturbationRow& row_of(Perturbation kind) {
  const auto rows = perturbation_rows();
  const auto at = std::ranges::find(rows, kind, &PerturbationRow::kind);
  CHECK(at != rows.end(), "the table of perturbations lacks {}", name_of(kind));
  return *at;
}

Perturbation perturbation_of_trial(int trial) {
  if (trial % 3 == 1) return Perturbation::scaled;
  if (trial % 3 == 2) return Perturbation::sparse;
  return Perturbation::plain;
}

std::uint64_t trial_seed(std::string_view secret, std::string_view purpose, int trial) {
  return secret_seed(secret, fmt::format("{}/{}", purpose, trial));
}

bool decides_by_scores(const plan::Plan& task) {
  using plan::operators::Trait;
  bool has_softmax = false, has_product = false;
  for (const plan::PlanStep& step : task.steps) {
    const auto* call = std::get_if<plan::AtenCall>(&step.action);
    if (call == nullptr || step.phase != plan::Phase::forward) continue;
    const plan::operators::Traits traits =
        plan::operators::traits_of(plan::operators::aten_base_name(call->op));
    const bool attends = traits.has(Trait::attention);
    has_softmax = has_softmax || attends || traits.has(Trait::softmax);
    has_product = has_product || attends || traits.has(Trait::scores);
  }
  return has_softmax && has_product;
}

std::set<int> inputs_of_scores(const plan::Plan& task) {
  using plan::operators::Trait;
  if (!decides_by_scores(task)) return {};
  const std::vector<int> inputs = input_tensors(task);
  std::set<int> storages, deciding, found;
  for (const int input : inputs) storages.insert(plan::analysis::storage_of(task, input));
  plan::analysis::Sources sources =
      plan::analysis::sources_of(task, plan::Phase::forward, storages);
  for (const plan::PlanStep& step : task.steps) {
    const auto* call = std::get_if<plan::AtenCall>(&step.action);
    if (call == nullptr || step.phase != plan::Phase::forward) continue;
    const plan::operators::Traits traits =
        plan::operators::traits_of(plan::operators::aten_base_name(call->op));
    const std::size_t count = traits.has(Trait::attention) ? 2 : traits.has(Trait::softmax) ? 1 : 0;
    std::vector<int> scores;  // queries and keys come before the values
    for (std::size_t k = 0; k < std::min(count, call->args.size()); ++k)
      plan::append_tensors(call->args[k], scores);
    for (const int tensor : scores)
      deciding.merge(std::set<int>(sources[plan::analysis::storage_of(task, tensor)]));
  }
  for (const int input : inputs)
    if (deciding.contains(plan::analysis::storage_of(task, input))) found.insert(input);
  return found;
}

std::vector<Perturbation> extreme_perturbations(const plan::Plan& task) {
  const InputChanges inputs(task);
  std::vector<Perturbation> kinds;
  for (const PerturbationRow& row : perturbation_rows()) {
    if (!is_extreme(row.kind) || row.kind == Perturbation::negated) continue;
    if (row.kind == Perturbation::heavy) {
      if (!plan::analysis::drawn_storages(task, plan::Phase::init).empty())
        kinds.push_back(row.kind);
    } else if (inputs.is_changed_by(row.kind)) {
      kinds.push_back(row.kind);
    }
  }
  if (inputs.is_pointwise())
    std::ranges::stable_partition(kinds, [](Perturbation kind) {
      return kind == Perturbation::uneven || kind == Perturbation::scattered ||
             kind == Perturbation::ragged;
    });
  return kinds;
}

TaskForm form_of(const plan::Plan& task) {
  const InputChanges inputs(task);
  return {.is_pointwise = inputs.is_pointwise(), .has_few_rows = inputs.has_few_rows()};
}

bool says_what_others_said(Perturbation kind, const std::set<Perturbation>& right, TaskForm form) {
  using enum Perturbation;
  // Their values lie among those of the other two, which no neighbour can hide.
  if (form.is_pointwise && right.contains(uneven) && right.contains(ragged) &&
      (kind == shifted || kind == lowered || kind == small || kind == below || kind == above))
    return true;
  const bool is_spread = right.contains(uneven) || right.contains(scattered);
  switch (kind) {
    case scattered:
      return right.contains(uneven) && !form.has_few_rows;
    case below:
      return right.contains(lowered) && is_spread;
    case above:
      return right.contains(shifted);
    default:
      return false;
  }
}

bool is_spiked(Perturbation kind) {
  return kind == Perturbation::spiked || kind == Perturbation::last_spiked;
}

bool is_extreme(Perturbation kind) { return !what_is_done(kind).empty(); }

std::string_view what_is_done(Perturbation extreme) { return row_of(extreme).what_is_done; }

}  // namespace tritonsmith::gym::trial
