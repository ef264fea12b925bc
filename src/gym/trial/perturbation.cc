#include "gym/trial/perturbation.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/hash.h"
#include "gym/plan/analysis/random_origin.h"
#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::trial {
namespace {

// Expanded tensors have several elements at one address, which in-place operators refuse.
bool can_change(const at::Tensor& tensor) {
  return tensor.defined() && tensor.is_floating_point() && tensor.numel() > 0 &&
         tensor.is_non_overlapping_and_dense();
}

bool straight_from_generator(const plan::Plan& task, int tensor) {
  return plan::analysis::random_origin_of(task, tensor) != plan::analysis::RandomOrigin::none;
}

// An input that is not random may be sorted or hold widths, so its sign stays.
device::InputChange scaled(Rng& rng, bool is_random) {
  const double factor = 0.5 + 2.5 * rng.uniform();
  return {.factor = is_random && rng.below(2) == 0 ? -factor : factor};
}

// True for zeros that the task always makes, like a first hidden state. No factor changes them.
bool is_nothing(const at::Tensor& tensor) {
  // any() lacks some types of 8 bits
  return tensor.element_size() > 1 && !tensor.any().item<bool>();
}

// `nth` counts the inputs that come straight from a generator. `beyond_all` is farther from 0 than
// nearly all of the generator's numbers.
device::InputChange extreme(Perturbation kind, int nth, double beyond_all, bool is_coarse) {
  constexpr double beyond_exponentials = 100;  // exp(89) overflows in fp32
  constexpr double below_exponentials = -110;  // exp(-104) is 0
  // The input's square makes a norm's epsilon of 1e-5 count. In 16 bits a few thousandths do so.
  const double near_epsilons = is_coarse ? 1.0 / 256 : 0.05;
  const bool even = nth % 2 == 0;
  if (kind == Perturbation::shifted) return {.shift = beyond_exponentials};
  if (kind == Perturbation::lowered) return {.shift = below_exponentials};
  if (kind == Perturbation::small) return {.factor = near_epsilons};
  if (kind == Perturbation::above || kind == (even ? Perturbation::crossed : Perturbation::parted))
    return {.shift = beyond_all};
  return {.shift = -beyond_all};
}

// Few samples of a normal distribution lie farther from 0 than 4.
double beyond_all(const plan::Plan& task, int tensor, const at::Tensor& drawn) {
  constexpr double beyond_normal = 4;
  if (plan::analysis::random_origin_of(task, tensor) != plan::analysis::RandomOrigin::calculated)
    return beyond_normal;
  const double largest = drawn.abs().max().to(at::kDouble).item<double>();
  return std::max(beyond_normal, std::min(largest, 1e4));
}

bool has_digits_for_hundreds(const plan::Plan& task, int tensor) {
  const plan::DType dtype = task.tensors.at(static_cast<std::size_t>(tensor)).dtype;
  return dtype == plan::DType::float32 || dtype == plan::DType::float64;
}

bool is_floating(const plan::Plan& task, int tensor) {
  const plan::DType dtype = task.tensors.at(static_cast<std::size_t>(tensor)).dtype;
  return dtype == plan::DType::float16 || dtype == plan::DType::bfloat16 ||
         has_digits_for_hundreds(task, tensor);
}

bool has_16_bits(const plan::Plan& task, int tensor) {
  return is_floating(task, tensor) && !has_digits_for_hundreds(task, tensor);
}

// The spikes are few, so that most parts of a row have none. They are large, so that each one moves
// a mean of tens of thousands of elements.
device::InputChange spiked(const at::Tensor& tensor, Rng& rng) {
  constexpr double one_in = 8192, least = 16, times = 1024;
  const double share = std::max(1 / one_in, least / static_cast<double>(tensor.numel()));
  return {.kept = 1 - std::min(share, 0.25), .rest = times, .seed = rng.next_u64()};
}

device::InputChange sparse(Rng& rng) {
  const double kept = 0.05 + 0.3 * rng.uniform();
  return {.factor = 2, .kept = kept, .seed = rng.next_u64()};
}

}  // namespace

Perturbation perturbation_of_trial(int trial) {
  if (trial % 3 == 1) return Perturbation::scaled;
  if (trial % 3 == 2) return Perturbation::sparse;
  return Perturbation::plain;
}

std::uint64_t trial_seed(std::string_view secret, std::string_view purpose, int trial) {
  return secret_seed(secret, fmt::format("{}/{}", purpose, trial));
}

std::vector<int> input_tensors(const plan::Plan& plan) {
  std::vector<int> all, distinct;
  for (const plan::Value& input : plan.inputs) plan::append_tensors(input, all);
  for (const int index : all)
    if (std::ranges::find(distinct, index) == distinct.end()) distinct.push_back(index);
  return distinct;
}

// True for a task whose forward gives places among ordered values. Zeros would make many of
// its values equal.
bool asks_for_places(const plan::Plan& task) {
  return std::ranges::any_of(task.steps, [](const plan::PlanStep& step) {
    const auto* call = std::get_if<plan::AtenCall>(&step.action);
    return call != nullptr && step.phase == plan::Phase::forward &&
           plan::operators::is(call->op, plan::operators::Trait::orders);
  });
}

bool decides_by_scores(const plan::Plan& task) {
  using plan::operators::Trait;
  bool has_softmax = false, has_product = false;
  for (const plan::PlanStep& step : task.steps) {
    const auto* call = std::get_if<plan::AtenCall>(&step.action);
    if (call == nullptr || step.phase != plan::Phase::forward) continue;
    const plan::operators::Traits traits =
        plan::operators::traits_of(plan::operators::aten_base_name(call->op));
    const bool attends = traits.has(Trait::attention);
    has_softmax = has_softmax || attends || traits.has(Trait::softmax);
    has_product = has_product || attends || traits.has(Trait::scores);
  }
  return has_softmax && has_product;
}

std::vector<Perturbation> extreme_perturbations(const plan::Plan& task) {
  int free = 0;
  bool precise = false;
  int of_16_bits = 0;
  for (const int index : input_tensors(task)) {
    if (!is_floating(task, index) || !straight_from_generator(task, index)) continue;
    ++free;
    precise = precise || has_digits_for_hundreds(task, index);
    of_16_bits += has_16_bits(task, index) ? 1 : 0;
  }
  std::vector<Perturbation> kinds;
  if (precise) kinds = {Perturbation::shifted, Perturbation::lowered};
  if (free > 0)
    kinds.insert(kinds.end(), {Perturbation::small, Perturbation::below, Perturbation::above});
  if (free > 1) kinds.insert(kinds.end(), {Perturbation::parted, Perturbation::crossed});
  if (of_16_bits > 0) kinds.push_back(Perturbation::spiked);
  if (of_16_bits > 1) kinds.push_back(Perturbation::last_spiked);
  if (!plan::analysis::drawn_storages(task, plan::Phase::init).empty())
    kinds.push_back(Perturbation::heavy);
  return kinds;
}

bool is_spiked(Perturbation kind) {
  return kind == Perturbation::spiked || kind == Perturbation::last_spiked;
}

bool moves_a_little(Perturbation kind) {
  return kind == Perturbation::below || kind == Perturbation::above ||
         kind == Perturbation::parted || kind == Perturbation::crossed;
}

bool is_extreme(Perturbation kind) { return !what_is_done(kind).empty(); }

std::string_view what_is_done(Perturbation extreme) {
  switch (extreme) {
    case Perturbation::shifted:
      return "100 added to the inputs";
    case Perturbation::lowered:
      return "110 taken from the inputs";
    case Perturbation::small:
      return "a small part of the inputs";
    case Perturbation::below:
      return "4 taken from the inputs";
    case Perturbation::above:
      return "4 added to the inputs";
    case Perturbation::parted:
      return "4 taken from, added to, taken from, ... one after another of the inputs";
    case Perturbation::crossed:
      return "4 added to, taken from, added to, ... one after another of the inputs";
    case Perturbation::spiked:
      return "a few elements 1024 times as large in the inputs";
    case Perturbation::last_spiked:
      return "a few elements 1024 times as large in the last of the inputs";
    case Perturbation::heavy:
      return "32 times the drawn weights";
    case Perturbation::negated:
      return "the opposite of the inputs";
    case Perturbation::plain:
    case Perturbation::scaled:
    case Perturbation::sparse:
      break;
  }
  return "";
}

std::vector<device::InputChange> input_changes(const plan::Plan& task, Perturbation kind, Rng& rng,
                                               const tensors::TensorTable& tensors) {
  int nth_free = 0;
  const std::set<int> drawn_storage = plan::analysis::drawn_storages(task, plan::Phase::inputs);
  std::vector<device::InputChange> changes;
  for (const int index : input_tensors(task)) {
    device::InputChange& change = changes.emplace_back();
    if (kind == Perturbation::plain || kind == Perturbation::heavy ||
        !can_change(tensors.at(static_cast<std::size_t>(index))))
      continue;
    const bool free = straight_from_generator(task, index);
    const bool is_random = drawn_storage.contains(plan::analysis::storage_of(task, index));
    if (kind == Perturbation::negated) {
      if (is_random) change = {.factor = -1};
    } else if (is_spiked(kind)) {
      if (!free || !has_16_bits(task, index)) continue;
      if (kind == Perturbation::last_spiked) std::ranges::fill(changes, device::InputChange{});
      change = spiked(tensors.at(static_cast<std::size_t>(index)), rng);
    } else if (is_extreme(kind)) {
      const at::Tensor& drawn = tensors.at(static_cast<std::size_t>(index));
      if (free)
        change =
            extreme(kind, nth_free++, beyond_all(task, index, drawn), has_16_bits(task, index));
    } else {
      const bool thins = kind == Perturbation::sparse && free && !asks_for_places(task);
      change = thins ? sparse(rng) : scaled(rng, is_random);
      if (kind == Perturbation::sparse && !is_random &&
          is_nothing(tensors.at(static_cast<std::size_t>(index))))
        change = {.shift = 0.5 + rng.uniform()};
    }
  }
  return changes;
}

void change_input(const device::InputChange& change, at::Tensor& tensor) {
  if (change.kept < 1) {
    const at::Tensor mask =
        at::rand(tensor.sizes(), at::dtype(at::kFloat).device(tensor.device())).lt_(change.kept);
    if (change.rest == 0)
      tensor.mul_(mask.to(tensor.scalar_type()));
    else
      tensor.copy_(at::where(mask.to(at::kBool), tensor, tensor * change.rest));
  }
  if (change.factor != 1) tensor.mul_(change.factor);
  if (change.shift != 0) tensor.add_(change.shift);
}

void perturb_inputs(const plan::Plan& task, Perturbation kind, Rng& rng,
                    tensors::TensorTable& tensors) {
  const std::vector<device::InputChange> changes = input_changes(task, kind, rng, tensors);
  const std::vector<int> inputs = input_tensors(task);
  for (std::size_t k = 0; k < inputs.size(); ++k)
    change_input(changes[k], tensors::tensor_at(tensors, inputs[k]));
}

WeightChange weight_change(Perturbation kind) {
  if (kind == Perturbation::heavy) return WeightChange::heavy;
  if (kind == Perturbation::plain) return WeightChange::none;
  return is_extreme(kind) ? WeightChange::gentle : WeightChange::strong;
}

namespace {

constexpr double kHeavy = 32;

at::Tensor noise_like(const at::Tensor& tensor, Rng& rng) {
  auto generator = at::detail::createCPUGenerator(rng.next_u64());
  return at::randn(tensor.sizes(), generator, at::dtype(at::kFloat));
}

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

// Draws the signs at random if all elements have the same sign.
void mix_signs(at::Tensor& tensor, Rng& rng) {
  const at::Tensor sign = tensor.sign();
  if (!sign.eq(sign.flatten()[0]).all().item<bool>()) return;
  at::Tensor signs = noise_like(tensor, rng).sign();
  signs.flatten()[0].abs_().neg_();
  tensor.mul_(signs.to(tensor.options()));
}

// Scales the weight up, so that sums of products are as large as their inputs.
void make_count(at::Tensor& tensor) {
  const double size = tensor.to(at::kFloat).square().mean().sqrt().item<double>();
  const auto rows = static_cast<double>(tensor.dim() > 1 ? tensor.size(0) : tensor.numel());
  const double wanted = std::sqrt(rows / static_cast<double>(tensor.numel()));
  if (size > 0 && size < wanted) tensor.mul_(wanted / size);
}

}  // namespace

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
    if (changeable.given.contains(parameter.tensor)) {
      const int group = group_of(parameter.tensor);
      Rng noise(noise_seed, "weight", static_cast<std::uint64_t>(group));
      if (change == WeightChange::strong && !calm.contains(group))
        move_far(tensor, kind, noise);
      else
        tensor.add_(noise_like(tensor, noise).to(tensor.options()), 0.1);
    } else if (changeable.drawn.contains(parameter.tensor)) {
      if (change == WeightChange::strong) make_count(tensor);
      if (change == WeightChange::strong && kind == Perturbation::sparse) {
        Rng noise(noise_seed, "weight", static_cast<std::uint64_t>(group_of(parameter.tensor)));
        mix_signs(tensor, noise);
      }
      if (change == WeightChange::heavy) tensor.mul_(kHeavy);
    }
  }
}

}  // namespace tritonsmith::gym::trial
