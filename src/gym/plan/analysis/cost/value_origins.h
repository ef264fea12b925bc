// ValueOrigins: how each value of a task's forward depends on numbers that a generator drew. The
// roofline (roofline.h) counts work only where no kernel can use structure to avoid it, and the origin
// says so. Pure; it refers to the values.
#pragma once

#include <set>
#include <vector>

#include "gym/plan/analysis/cost/forward_values.h"

namespace tritonsmith::gym::plan::analysis {

struct ValueOrigin {
  bool drawn = false;    // these are the generator's own numbers
  bool generic = false;  // the value has no structure that a kernel might use
  // The value is generic, and each drawn number was used once, so that nothing cancels when
  // it is reduced.
  bool plain = false;
  // The value has as many numbers as its operand and depends on each of them. It has structure: its
  // numbers may sum to one or to zero.
  bool normalised = false;
  bool reduced = false;    // a reduction over all numbers of a plain value
  bool statistic = false;  // the value is reduced and does not vanish
  bool product = false;    // the value is linear in a product
  std::set<int> leaves;    // the storages of the drawn numbers
};

class ValueOrigins {
 public:
  explicit ValueOrigins(const ForwardValues& values);

  const ValueOrigin& of(ValueId value) const { return origins_[value]; }
  // Says whether the step reduces at least two numbers to each result.
  bool is_reduction(const ValueStep& step) const;
  // Says whether the step combines many numbers with a statistic, which may be their own.
  bool is_combination(const ValueStep& step) const;
  // Says whether each result depends on many elements with which it is normalised.
  bool is_normalisation(const ValueStep& step) const;

 private:
  void follow(const ValueStep& step);
  bool of_reduced(const ValueStep& step) const;
  bool normalises(const ValueStep& step, bool keeps_all) const;
  bool all(const ValueStep& step, bool (*property)(const ValueOrigin&)) const;
  bool is_disjoint(const ValueStep& step) const;
  std::int64_t extent(const ValueStep& step) const;

  const ForwardValues& values_;
  std::vector<ValueOrigin> origins_;  // by value
};

}  // namespace tritonsmith::gym::plan::analysis
