#include "gym/trial/weights/call_counts.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace tritonsmith::gym::trial {
namespace {

using plan::analysis::CallCounter;

double count_after(const CallCounter& counter, std::int64_t calls, const at::Tensor& first) {
  const std::vector<CallCounter> counters = {counter};
  tensors::TensorTable tensors = {first.clone()};
  set_counts(counts_after_calls(&counters, calls, tensors), tensors);
  EXPECT_EQ(tensors[0].scalar_type(), first.scalar_type());
  return tensors[0].to(at::kDouble).item<double>();
}

// The count is what so many calls leave, each of which adds the step and divides.
TEST(CallCounts, EachCallAddsTheStep) {
  for (const std::int64_t step : {1, 3, -2})
    for (const std::int64_t modulus : {0, 5})
      for (const at::ScalarType type : {at::kLong, at::kInt, at::kFloat}) {
        at::Tensor now = at::full({1}, 2, type);
        const at::Tensor first = now.clone();
        for (std::int64_t calls = 0; calls < 12; ++calls) {
          EXPECT_EQ(count_after({.step = step, .modulus = modulus}, calls, first),
                    now.to(at::kDouble).item<double>());
          now = now + step;
          if (modulus != 0) now = now.remainder(modulus);
        }
      }
}

TEST(CallCounts, WhatIsNoWholeNumberStays) {
  EXPECT_EQ(count_after({.step = 1}, 7, at::full({1}, 0.5)), 0.5);
}

}  // namespace
}  // namespace tritonsmith::gym::trial
