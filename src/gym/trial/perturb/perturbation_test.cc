#include "gym/trial/perturb/perturbation.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gym/plan/testing/plan_builder.h"
#include "gym/trial/perturb/input_changes.h"

namespace tritonsmith::gym::trial {
namespace {

constexpr std::int64_t kCount = 1 << 16;

// A task with one input, `op(x)`, where a generator makes x.
plan::Plan task_of_input(const std::string& op, const std::vector<plan::Value>& more,
                         plan::DType dtype = plan::DType::float32) {
  plan::PlanBuilder task(plan::PlanRole::task);
  const int drawn = task.tensor({kCount}), x = task.tensor({kCount}, dtype);
  std::vector<plan::Value> arguments = {plan::t(drawn)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  task.aten(plan::Phase::inputs, "aten::randn", {plan::ints({kCount})}, {drawn})
      .aten(plan::Phase::inputs, op, arguments, {x})
      .input(plan::t(x))
      .returns(plan::t(x));
  return task.plan();
}

TEST(Draw, WhatIsCopiedCastOrScaledIsStillByChance) {
  for (const auto& [op, more] : std::vector<std::pair<std::string, std::vector<plan::Value>>>{
           {"aten::_to_copy", {}},
           {"aten::clone", {}},
           {"aten::view", {plan::ints({kCount})}},
           {"aten::mul.Tensor", {plan::f(0.5)}},
           {"aten::sub.Tensor", {plan::f(0.5)}}})
    EXPECT_FALSE(extreme_perturbations(task_of_input(op, more)).empty()) << op;
  EXPECT_FALSE(
      extreme_perturbations(task_of_input("aten::slice.Tensor", {plan::i(0), plan::i(1)})).empty());
  EXPECT_FALSE(extreme_perturbations(task_of_input("aten::mul_.Tensor", {plan::f(2)})).empty());
}

bool is_tried(const plan::Plan& task, Perturbation kind) {
  const std::vector<Perturbation> kinds = extreme_perturbations(task);
  return std::ranges::find(kinds, kind) != kinds.end();
}

// A draw may move a little before a function of it is taken. Hundreds would leave its domain.
TEST(Draw, WhatFollowsFromADrawMovesByLittle) {
  for (const auto& [op, more] : std::vector<std::pair<std::string, std::vector<plan::Value>>>{
           {"aten::tril", {}}, {"aten::abs", {}}, {"aten::softmax.int", {plan::i(0)}}}) {
    const plan::Plan task = task_of_input(op, more);
    EXPECT_TRUE(is_tried(task, Perturbation::below)) << op;
    EXPECT_FALSE(is_tried(task, Perturbation::shifted)) << op;
  }
}

// Changes the draw as a trial does, and returns it.
at::Tensor changed_draw(const plan::Plan& task, Perturbation kind, std::uint64_t seed) {
  tensors::TensorTable tensors = {at::rand({64, 64}), at::Tensor()};
  Rng rng(seed, "draws", 0);
  change_draw(InputChanges(task).draw_changes(kind, rng), 0, task, tensors);
  return tensors[0];
}

TEST(Draw, WhatIsDrawnBetweenTwoBoundsStaysThere) {
  plan::PlanBuilder builder(plan::PlanRole::task);
  const int drawn = builder.tensor({64, 64}), x = builder.tensor({64, 64});
  builder.aten(plan::Phase::inputs, "aten::rand", {plan::ints({64, 64})}, {drawn})
      .aten(plan::Phase::inputs, "aten::neg", {plan::t(drawn)}, {x})
      .input(plan::t(x))
      .returns(plan::t(x));
  const plan::Plan task = builder.plan();
  for (const PerturbationRow& row : perturbation_rows())
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const at::Tensor changed = changed_draw(task, row.kind, seed);
      EXPECT_GE(changed.min().item<float>(), 0) << name_of(row.kind);
      EXPECT_LE(changed.max().item<float>(), 1) << name_of(row.kind);
    }
}

// Each kind that a chooser may pick changes something, and the row of each kind is its own.
TEST(Draw, EachKindThatIsTriedChangesInputsOrWeights) {
  const plan::Plan task = task_of_input("aten::clone", {});
  for (const Perturbation kind : extreme_perturbations(task)) {
    EXPECT_EQ(row_of(kind).kind, kind);
    tensors::TensorTable tensors = {at::Tensor(), at::ones({kCount})};
    Rng rng(1, "draw", 0);
    perturb_inputs(task, kind, rng, tensors);
    EXPECT_FALSE(tensors[1].eq(1).all().item<bool>()) << name_of(kind);
  }
}

TEST(Draw, WhatIsJoinedOfDrawsIsStillByChance) {
  const auto joined_with = [](const std::string& other) {
    plan::PlanBuilder task(plan::PlanRole::task);
    const int a = task.tensor({4}), b = task.tensor({4}), x = task.tensor({2, 4});
    task.aten(plan::Phase::inputs, "aten::randn", {plan::ints({4})}, {a})
        .aten(plan::Phase::inputs, other, {plan::ints({4})}, {b})
        .aten(plan::Phase::inputs, "aten::stack",
              {plan::Value{plan::List{{plan::t(a), plan::t(b)}}}}, {x})
        .input(plan::t(x))
        .returns(plan::t(x));
    return extreme_perturbations(task.plan());
  };
  const auto is_shifted = [](const std::vector<Perturbation>& kinds) {
    return std::ranges::find(kinds, Perturbation::shifted) != kinds.end();
  };
  EXPECT_TRUE(is_shifted(joined_with("aten::rand")));
  EXPECT_FALSE(is_shifted(joined_with("aten::ones")));
}

TEST(Draw, SumsAndProductsOfDrawsAreByChanceAndNotWhatAMaskLeft) {
  const auto of_two = [](const std::string& op, const std::string& other) {
    plan::PlanBuilder task(plan::PlanRole::task);
    const int a = task.tensor({4}), b = task.tensor({4}), x = task.tensor({4});
    task.aten(plan::Phase::inputs, "aten::randn", {plan::ints({4})}, {a})
        .aten(plan::Phase::inputs, other, {plan::ints({4})}, {b})
        .aten(plan::Phase::inputs, op, {plan::t(a), plan::t(b)}, {x})
        .input(plan::t(x))
        .returns(plan::t(x));
    return extreme_perturbations(task.plan());
  };
  EXPECT_FALSE(of_two("aten::add.Tensor", "aten::randn").empty());
  EXPECT_FALSE(of_two("aten::mul.Tensor", "aten::rand").empty());
  const std::vector<Perturbation> masked = of_two("aten::mul.Tensor", "aten::bernoulli");
  EXPECT_EQ(std::ranges::find(masked, Perturbation::shifted), masked.end());
}

// A first hidden state is always zeros.
TEST(Draw, ZerosThatATaskAlwaysMakesAreSomethingOnce) {
  plan::PlanBuilder task(plan::PlanRole::task);
  const int x = task.tensor({4});
  task.aten(plan::Phase::inputs, "aten::zeros", {plan::ints({4})}, {x})
      .input(plan::t(x))
      .returns(plan::t(x));
  for (const Perturbation kind : {Perturbation::scaled, Perturbation::sparse}) {
    tensors::TensorTable tensors = {at::zeros({4})};
    Rng rng(1, "draw", 0);
    perturb_inputs(task.plan(), kind, rng, tensors);
    EXPECT_EQ(tensors[0].eq(0).all().item<bool>(), kind == Perturbation::scaled);
  }
}

TEST(Draw, ExponentialsAreNothingAndEndlessOnce) {
  const plan::Plan task = task_of_input("aten::clone", {});
  const auto exponential_of = [&](Perturbation kind) {
    tensors::TensorTable tensors = {at::Tensor(), at::zeros({4})};
    Rng rng(1, "draw", 0);
    perturb_inputs(task, kind, rng, tensors);
    return tensors[1].exp()[0].item<float>();
  };
  EXPECT_EQ(exponential_of(Perturbation::lowered), 0);
  EXPECT_TRUE(std::isinf(exponential_of(Perturbation::shifted)));
}

// Edges of buckets must stay in order.
TEST(Draw, WhatNoChanceIsInKeepsItsSign) {
  for (const std::string op : {"aten::ones", "aten::randn"}) {
    plan::PlanBuilder task(plan::PlanRole::task);
    const int x = task.tensor({4});
    task.aten(plan::Phase::inputs, op, {plan::ints({4})}, {x})
        .input(plan::t(x))
        .returns(plan::t(x));
    bool negative = false;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      tensors::TensorTable tensors = {at::ones({4})};
      Rng rng(seed, "draw", 0);
      perturb_inputs(task.plan(), Perturbation::scaled, rng, tensors);
      negative = negative || tensors[0][0].item<float>() < 0;
      EXPECT_NE(tensors[0][0].item<float>(), 1);
    }
    EXPECT_EQ(negative, op == "aten::randn");
  }
}

// A row of zeros would have its greatest value at many indices.
TEST(Draw, WhoAsksForIndicesMeetsFewTies) {
  for (const std::string op : {"aten::topk", "aten::relu"}) {
    plan::PlanBuilder task(plan::PlanRole::task);
    const int x = task.tensor({256}), y = task.tensor({256}), indices = task.tensor({256});
    task.aten(plan::Phase::inputs, "aten::randn", {plan::ints({256})}, {x})
        .input(plan::t(x))
        .aten(plan::Phase::forward, op, {plan::t(x), plan::i(256)}, {y, indices})
        .returns(plan::t(indices));
    tensors::TensorTable tensors = {at::ones({256})};
    Rng rng(1, "draw", 0);
    perturb_inputs(task.plan(), Perturbation::sparse, rng, tensors);
    EXPECT_EQ(tensors[0].eq(0).any().item<bool>(), op == "aten::relu");
  }
}

// A task that takes argmax of its input after one operator.
plan::Plan task_of_argmax_after(const std::string& op, const std::vector<plan::Value>& more,
                                plan::DType dtype) {
  plan::PlanBuilder task(plan::PlanRole::task);
  const int x = task.tensor({64, 64}), y = task.tensor({64, 64}, dtype),
            index = task.tensor({64}, plan::DType::int64);
  std::vector<plan::Value> arguments = {plan::t(x)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  task.aten(plan::Phase::inputs, "aten::randn", {plan::ints({64, 64})}, {x})
      .input(plan::t(x))
      .aten(plan::Phase::forward, op, arguments, {y})
      .aten(plan::Phase::forward, "aten::argmax", {plan::t(y), plan::i(1)}, {index})
      .returns(plan::t(index));
  return task.plan();
}

// Rounding makes ties of neighbours, and these have no one order.
TEST(Draw, CloseValuesAreTriedWhereNothingRoundsThemBeforeTheyAreCompared) {
  const auto is_close_tried = [](const std::string& op, const std::vector<plan::Value>& more,
                                 plan::DType dtype = plan::DType::float32) {
    return is_tried(task_of_argmax_after(op, more, dtype), Perturbation::close);
  };
  EXPECT_TRUE(is_close_tried("aten::clone", {}));
  EXPECT_TRUE(is_close_tried("aten::mul.Tensor", {plan::f(2)}));
  EXPECT_TRUE(is_close_tried("aten::_to_copy", {}, plan::DType::float64));
  EXPECT_FALSE(is_close_tried("aten::mul.Tensor", {plan::f(3)}));
  EXPECT_FALSE(is_close_tried("aten::_to_copy", {}, plan::DType::bfloat16));
  EXPECT_FALSE(is_close_tried("aten::tanh", {}));
}

// PyTorch promises the first of equal values for argmax, and nothing for topk.
TEST(Draw, EqualValuesAreTriedWhereTheirIndicesHaveAnOrder) {
  EXPECT_TRUE(
      is_tried(task_of_argmax_after("aten::abs", {}, plan::DType::float32), Perturbation::tied));
  EXPECT_FALSE(
      is_tried(task_of_argmax_after("aten::tanh", {}, plan::DType::float32), Perturbation::tied));
  plan::PlanBuilder task(plan::PlanRole::task);
  const int x = task.tensor({64, 64}), y = task.tensor({64, 2}),
            indices = task.tensor({64, 2}, plan::DType::int64);
  task.aten(plan::Phase::inputs, "aten::randn", {plan::ints({64, 64})}, {x})
      .input(plan::t(x))
      .aten(plan::Phase::forward, "aten::topk", {plan::t(x), plan::i(2)}, {y, indices})
      .returns(plan::t(indices));
  EXPECT_FALSE(is_tried(task.plan(), Perturbation::tied));
}

// By chance, no product of a draw with 0.9 is one of the running sums of another draw.
TEST(Draw, InputsThatFollowFromDrawsMeetWhereForwardComparesThem) {
  plan::PlanBuilder task(plan::PlanRole::task);
  const int steps = task.tensor({16}), edges = task.tensor({16}), drawn = task.tensor({kCount}),
            x = task.tensor({kCount}), indices = task.tensor({kCount}, plan::DType::int64);
  task.aten(plan::Phase::inputs, "aten::rand", {plan::ints({16})}, {steps})
      .aten(plan::Phase::inputs, "aten::cumsum", {plan::t(steps), plan::i(0)}, {edges})
      .aten(plan::Phase::inputs, "aten::rand", {plan::ints({kCount})}, {drawn})
      .aten(plan::Phase::inputs, "aten::mul.Tensor", {plan::t(drawn), plan::f(0.9)}, {x})
      .input(plan::t(edges))
      .input(plan::t(x))
      .aten(plan::Phase::forward, "aten::searchsorted.Tensor", {plan::t(edges), plan::t(x)},
            {indices})
      .returns(plan::t(indices));
  ASSERT_TRUE(is_tried(task.plan(), Perturbation::tied));
  const at::Tensor sums = at::arange(1, 17) * 0.25, numbers = at::rand({kCount}) * 0.9;
  tensors::TensorTable tensors(5);
  tensors[1] = sums.clone();
  tensors[3] = numbers.clone();
  Rng rng(1, "draw", 0);
  perturb_inputs(task.plan(), Perturbation::tied, rng, tensors);
  EXPECT_TRUE(at::equal(tensors[1], sums)) << "running sums follow from no single number";
  const at::Tensor changed = tensors[3].masked_select(tensors[3].ne(numbers));
  EXPECT_GE(changed.numel(), 2) << "three places, of which two may be the same";
  EXPECT_TRUE(at::isin(changed, sums).all().item<bool>());
  EXPECT_LT(changed.max().item<float>(), 0.9F) << "larger numbers stay outside";
}

TEST(Draw, InputsIn16BitsAreSpiked) {
  const auto has_spikes = [](const plan::Plan& task) {
    return std::ranges::any_of(extreme_perturbations(task), is_spiked);
  };
  EXPECT_FALSE(has_spikes(task_of_input("aten::_to_copy", {})));
  const plan::Plan task = task_of_input("aten::_to_copy", {}, plan::DType::bfloat16);
  EXPECT_TRUE(has_spikes(task));
  const at::Tensor before = at::randn({kCount}).to(at::kBFloat16);
  tensors::TensorTable tensors = {at::Tensor(), before.clone()};
  Rng rng(1, "draw", 0);
  perturb_inputs(task, Perturbation::spiked, rng, tensors);
  const auto changed = tensors[1].ne(before).sum().item<std::int64_t>();
  EXPECT_GT(changed, 4);
  EXPECT_LT(changed, 64) << "16 are meant";
  EXPECT_TRUE(at::equal(at::where(tensors[1].ne(before), tensors[1] / 1024, tensors[1]), before));
}

// A task that draws classes and scores of them, and takes a loss that ignores one class.
plan::Plan task_of_loss(std::int64_t rows, std::int64_t ignored) {
  plan::PlanBuilder task(plan::PlanRole::task);
  const int classes = task.tensor({rows}, plan::DType::int64), scores = task.tensor({rows, 32000}),
            loss = task.tensor({}), weight = task.tensor({});
  task.aten(plan::Phase::inputs, "aten::randint", {plan::i(32000), plan::ints({rows})}, {classes})
      .aten(plan::Phase::inputs, "aten::randn", {plan::ints({rows, 32000})}, {scores})
      .input(plan::t(scores))
      .input(plan::t(classes))
      .aten(plan::Phase::forward, "aten::nll_loss_forward",
            {plan::t(scores), plan::t(classes), plan::Value{plan::None{}}, plan::i(1),
             plan::i(ignored)},
            {loss, weight})
      .returns(plan::t(loss));
  return task.plan();
}

// By chance none of a few rows is of the class that a loss ignores.
TEST(Draw, ClassesThatALossIgnoresAreDrawn) {
  for (const std::int64_t rows : {4, 8, 64, 512})
    for (const std::int64_t ignored : {4321, -1}) {
      const plan::Plan task = task_of_loss(rows, ignored);
      int trials = 0;
      for (const PerturbationRow& row : perturbation_rows()) {
        tensors::TensorTable tensors = {at::zeros({rows}, at::kLong)};
        Rng rng(1, "draws", 0);
        change_draw(InputChanges(task).draw_changes(row.kind, rng), 0, task, tensors);
        trials += tensors[0].eq(ignored).any().item<bool>() ? 1 : 0;
      }
      EXPECT_GE(trials, rows >= 64 ? 1 : 2) << rows << " rows, " << ignored;
    }
}

}  // namespace
}  // namespace tritonsmith::gym::trial
