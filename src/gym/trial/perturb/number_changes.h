// Changes a draw by one factor, one shift, or the same for a random share of its elements. The
// changes depend on the kind of trial and on the draw's distribution alone.
#pragma once

#include <span>
#include <vector>

#include "gym/device/device.h"
#include "gym/plan/analysis/compared_numbers.h"
#include "gym/plan/analysis/forward_facts.h"
#include "gym/plan/analysis/input_draws.h"
#include "gym/trial/perturb/candidate_numbers.h"
#include "gym/trial/perturb/perturbation.h"

namespace tritonsmith::gym::trial {

double any_factor(Rng& rng);    // 0.5 to 3
double whole_factor(Rng& rng);  // 2 or 3
device::InputChange signed_factor(Rng& rng);
// Most elements become zero.
device::InputChange sparse(Rng& rng);
// The spikes are few, so that most parts of a row have none. They are large, so that each one moves
// a mean of tens of thousands of elements.
device::InputChange spiked(std::int64_t elements, Rng& rng);

// Says whether the kind moves the nth unit by a little, and whether down.
bool alternates(Perturbation kind);
bool goes_down(Perturbation kind, int nth);

// A draw between two bounds stays between them: a quarter of the range is left, at its lower or its
// upper end, or the range's part next to 0.
device::InputChange of_uniform(Perturbation kind, const plan::analysis::InputDraw& draw, int nth,
                               Rng& rng);

// An input's elements become halves and numbers with which forward compares. If it divides them by a share of
// their own largest size, the largest size of each group becomes the number that makes the quotients halves.
device::InputChange tied_input(const plan::analysis::ForwardFacts& facts, int input, Rng& rng);

// The task makes equal numbers and ties from draws of few digits, if it makes them at all.
device::InputChange tied_draw(const plan::analysis::ForwardFacts& facts,
                              const plan::analysis::InputDraw& draw);

// Puts the special values that forward tells from others, for this input.
device::InputChange specials(const plan::analysis::ForwardFacts& facts, int input,
                             std::vector<std::int64_t> positions, Rng& rng);
// Lets inputs meet at some indices, if several of these changes put special values.
void pair_specials(std::span<device::InputChange> changes, Rng& rng);

// The change of a draw of whole numbers depends on these parts of the task and of the candidate.
struct OfWhole {
  std::span<const plan::analysis::InputDraw> draws;
  const plan::analysis::ForwardFacts& facts;
  const CandidateNumbers* candidate = nullptr;
  plan::analysis::ComparedNumbers compared = {};
  std::vector<std::int64_t> positions = {};  // that the candidate's code names
  std::int64_t elements = 0;                 // of the draw
};
device::InputChange of_whole(Perturbation kind, const plan::analysis::InputDraw& draw,
                             const OfWhole& known, Rng& rng);

}  // namespace tritonsmith::gym::trial
