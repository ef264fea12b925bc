#include "gym/referee/draw.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/hash.h"
#include "gym/referee/operators.h"

namespace tritonsmith::gym {
namespace {

// Expanded tensors have several elements in one place, which in-place operators refuse.
bool can_change(const at::Tensor& tensor) {
  return tensor.defined() && tensor.is_floating_point() && tensor.numel() > 0 &&
         tensor.is_non_overlapping_and_dense();
}

bool is_generator(std::string_view op) {
  const std::string_view name = aten_base_name(op);
  return name == "rand" || name == "randn" || name == "rand_like" || name == "randn_like" ||
         name == "normal" || name == "uniform" || name == "uniform_" || name == "normal_";
}

enum class Chance { none, as_drawn, calculated };

// Copies, casts, views of all elements, and arithmetic with one number: the elements are by chance
// as before.
Chance kept_chance(const AtenCall& call) {
  static const std::set<std::string_view> arranges = {
      "_to_copy",     "to",      "clone", "contiguous", "detach",  "alias",     "view",
      "_unsafe_view", "reshape", "t",     "transpose",  "permute", "unsqueeze", "squeeze"};
  static const std::set<std::string_view> calculates = {"mul", "div", "add", "sub"};
  const std::string_view name = aten_base_name(call.op);
  const auto is_number = [](const Value& value) {
    return std::holds_alternative<double>(value.data) ||
           std::holds_alternative<std::int64_t>(value.data);
  };
  if (arranges.contains(name)) return Chance::as_drawn;
  const bool with_number =
      calculates.contains(name) && call.args.size() > 1 && is_number(call.args[1]);
  return with_number || name == "neg" ? Chance::calculated : Chance::none;
}

// How a tensor was made: by a random generator alone, or arranged and scaled since.
Chance chance_of(const Plan& task, int tensor) {
  Chance chance = Chance::none;
  for (const PlanStep& step : task.steps) {
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr || step.phase != Phase::inputs) continue;
    if (std::ranges::find(call->outputs, tensor) == call->outputs.end()) continue;
    if (leaves_unwritten(call->op)) continue;  // normal_() and its like fill it
    if (is_generator(call->op)) {
      chance = Chance::as_drawn;
      continue;
    }
    const Chance kept = kept_chance(*call);
    const auto* from = call->args.empty() ? nullptr : std::get_if<TensorRef>(&call->args[0].data);
    if (kept == Chance::none || from == nullptr || from->index == tensor) return Chance::none;
    const Chance before = chance_of(task, from->index);
    if (before == Chance::none) return Chance::none;
    chance = std::max(before, kept);
  }
  return chance;
}

bool straight_from_generator(const Plan& task, int tensor) {
  return chance_of(task, tensor) != Chance::none;
}

InputChange scaled(Rng& rng) {
  return {.factor = (0.5 + 2.5 * rng.uniform()) * (rng.below(2) == 0 ? 1 : -1)};
}

// `nth` of the inputs that come straight from a generator; `beyond_all`: farther than nearly all of
// its numbers.
InputChange extreme(TrialKind kind, int nth, double beyond_all) {
  constexpr double beyond_exponentials = 100;  // exp(89) overflows in fp32
  constexpr double near_epsilons = 0.05;       // its square makes a norm's 1e-5 count
  const bool even = nth % 2 == 0;
  if (kind == TrialKind::shifted) return {.shift = beyond_exponentials};
  if (kind == TrialKind::small) return {.factor = near_epsilons};
  if (kind == TrialKind::above || kind == (even ? TrialKind::crossed : TrialKind::parted))
    return {.shift = beyond_all};
  return {.shift = -beyond_all};
}

// Of few normal numbers is one farther from 0 than 4.
double beyond_all(const Plan& task, int tensor, const at::Tensor& drawn) {
  constexpr double beyond_normal = 4;
  if (chance_of(task, tensor) != Chance::calculated) return beyond_normal;
  const double largest = drawn.abs().max().to(at::kDouble).item<double>();
  return std::max(beyond_normal, std::min(largest, 1e4));
}

bool has_digits_for_hundreds(const Plan& task, int tensor) {
  const DType dtype = task.tensors.at(static_cast<std::size_t>(tensor)).dtype;
  return dtype == DType::float32 || dtype == DType::float64;
}

bool is_floating(const Plan& task, int tensor) {
  const DType dtype = task.tensors.at(static_cast<std::size_t>(tensor)).dtype;
  return dtype == DType::float16 || dtype == DType::bfloat16 ||
         has_digits_for_hundreds(task, tensor);
}

bool has_16_bits(const Plan& task, int tensor) {
  return is_floating(task, tensor) && !has_digits_for_hundreds(task, tensor);
}

// Few, so that most parts of a row have none; so large that each moves a mean of tens of thousands.
InputChange spiked(const at::Tensor& tensor, Rng& rng) {
  constexpr double one_in = 8192, least = 16, times = 1024;
  const double share = std::max(1 / one_in, least / static_cast<double>(tensor.numel()));
  return {.kept = 1 - std::min(share, 0.25), .rest = times, .seed = rng.next_u64()};
}

InputChange sparse(Rng& rng) {
  const double kept = 0.05 + 0.3 * rng.uniform();
  return {.factor = 2, .kept = kept, .seed = rng.next_u64()};
}

}  // namespace

TrialKind kind_of_trial(int trial) {
  if (trial % 3 == 1) return TrialKind::scaled;
  if (trial % 3 == 2) return TrialKind::sparse;
  return TrialKind::plain;
}

std::uint64_t trial_seed(std::string_view secret, std::string_view purpose, int trial) {
  return secret_seed(secret, fmt::format("{}/{}", purpose, trial));
}

std::vector<int> input_tensors(const Plan& plan) {
  std::vector<int> all, distinct;
  for (const Value& input : plan.inputs) append_tensors(input, all);
  for (const int index : all)
    if (std::ranges::find(distinct, index) == distinct.end()) distinct.push_back(index);
  return distinct;
}

std::vector<TrialKind> extreme_kinds(const Plan& task) {
  int free = 0;
  bool precise = false;
  int of_16_bits = 0;
  for (const int index : input_tensors(task)) {
    if (!is_floating(task, index) || !straight_from_generator(task, index)) continue;
    ++free;
    precise = precise || has_digits_for_hundreds(task, index);
    of_16_bits += has_16_bits(task, index) ? 1 : 0;
  }
  std::vector<TrialKind> kinds;
  if (precise) kinds = {TrialKind::shifted, TrialKind::small};
  if (free > 0) kinds.insert(kinds.end(), {TrialKind::below, TrialKind::above});
  if (free > 1) kinds.insert(kinds.end(), {TrialKind::parted, TrialKind::crossed});
  if (of_16_bits > 0) kinds.push_back(TrialKind::spiked);
  if (of_16_bits > 1) kinds.push_back(TrialKind::last_spiked);
  return kinds;
}

bool is_spiked(TrialKind kind) {
  return kind == TrialKind::spiked || kind == TrialKind::last_spiked;
}

bool is_extreme(TrialKind kind) { return !what_is_done(kind).empty(); }

std::string_view what_is_done(TrialKind extreme) {
  switch (extreme) {
    case TrialKind::shifted:
      return "100 added to";
    case TrialKind::small:
      return "a twentieth of";
    case TrialKind::below:
      return "4 taken from";
    case TrialKind::above:
      return "4 added to";
    case TrialKind::parted:
      return "4 taken from, added to, taken from, ... one after another of";
    case TrialKind::crossed:
      return "4 added to, taken from, added to, ... one after another of";
    case TrialKind::spiked:
      return "a few elements 1024 times as large in";
    case TrialKind::last_spiked:
      return "a few elements 1024 times as large in the last of";
    case TrialKind::negated:
      return "the opposite of";
    case TrialKind::plain:
    case TrialKind::scaled:
    case TrialKind::sparse:
      break;
  }
  return "";
}

std::vector<InputChange> input_changes(const Plan& task, TrialKind kind, Rng& rng,
                                       const TensorTable& tensors) {
  int nth_free = 0;
  std::vector<InputChange> changes;
  for (const int index : input_tensors(task)) {
    InputChange& change = changes.emplace_back();
    if (kind == TrialKind::plain || !can_change(tensors.at(static_cast<std::size_t>(index))))
      continue;
    const bool free = straight_from_generator(task, index);
    if (kind == TrialKind::negated) {
      change = {.factor = -1};
    } else if (is_spiked(kind)) {
      if (!free || !has_16_bits(task, index)) continue;
      if (kind == TrialKind::last_spiked) std::ranges::fill(changes, InputChange{});
      change = spiked(tensors.at(static_cast<std::size_t>(index)), rng);
    } else if (is_extreme(kind)) {
      const at::Tensor& drawn = tensors.at(static_cast<std::size_t>(index));
      if (free) change = extreme(kind, nth_free++, beyond_all(task, index, drawn));
    } else {
      change = kind == TrialKind::sparse && free ? sparse(rng) : scaled(rng);
    }
  }
  return changes;
}

void change_input(const InputChange& change, at::Tensor& tensor) {
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

void perturb_inputs(const Plan& task, TrialKind kind, Rng& rng, TensorTable& tensors) {
  const std::vector<InputChange> changes = input_changes(task, kind, rng, tensors);
  const std::vector<int> inputs = input_tensors(task);
  for (std::size_t k = 0; k < inputs.size(); ++k)
    change_input(changes[k], tensor_at(tensors, inputs[k]));
}

void perturb_constant_parameters(const Plan& task, const std::set<int>& changeable, Rng& rng,
                                 TensorTable& tensors) {
  for (const PlanParameter& parameter : task.parameters) {
    if (!changeable.contains(parameter.tensor)) continue;
    at::Tensor& tensor = tensor_at(tensors, parameter.tensor);
    if (!can_change(tensor) || !tensor.eq(tensor.flatten()[0]).all().item<bool>()) continue;
    auto generator = at::detail::createCPUGenerator(rng.next_u64());
    const at::Tensor noise = at::randn(tensor.sizes(), generator, at::dtype(at::kFloat));
    tensor.add_(noise.to(tensor.options()), 0.1);
  }
}

at::Tensor storage_bytes(const at::Tensor& tensor) {
  const c10::Storage& storage = tensor.storage();
  at::Tensor bytes = at::empty({0}, tensor.options().dtype(at::kByte));
  bytes.set_(storage, 0, {static_cast<std::int64_t>(storage.nbytes())}, {1});
  return bytes;
}

TensorTable copy_with_storages(const TensorTable& tensors, Place& place) {
  std::map<const void*, at::Tensor> bytes_of_storage;  // one byte tensor a storage
  TensorTable copies;
  for (const at::Tensor& tensor : tensors) {
    if (!tensor.defined()) {
      copies.emplace_back();
      continue;
    }
    const c10::Storage& storage = tensor.storage();
    auto [at, is_new] = bytes_of_storage.try_emplace(storage.unsafeGetStorageImpl());
    if (is_new) {
      const at::Tensor bytes = storage_bytes(tensor);
      at->second = place.filled(at::empty_like(bytes));
      at->second.copy_(bytes);
    }
    at::Tensor copy = at::empty({0}, tensor.options());
    copy.set_(at->second.storage(), tensor.storage_offset(), tensor.sizes(), tensor.strides());
    copies.push_back(std::move(copy));
  }
  return copies;
}

}  // namespace tritonsmith::gym
