#include "gym/trial/weights/weight_changes.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace tritonsmith::gym::trial {
namespace {

constexpr double kHeavy = 32;

// Expanded tensors have several elements at one address, which in-place operators refuse.
bool can_change(const at::Tensor& tensor) {
  return tensor.defined() && tensor.is_floating_point() && tensor.numel() > 0 &&
         tensor.is_non_overlapping_and_dense();
}

at::Tensor noise_of(at::IntArrayRef sizes, Rng& rng) {
  auto generator = at::detail::createCPUGenerator(rng.next_u64());
  return at::randn(sizes, generator, at::dtype(at::kFloat));
}

at::Tensor noise_like(const at::Tensor& tensor, Rng& rng) { return noise_of(tensor.sizes(), rng); }

// Moves each element up or down at random. The kind of trial decides about the first element, so
// that a single element goes both ways. In sparse trials elements start from 0, because beside 1e5,
// or under a sigmoid(-12), a move by 1 shows nothing.
void move_far(at::Tensor& tensor, Perturbation kind, Rng& rng) {
  at::Tensor noise = noise_like(tensor, rng);
  noise = noise.sign() * (1 + noise.abs().fmod(1));
  at::Tensor first = noise.flatten()[0];
  first.abs_();
  if (kind == Perturbation::sparse) {
    first.neg_();
    tensor.zero_();
  }
  tensor.add_(noise.to(tensor.options()));
}

bool has_one_sign(const at::Tensor& tensor) {
  const at::Tensor sign = tensor.sign();
  return sign.eq(sign.flatten()[0]).all().item<bool>();
}

// Draws the signs at random if all elements have the same sign.
void mix_signs(at::Tensor& tensor, Rng& rng) {
  if (!has_one_sign(tensor)) return;
  at::Tensor signs = noise_like(tensor, rng).sign();
  signs.flatten()[0].abs_().neg_();
  tensor.mul_(signs.to(tensor.options()));
}

double size_of(const at::Tensor& tensor) {
  return tensor.to(at::kFloat).square().mean().sqrt().item<double>();
}

// Scales the weight up, so that sums of products are as large as their inputs.
void make_count(at::Tensor& tensor) {
  const double size = size_of(tensor);
  const auto rows = static_cast<double>(tensor.dim() > 1 ? tensor.size(0) : tensor.numel());
  const double wanted = std::sqrt(rows / static_cast<double>(tensor.numel()));
  if (size > 0 && size < wanted) tensor.mul_(wanted / size);
}

// Gives each row a factor of its own, and each element some noise. Weights of one sign keep it.
void break_structure(at::Tensor& tensor, Rng& rng) {
  constexpr double of_rows = 0.4, of_elements = 0.3;
  const double size = size_of(tensor);
  const bool keeps_sign = has_one_sign(tensor);
  if (tensor.dim() > 1) {
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(tensor.dim()), 1);
    sizes[0] = tensor.size(0);
    tensor.mul_(noise_of(sizes, rng).clamp_(-2, 2).mul_(of_rows).exp_().to(tensor.options()));
  }
  const at::Tensor noise = noise_like(tensor, rng).mul_(of_elements);
  if (keeps_sign)
    tensor.mul_(noise.exp().to(tensor.options()));
  else
    tensor.add_((noise * size).to(tensor.options()));
}

// Makes one element in some much larger, beyond a bound at which forward may clamp weights.
void make_few_large(at::Tensor& tensor, double one_in, Rng& rng) {
  constexpr double times = 8;
  auto generator = at::detail::createCPUGenerator(rng.next_u64());
  const at::Tensor chosen =
      at::rand(tensor.sizes(), generator, at::dtype(at::kFloat)).lt(1 / one_in);
  tensor.mul_(at::where(chosen, times, 1.0).to(tensor.options()));
}

// Makes one variance in eight so small that an epsilon beside it counts.
void make_few_small(at::Tensor& variances, Rng& rng) {
  constexpr std::int64_t one_in = 8;
  constexpr double times = 1.0 / 1024;
  if (variances.min().item<double>() <= 0) return;  // means
  at::Tensor all = variances.view({-1});
  const auto first = static_cast<std::int64_t>(
      rng.below(static_cast<std::uint64_t>(std::min(one_in, all.numel()))));
  all.slice(0, first, all.numel(), one_in).mul_(times);
}

// A scale, an epsilon or a temperature stays what it is. It gets a factor of 0.7 to 1.3, or a small
// number instead of 0.
void change_number(at::Tensor& number, Rng& rng) {
  const double part = (0.15 + 0.15 * rng.uniform()) * (rng.below(2) == 0 ? 1 : -1);
  if (number.ne(0).all().item<bool>())
    number.mul_(1 + part);
  else
    number.add_(part);
}

void make_heavy(at::Tensor& tensor, Rng& rng) {
  make_count(tensor);
  tensor.mul_(kHeavy);
  make_few_large(tensor, 16, rng);
}

// Training gives a parameter either sign. A buffer keeps its sign, for it may hold scales or penalties.
void change_drawn(at::Tensor& tensor, Perturbation kind, WeightChange change, bool is_parameter,
                  Rng& rng) {
  if (change == WeightChange::heavy) make_heavy(tensor, rng);
  if (change != WeightChange::strong) return;
  make_count(tensor);
  if (kind == Perturbation::sparse && is_parameter) mix_signs(tensor, rng);
  break_structure(tensor, rng);
  if (kind == Perturbation::sparse) make_few_large(tensor, 64, rng);
}

}  // namespace

WeightChange weight_change(Perturbation kind) {
  if (kind == Perturbation::heavy) return WeightChange::heavy;
  if (kind == Perturbation::plain) return WeightChange::none;
  return is_extreme(kind) ? WeightChange::gentle : WeightChange::strong;
}

void change_weights(const plan::Plan& task, const ChangeableWeights& changeable, Perturbation kind,
                    WeightChange change, Rng& rng, tensors::TensorTable& tensors) {
  if (change == WeightChange::none) return;
  const auto group_of = [&](int tensor) {
    const auto at = changeable.alike.find(tensor);
    return at == changeable.alike.end() ? tensor : at->second;
  };
  std::set<int> calm;  // variances, which stay above 0
  for (const int tensor : changeable.statistics) calm.insert(group_of(tensor));
  const std::uint64_t noise_seed = rng.next_u64();
  std::set<const void*> seen;  // tied weights change once
  for (const plan::PlanParameter& parameter : task.parameters) {
    at::Tensor& tensor = tensors::tensor_at(tensors, parameter.tensor);
    if (!can_change(tensor) || !seen.insert(tensor.const_data_ptr()).second) continue;
    const int group = group_of(parameter.tensor);
    Rng noise(noise_seed, "weight", static_cast<std::uint64_t>(group));
    if (changeable.numbers.contains(parameter.tensor)) {
      change_number(tensor, noise);
    } else if (changeable.given.contains(parameter.tensor)) {
      if (change == WeightChange::strong && !calm.contains(group)) {
        move_far(tensor, kind, noise);
        continue;
      }
      tensor.add_(noise_like(tensor, noise).to(tensor.options()), 0.1);
      if (change == WeightChange::strong && kind == Perturbation::sparse)
        make_few_small(tensor, noise);
    } else if (changeable.drawn.contains(parameter.tensor)) {
      change_drawn(tensor, kind, change, parameter.kind == plan::ParameterKind::parameter, noise);
    }
  }
}

}  // namespace tritonsmith::gym::trial
