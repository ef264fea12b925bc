#include "train/optimizer/adamw.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "model/layers/testing/moments.h"
#include "train/optimizer/schedule.h"

namespace tritonsmith::train {
namespace {

struct ByHand {
  double weight, first = 0, second = 0;
};

// Updates one number by the paper's formula, in doubles.
void update(ByHand& x, double gradient, int t, const AdamWOptions& options, double lr,
            double decay) {
  x.first = options.beta1 * x.first + (1 - options.beta1) * gradient;
  x.second = options.beta2 * x.second + (1 - options.beta2) * gradient * gradient;
  const double m = x.first / (1 - std::pow(options.beta1, t));
  const double v = x.second / (1 - std::pow(options.beta2, t));
  x.weight -= lr * (decay * x.weight + m / (std::sqrt(v) + options.epsilon));
}

at::Tensor parameter(at::IntArrayRef shape) { return at::randn(shape).requires_grad_(); }

TEST(AdamW, FollowsThePaperAndSparesVectorsFromDecay) {
  const at::Tensor matrix = parameter({3, 5}), vector = parameter({7});
  FlatParameters flat({vector, matrix});
  AdamWState state = AdamWState::zeros_like(flat);
  const AdamWOptions options{.weight_decay = 0.1};
  ByHand in_matrix{matrix[1][2].item<double>()}, in_vector{vector[4].item<double>()};
  for (int t = 1; t <= 20; ++t) {
    flat.zero_gradients();
    (matrix.sum() * t + (vector * vector).sum()).backward();
    update(in_matrix, t, t, options, 0.01, 0.1);
    update(in_vector, 2 * in_vector.weight, t, options, 0.01, 0);
    adamw_update(flat, state, options, {.learning_rate = 0.01});
  }
  EXPECT_NEAR(matrix[1][2].item<double>(), in_matrix.weight, 1e-5);
  EXPECT_NEAR(vector[4].item<double>(), in_vector.weight, 1e-5);
}

TEST(AdamW, IsThatOfFloat64ForGradientsAndMomentsOfAllSizes) {
  const model::Moments start = model::moments_of_all_sizes();
  const std::int64_t count = start.weights.numel();
  for (const std::int64_t before : {0, 999}) {
    const FlatPart part = {.values = start.weights.clone(),
                           .gradients = start.gradients.clone(),
                           .decayed = count / 2};
    AdamWState state = {
        .first = start.first.clone(), .second = start.second.clone(), .updates = before};
    const AdamWOptions options{.weight_decay = 0.1};
    adamw_update(part, state, options, {.learning_rate = 0.01, .gradient_scale = 0.5});
    for (std::int64_t i = 0; i < count; ++i) {
      const auto one = [i](const at::Tensor& of_all) { return of_all[i].item<double>(); };
      ByHand x{one(start.weights), one(start.first), one(start.second)};
      const double weight = x.weight, gradient = one(start.gradients),
                   decay = i < part.decayed ? options.weight_decay : 0;
      update(x, 0.5 * gradient, static_cast<int>(before) + 1, options, 0.01, decay);
      // A weight is exact to some units in the last place of the larger of itself and its change.
      const double known = std::max(std::abs(weight), std::abs(x.weight - weight));
      EXPECT_NEAR(one(part.values), x.weight, 2e-6 * known) << weight << " by " << gradient;
      EXPECT_NEAR(one(state.first), x.first, 2e-6 * std::abs(x.first));
      // The root of a smaller number is far below epsilon.
      EXPECT_NEAR(one(state.second), x.second, 2e-6 * std::max(x.second, 1e-30));
    }
  }
}

TEST(FlatParameters, MovesTheModelsOwnTensors) {
  const at::Tensor matrix = parameter({3, 5}), vector = parameter({7});
  const at::Tensor copy = matrix.clone();
  FlatParameters flat({vector, matrix});
  EXPECT_TRUE(at::equal(matrix, copy));
  EXPECT_EQ(flat.parameter_count(), 22);
  flat.values().zero_();
  EXPECT_EQ(matrix.abs().sum().item<double>() + vector.abs().sum().item<double>(), 0);
  EXPECT_TRUE(matrix.requires_grad());
}

TEST(Clipping, ScalesToTheGlobalNorm) {
  const at::Tensor a = parameter({2, 2}), b = parameter({2});
  FlatParameters flat({a, b});
  const auto backward = [&] {
    flat.zero_gradients();
    (a.sum() * 3 + b.sum() * std::sqrt(14.0)).backward();  // norm sqrt(4 * 9 + 2 * 14) = 8
  };
  backward();
  const Clipping clipped = clipping(flat, 2.0);
  EXPECT_NEAR(clipped.norm, 8.0, 1e-5);
  EXPECT_NEAR(clipped.scale, 0.25, 1e-6);
  backward();
  EXPECT_NEAR(clipping(flat, 0).norm, 8.0, 1e-5);
  EXPECT_EQ(clipping(flat, 0).scale, 1.0);
  EXPECT_NEAR(a.grad()[0][0].item<double>(), 3.0, 1e-6);
}

TEST(Schedule, WarmsUpThenFalls) {
  const Schedule linear{
      .shape = ScheduleShape::linear, .peak = 1.0, .warmup = 4, .final_ratio = 0.2};
  EXPECT_DOUBLE_EQ(learning_rate_at(linear, 0, 105), 0.25);
  EXPECT_DOUBLE_EQ(learning_rate_at(linear, 3, 105), 1.0);
  EXPECT_DOUBLE_EQ(learning_rate_at(linear, 4, 105), 1.0);
  EXPECT_DOUBLE_EQ(learning_rate_at(linear, 54, 105), 0.6);
  EXPECT_DOUBLE_EQ(learning_rate_at(linear, 104, 105), 0.2);
  Schedule cosine = linear;
  cosine.shape = ScheduleShape::cosine;
  EXPECT_NEAR(learning_rate_at(cosine, 54, 105), 0.6, 1e-12);
  EXPECT_NEAR(learning_rate_at(cosine, 104, 105), 0.2, 1e-12);
  EXPECT_DOUBLE_EQ(learning_rate_at({.peak = 0.5}, 99, 100), 0.5);
}

}  // namespace
}  // namespace tritonsmith::train
