// Elements at positions that a candidate's code names, and at the ends and in the middle of
// dimensions.
#pragma once

#include <ATen/ATen.h>

#include <map>
#include <set>

#include "base/rng.h"
#include "gym/device/input_change.h"
#include "gym/trial/perturb/rows.h"

namespace tritonsmith::gym::trial {

// Elements at named positions: at the last index and in the middle of each dimension, and at each
// of the positions that are given and beside it. Elements far up and far down stand at each such
// index, so that no reduction over any dimension may leave it out. They are chosen at first and
// moved at last, from the values that they had at first. So nothing else that happens to the tensor
// hides them.
class NamedElements {
 public:
  // Elements move by about `reach`. No element lies in a row that `rows` keeps, if there is another.
  NamedElements(const at::Tensor& tensor, const device::pattern::Ends& ends, std::uint64_t seed,
                const Rows* rows = nullptr);

  // Moves them from the values that they had when this was made.
  void move();

 private:
  // The first pair lies beyond all that other changes move, and in rows of its own, so that it
  // decides a row's largest and least. The second is smaller: an exponential is large and finite there.
  void add_pairs(std::int64_t dim, std::int64_t index, double reach);
  // `taken`: the rows that already hold such an element.
  void add(std::int64_t dim, std::int64_t index, double by, std::set<std::int64_t>& taken);

  at::Tensor tensor_, at_, moved_;
  const Rows* rows_;
  Rng rng_;
  std::map<std::int64_t, double> moves_;  // by position in memory
  std::set<std::int64_t> highest_, lowest_, smaller_;
};

}  // namespace tritonsmith::gym::trial
