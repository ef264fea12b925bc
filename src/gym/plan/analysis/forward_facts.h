// Finds in a task's forward what a trial's inputs should meet: numbers with which it compares,
// points where its result jumps, and operators that treat NaN in a way of their own. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "gym/plan/analysis/maximum_scales.h"
#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

struct ForwardFacts {
  // Numbers with which forward compares elements, or at which it clamps them. Each appears once.
  std::vector<double> bounds;
  bool is_elementwise = true;  // each result depends on the elements at its position alone
  bool scales = false;         // it adds a number to a tensor, or multiplies a tensor by one
  // NaN and infinities, if it tells them from other numbers.
  std::vector<double> specials;
  std::set<int> zero_signs;  // inputs of which a result depends on the sign of a zero
  // It rounds, compares or looks for the first of equal values, in what follows exactly from inputs
  // that are halves: inputs themselves, their sums and products with few digits, their quotients by
  // some whole numbers, and their sizes. An honest kernel then meets a tie exactly as the reference
  // does.
  bool jumps_at_halves = false;
  // Some such value is an input's own, and all such points follow exactly from halves.
  bool jumps_as_given = false;
  // Inputs that it divides by a share of their own largest size and rounds, without other jumps.
  std::vector<MaximumScale> maximum_scales;
  // An input's elements that make such a tie with a number, and the numbers themselves.
  std::vector<double> meeting_numbers;
  // It compares elements of inputs with each other, or puts them in order, before any arithmetic but
  // a multiplication by a power of two. The nearest two values then have one order.
  bool compares_inputs = false;
  // It asks whether any or all truth values of an input hold, along the dimension or, if it is
  // empty, of all elements.
  bool asks_any_or_all = false;
  // The same of truth values that follow from the elements of inputs, each from those at its
  // position.
  bool asks_any_or_all_compared = false;
  std::optional<std::int64_t> asked_dimension;
  double scale_of_jumps = 1;   // the largest power of two with which those inputs are multiplied
  bool gives_indices = false;  // indices among values are results
  bool gives_unordered_indices = false;  // the same where equal values have no one order
  bool looks_up_numbers = false;         // it asks whether elements of one input stand in another
  bool gives_ordered_indices = false;    // the same of an operator that puts many values in order
  bool casts_to_16_bits = false;         // it rounds 32 bits to 16
  std::int64_t reduced_whole = 0;  // the most elements of which it takes one statistic; 0: of none
  bool overwrites_at_indices = false;  // writes at indices that an input names; the last write wins
};

ForwardFacts forward_facts(const Plan& task);

// The numbers of at least 100 that the task's own operators are given, such as a mask's -1e9. Sizes
// and offsets of views do not count. Each number appears once.
std::vector<double> large_numbers(const Plan& task);

}  // namespace tritonsmith::gym::plan::analysis
