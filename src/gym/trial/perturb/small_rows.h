// Makes rows of an input so small that a norm's epsilon counts in them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "gym/device/input_change.h"
#include "gym/plan/analysis/epsilons.h"

namespace tritonsmith::gym::trial {

// Returns the factors by which rows of about `size` become so small that each epsilon counts: about as
// large as the epsilon's root, and as the epsilon itself if it may meet the elements. Those that
// matter most come first. Factors are powers of two below 1, and none takes a row below half of `least`.
std::vector<double> factors_for(const std::vector<plan::analysis::Epsilon>& epsilons, double size,
                                double least);

// Returns the factor by which ordinary elements become so small that each epsilon decides a statistic of
// `count` of them, such as their largest, their spread or their norm. The factor is 1 if no epsilon is
// large enough, or if there are no elements.
double factor_below(const std::vector<plan::analysis::Epsilon>& epsilons, std::int64_t count);

// The input that becomes small.
struct SmallInput {
  bool is_coarse = false;  // it has 16 bits or fewer
  bool rounds = false;     // its elements must lose nothing by a cast to 16 bits
  bool is_first = true;    // of several inputs
};
// Makes an input so small that epsilons count: all of it a little, and some rows as factors_for() says.
device::InputChange near_epsilons(const std::vector<plan::analysis::Epsilon>& epsilons,
                                  SmallInput input);

// Multiplies rows by the factors in turn, and leaves others as they are. Every second element of the
// first dimension gets one factor for all its rows, because a norm may take in several dimensions. One
// column in eight is small in all rows, for norms over other dimensions than the last. Beside another
// tensor some rows get the factor `beside`, because a product of two small ones would hide what is small
// in the other.
void make_rows_small(at::Tensor& tensor, const device::pattern::SmallRows& small);

}  // namespace tritonsmith::gym::trial
