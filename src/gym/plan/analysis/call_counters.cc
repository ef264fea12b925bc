#include "gym/plan/analysis/call_counters.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

#include "gym/plan/analysis/batch_counter.h"
#include "gym/plan/analysis/random_origin.h"
#include "gym/plan/analysis/whole_inputs.h"
#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

using operators::Trait;

constexpr std::string_view kCounts = "num_batches_tracked";
constexpr std::size_t kMean = 3, kTraining = 5, kMomentum = 6;  // of the arguments of batch_norm

const PlanTensor& declared(const Plan& task, int tensor) {
  return task.tensors.at(static_cast<std::size_t>(tensor));
}

std::optional<std::int64_t> whole_number(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value.data)) return *whole;
  const auto* real = std::get_if<double>(&value.data);
  constexpr double most = 1 << 24;
  if (real == nullptr || std::abs(*real) > most || *real != std::floor(*real)) return std::nullopt;
  return static_cast<std::int64_t>(*real);
}

// The steps of forward that write to one memory, and how its content comes about.
class Writes {
 public:
  explicit Writes(const Plan& task) : task_(task) {
    for (const PlanStep& step : task.steps) {
      const auto* call = std::get_if<AtenCall>(&step.action);
      if (call == nullptr || step.phase != Phase::forward) continue;
      for (const int output : written_by(*call)) writers_[storage_of(task, output)].push_back(call);
      for (const int output : call->outputs)
        if (output >= 0) made_by_.try_emplace(output, call);
    }
  }

  bool changes(int tensor) const { return writers_.contains(storage_of(task_, tensor)); }

  // Returns what each call adds to the tensor, or nothing if forward does anything else with it.
  std::optional<CallCounter> counter(int tensor) const {
    const auto at = writers_.find(storage_of(task_, tensor));
    if (at == writers_.end() || at->second.size() > 2) return std::nullopt;
    const AtenCall& first = *at->second.front();
    std::optional<CallCounter> found =
        first.op == "aten::copy_" ? copied(first, tensor) : added(first, tensor, {"add_", "sub_"});
    if (found && at->second.size() == 2) {
      const std::int64_t modulus = modulus_of(*at->second.back());
      if (modulus == 0 || found->modulus != 0) return std::nullopt;
      found->modulus = modulus;
    }
    return found;
  }

 private:
  static std::vector<int> written_by(const AtenCall& call) {
    std::vector<int> written;
    for (const auto& [name, argument] : call.kwargs)
      if (name == "out") append_tensors(argument, written);
    if (operators::writes_in_place(call.op))
      written.insert(written.end(), call.outputs.begin(), call.outputs.end());
    std::erase_if(written, [](int output) { return output < 0; });
    return written;
  }

  bool is_memory_of(const Value& value, int tensor) const {
    const auto* given = std::get_if<TensorRef>(&value.data);
    return given != nullptr && storage_of(task_, given->index) == storage_of(task_, tensor);
  }

  std::optional<CallCounter> added(const AtenCall& call, int tensor,
                                   std::pair<std::string_view, std::string_view> names) const {
    const std::string_view name = operators::aten_base_name(call.op);
    if ((name != names.first && name != names.second) || call.args.size() < 2 ||
        !is_memory_of(call.args[0], tensor))
      return std::nullopt;
    constexpr std::int64_t most = 1024;
    const auto number = whole_number(call.args[1]);
    std::optional<std::int64_t> times = 1;
    if (call.args.size() > 2) times = whole_number(call.args[2]);
    for (const auto& [key, value] : call.kwargs) times = whole_number(value);
    if (!number || !times || *number == 0 || *times == 0 || std::abs(*number) > most ||
        std::abs(*times) > most)
      return std::nullopt;
    return CallCounter{.tensor = tensor,
                       .step = *number * *times * (name == names.second ? -1 : 1)};
  }

  std::optional<CallCounter> copied(const AtenCall& copy, int tensor) const {
    const AtenCall* made = copy.args.size() < 2 ? nullptr : maker(copy.args[1]);
    if (made == nullptr) return std::nullopt;
    const std::int64_t modulus = modulus_of(*made);
    if (modulus != 0) made = maker(made->args[0]);
    if (made == nullptr) return std::nullopt;
    std::optional<CallCounter> found = added(*made, tensor, {"add", "sub"});
    if (found) found->modulus = modulus;
    return found;
  }

  const AtenCall* maker(const Value& value) const {
    const auto* given = std::get_if<TensorRef>(&value.data);
    const auto at = given == nullptr ? made_by_.end() : made_by_.find(given->index);
    return at == made_by_.end() ? nullptr : at->second;
  }

  static std::int64_t modulus_of(const AtenCall& call) {
    const std::string_view name = operators::aten_base_name(call.op);
    if ((name != "remainder" && name != "remainder_") || call.args.size() < 2) return 0;
    return std::max<std::int64_t>(0, whole_number(call.args[1]).value_or(0));
  }

  const Plan& task_;
  std::map<int, std::vector<const AtenCall*>> writers_;  // by storage
  std::map<int, const AtenCall*> made_by_;               // by tensor
};

bool is_counter_by_form(const Plan& task, const PlanParameter& parameter) {
  const PlanTensor& tensor = declared(task, parameter.tensor);
  return parameter.kind == ParameterKind::buffer && elements_of(tensor) == 1 &&
         (holds_real_numbers(tensor.dtype) || holds_whole_numbers(tensor.dtype));
}

bool holds_whole_or_truth(const PlanTensor& tensor) {
  return tensor.dtype == DType::boolean || holds_whole_numbers(tensor.dtype);
}

// Returns the names of the batch norms that train their statistics with the momentum of a first call, 1.
std::set<std::string> averaging_norms(const Plan& task) {
  std::set<std::string> names;
  for (const PlanStep& step : task.steps) {
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr || step.phase != Phase::forward || call->op != "aten::batch_norm" ||
        call->args.size() <= kMomentum || call->args[kTraining] != Value{true} ||
        call->args[kMomentum] != Value{1.0})
      continue;
    const auto* mean = std::get_if<TensorRef>(&call->args[kMean].data);
    for (const PlanParameter& parameter : task.parameters)
      if (mean != nullptr && parameter.tensor == mean->index &&
          parameter.name.ends_with("running_mean"))
        names.insert(parameter.name.substr(0, parameter.name.rfind("running_mean")));
  }
  return names;
}

// Returns the number that the constructor leaves in the tensor, or 0 if the plan does not tell.
std::int64_t first_number(const Plan& task, int tensor) {
  std::int64_t number = 0;
  for (const PlanStep& step : task.steps) {
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr || step.phase != Phase::init || call->outputs.empty() ||
        call->outputs[0] < 0 || storage_of(task, call->outputs[0]) != storage_of(task, tensor))
      continue;
    const std::string_view name = operators::aten_base_name(call->op);
    if (name == "zeros" || name == "zero_") number = 0;
    if (name == "ones") number = 1;
    if ((name == "full" || name == "fill_") && call->args.size() > 1)
      number = whole_number(call->args[1]).value_or(0);
  }
  return number;
}

// Returns the whole numbers and sizes beside which an operator puts the counters among its arguments.
std::vector<std::int64_t> numbers_beside(const Plan& task, const AtenCall& call,
                                         const std::set<int>& counting) {
  constexpr std::int64_t least = 2, most = 1 << 20;
  std::vector<std::int64_t> numbers;
  for (const Value& argument : call.args)
    if (const auto number = whole_number(argument)) numbers.push_back(std::abs(*number));
  for (const int tensor : tensors_given_to(call)) {
    if (counting.contains(storage_of(task, tensor))) continue;
    const std::vector<std::int64_t>& sizes = declared(task, tensor).shape;
    if (sizes.size() == 1 || operators::is(call.op, Trait::checks_indices))
      numbers.insert(numbers.end(), sizes.begin(), sizes.end());
  }
  std::erase_if(numbers, [&](std::int64_t each) { return each < least || each > most; });
  return numbers;
}

}  // namespace

std::vector<CallCounter> call_counters(const Plan& task) {
  if (task.first_call_only || !task.unplanned.empty()) return {};
  const Writes writes(task);
  std::vector<CallCounter> counters;
  for (const PlanParameter& parameter : task.parameters) {
    if (is_batch_counter(parameter.name) || !writes.changes(parameter.tensor)) continue;
    std::optional<CallCounter> counter;
    if (is_counter_by_form(task, parameter) && !parameter.is_read)
      counter = writes.counter(parameter.tensor);
    if (counter) {
      counter->name = parameter.name;
      counters.push_back(*std::move(counter));
    } else if (holds_whole_or_truth(declared(task, parameter.tensor))) {
      return {};
    }
  }
  return counters;
}

std::vector<CallCounter> counters_of_averages(const Plan& task) {
  if (!task.first_call_only || !task.unplanned.empty()) return {};
  const std::set<std::string> norms = averaging_norms(task);
  const Writes writes(task);
  std::vector<CallCounter> counters;
  for (const PlanParameter& parameter : task.parameters) {
    if (!is_batch_counter(parameter.name) || !parameter.is_read) continue;
    auto counter = writes.counter(parameter.tensor);
    if (!counter || *counter != CallCounter{.tensor = parameter.tensor, .step = 1} ||
        !norms.contains(parameter.name.substr(0, parameter.name.size() - kCounts.size())))
      return {};
    counter->name = parameter.name;
    counters.push_back(*std::move(counter));
  }
  return counters;
}

Plan after_calls(Plan task, const std::vector<CallCounter>& of_averages, std::int64_t calls) {
  std::set<int> means;  // tensors
  for (const CallCounter& counter : of_averages) {
    const std::string norm = counter.name.substr(0, counter.name.size() - kCounts.size());
    for (const PlanParameter& parameter : task.parameters)
      if (parameter.name == norm + "running_mean") means.insert(parameter.tensor);
  }
  for (PlanStep& step : task.steps) {
    auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr || step.phase != Phase::forward || call->op != "aten::batch_norm") continue;
    const auto* mean = std::get_if<TensorRef>(&call->args.at(kMean).data);
    if (mean != nullptr && means.contains(mean->index))
      call->args.at(kMomentum) = Value{1.0 / static_cast<double>(calls + 1)};
  }
  return task;
}

std::vector<std::int64_t> telling_calls(const Plan& task,
                                        const std::vector<CallCounter>& counters) {
  std::set<std::int64_t> calls;
  for (const CallCounter& counter : counters) {
    const std::int64_t first = first_number(task, counter.tensor);
    std::set<int> counting = {storage_of(task, counter.tensor)};  // storages of one number
    const auto note = [&](std::int64_t number) {
      for (std::int64_t each = number - 1; each <= number + 1; ++each)
        for (const std::int64_t ahead : {0, 1}) calls.insert((each - first) / counter.step - ahead);
    };
    if (counter.modulus != 0) note(counter.modulus);
    for (const PlanStep& step : task.steps) {
      const auto* call = std::get_if<AtenCall>(&step.action);
      const auto counts = [&](int tensor) { return counting.contains(storage_of(task, tensor)); };
      if (call == nullptr || step.phase != Phase::forward ||
          std::ranges::none_of(tensors_given_to(*call), counts))
        continue;
      for (const std::int64_t number : numbers_beside(task, *call, counting)) note(number);
      for (const int output : call->outputs)
        if (output >= 0 && elements_of(declared(task, output)) == 1)
          counting.insert(storage_of(task, output));
    }
  }
  const std::int64_t most = most_calls(task, counters);
  std::erase_if(calls, [&](std::int64_t each) { return each < 2 || each > most; });
  return {calls.begin(), calls.end()};
}

std::int64_t most_calls(const Plan& task, const std::vector<CallCounter>& counters) {
  std::int64_t most = 1 << 20;
  for (const CallCounter& counter : counters) {
    std::int64_t largest = 1 << 20;
    const DType dtype = declared(task, counter.tensor).dtype;
    if (bytes_of(dtype) == 1) largest = 100;
    if (bytes_of(dtype) == 2) largest = holds_whole_numbers(dtype) ? 30'000 : 250;
    if (counter.modulus == 0) most = std::min(most, largest / std::abs(counter.step) - 2);
  }
  return most;
}

}  // namespace tritonsmith::gym::plan::analysis
