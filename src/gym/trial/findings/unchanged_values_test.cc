#include "gym/trial/findings/unchanged_values.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "gym/plan/testing/plan_builder.h"

namespace tritonsmith::gym::trial {
namespace {

constexpr int kFew = 16;
constexpr double kTolerance = 1e-4;

// The kernel reads through its first argument and stores through its second.
constexpr const char* kPassesOn = R"(module {
  tt.func public @k(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
    %v = tt.load %x : !tt.ptr<f32>
    tt.store %y, %v : !tt.ptr<f32>
    tt.return
  }
})";

// PyTorch makes `z`, and a kernel receives the tensors `from` and `to`.
struct InPlace {
  plan::PlanBuilder plan{plan::PlanRole::candidate};
  int x = plan.tensor({kFew}), z = plan.tensor({kFew}), scratch = plan.tensor({kFew});
  replay::LaunchTraces traces;

  explicit InPlace(bool writes_scratch) {
    const int kernel = plan.kernel("k", {"*fp32", "*fp32"}, kPassesOn);
    plan.input(plan::t(x))
        .aten(plan::Phase::forward, "aten::exp", {plan::t(x)}, {z})
        .launch(kernel, {plan::t(z), plan::t(writes_scratch ? scratch : z)})
        .returns(plan::t(z));
    traces[1] = {.loaded_tensors = {z}, .stored_tensors = {}};  // as a GPU sees it
  }
  std::vector<int> stored(const std::vector<at::Tensor>& left, const at::Tensor& values) {
    tensors::TensorTable tensors(3);
    tensors[static_cast<std::size_t>(z)] = values;
    tensors[static_cast<std::size_t>(scratch)] = at::full({kFew}, 7.0F);
    add_unseen_stores(plan.plan(), {}, tensors, left, kTolerance, traces);
    return traces.at(1).stored_tensors;
  }
};

TEST(UnchangedValues, AStoreOfWhatTheReferenceLeavesIsBelievedWhereTheCodeHasOne) {
  const at::Tensor values = at::rand({kFew});
  EXPECT_EQ(InPlace(false).stored({values.clone()}, values), std::vector<int>{1});
  EXPECT_TRUE(InPlace(true).stored({values.clone()}, values).empty())
      << "its code stores elsewhere";
  EXPECT_TRUE(InPlace(false).stored({values + 1}, values).empty()) << "other values";
  EXPECT_TRUE(InPlace(false).stored({}, values).empty());
}

TEST(UnchangedValues, FindsWhatTheReferenceLeavesAsItIs) {
  plan::PlanBuilder task(plan::PlanRole::task);
  const int x = task.tensor({kFew}), z = task.tensor({kFew}), y = task.tensor({kFew});
  task.input(plan::t(x))
      .aten(plan::Phase::forward, "aten::exp", {plan::t(x)}, {z})
      .aten(plan::Phase::forward, "aten::abs", {plan::t(z)}, {y})
      .returns(plan::t(y));
  const at::Tensor drawn = at::randn({kFew}), made = drawn.exp();
  const auto left = unchanged_values(task.plan(), {drawn, made, made.abs()});
  ASSERT_EQ(left.size(), 1U);
  EXPECT_TRUE(are_among(left, made, kTolerance));
  EXPECT_FALSE(are_among(left, drawn, kTolerance));
}

}  // namespace
}  // namespace tritonsmith::gym::trial
