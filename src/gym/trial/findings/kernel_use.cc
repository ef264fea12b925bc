#include "gym/trial/findings/kernel_use.h"

#include <algorithm>
#include <set>

#include "gym/language/registry/languages.h"
#include "gym/plan/operators/operator_traits.h"
#include "gym/trial/findings/torch_compute.h"

namespace tritonsmith::gym::trial {
namespace {

// Tracks, after each step, which storages hold data that the candidate's own kernels wrote, and
// which hold data that follows from these inputs.
class Dataflow {
 public:
  Dataflow(const plan::Plan& plan, const replay::LaunchTraces& launches,
           const std::vector<int>& inputs)
      : plan_(plan) {
    for (const int tensor : inputs) from_inputs_.insert(storage_of(tensor));
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      const plan::PlanStep& step = plan.steps[i];
      if (step.phase != plan::Phase::forward) continue;
      if (const auto* call = std::get_if<plan::AtenCall>(&step.action))
        follow(*call);
      else if (const auto at = launches.find(i); at != launches.end())
        follow(at->second);
    }
  }

  bool output_is(const std::set<int>& marked) const {
    std::vector<int> outputs;
    plan::append_tensors(plan_.outputs, outputs);
    return std::ranges::any_of(outputs, [&](int t) { return marked.contains(storage_of(t)); });
  }
  const std::set<int>& own() const { return own_; }
  const std::set<int>& from_inputs() const { return from_inputs_; }
  bool kernels_read_inputs() const { return kernels_read_inputs_; }

 private:
  const plan::PlanTensor& tensor(int index) const {
    return plan_.tensors.at(static_cast<std::size_t>(index));
  }
  int storage_of(int index) const { return tensor(index).storage; }

  bool fills_its_storage(int index) const {
    return plan::elements_of(tensor(index)) * plan::bytes_of(tensor(index).dtype) >=
           tensor(index).storage_bytes;
  }

  void follow(const plan::AtenCall& call) {
    std::vector<int> read = plan::tensors_given_to(call);
    // These operators replace what the tensor held. If the tensor is all of its memory, nothing of
    // the past is left.
    const bool overwrites = plan::operators::is(call.op, plan::operators::Trait::overwrites);
    if (overwrites && !read.empty() && fills_its_storage(read.front())) {
      own_.erase(storage_of(read.front()));
      from_inputs_.erase(storage_of(read.front()));
      read.erase(read.begin());
    }
    // The content of `zeros_like(x)` and its like does not follow from x.
    if (plan::operators::only_allocates(call.op)) read.clear();
    mark(own_, read, call.outputs);
    mark(from_inputs_, read, call.outputs);
  }

  void follow(const replay::LaunchTrace& trace) {
    kernels_read_inputs_ =
        kernels_read_inputs_ || std::ranges::any_of(trace.loaded_tensors, [&](int index) {
          return index >= 0 && from_inputs_.contains(storage_of(index));
        });
    for (const int index : trace.stored_tensors) own_.insert(storage_of(index));
    mark(from_inputs_, trace.loaded_tensors, trace.stored_tensors);
  }

  void mark(std::set<int>& marked, const std::vector<int>& read,
            const std::vector<int>& written) const {
    const bool any =
        std::ranges::any_of(read, [&](int t) { return t >= 0 && marked.contains(storage_of(t)); });
    if (!any) return;
    for (const int index : written)
      if (index >= 0) marked.insert(storage_of(index));
  }

  const plan::Plan& plan_;
  std::set<int> own_, from_inputs_;
  bool kernels_read_inputs_ = false;
};

std::vector<int> all_inputs(const plan::Plan& plan) {
  std::vector<int> inputs;
  for (const plan::Value& input : plan.inputs) plan::append_tensors(input, inputs);
  return inputs;
}

bool has_several_programs(const plan::LaunchChoice& launch) {
  return std::ranges::any_of(launch.grid, [](std::int64_t size) { return size > 1; });
}

// The storages of the tensors at these indices among a launch's arguments.
std::set<int> storages_at(const std::vector<int>& indices, const plan::LaunchChoice& launch,
                          const plan::Plan& plan) {
  std::set<int> storages;
  for (const int index : indices)
    if (index < std::ssize(launch.arguments)) {
      std::vector<int> tensors;
      plan::append_tensors(launch.arguments[static_cast<std::size_t>(index)], tensors);
      for (const int tensor : tensors)
        storages.insert(plan.tensors.at(static_cast<std::size_t>(tensor)).storage);
    }
  return storages;
}

bool loads_what_it_stores(const plan::LaunchChoice& launch, const plan::Plan& plan) {
  const plan::PlanKernel& kernel = plan.kernels.at(static_cast<std::size_t>(launch.kernel));
  const language::Language& language = language::language_of(kernel);
  const std::set<int> loaded = storages_at(language.loaded_arguments(kernel.code), launch, plan),
                      stored = storages_at(language.stored_arguments(kernel.code), launch, plan);
  return std::ranges::any_of(loaded, [&](int storage) { return stored.contains(storage); });
}

bool programs_may_meet(const plan::LaunchChoice& launch, const plan::Plan& plan) {
  return has_several_programs(launch) && loads_what_it_stores(launch, plan);
}

void find_idle_kernels(const plan::Plan& candidate, std::vector<Finding>& findings) {
  std::set<int> launched;  // kernels of the constructor's launches count, too
  bool forward_launches = false;
  for (const plan::PlanStep& step : candidate.steps)
    if (const auto* launch = std::get_if<plan::LaunchStep>(&step.action)) {
      for (const plan::LaunchChoice& choice : launch->choices) launched.insert(choice.kernel);
      forward_launches = forward_launches || step.phase == plan::Phase::forward;
    }
  if (!forward_launches) {
    findings.push_back({.rule = "no_kernel",
                        .severity = Severity::reject,
                        .message = "forward launches no kernel"});
    return;
  }
  for (std::size_t k = 0; k < candidate.kernels.size(); ++k)
    if (!launched.contains(static_cast<int>(k)))
      findings.push_back(
          {.rule = "kernel_never_launched",
           .severity = Severity::warn,
           .line = candidate.kernels[k].line,
           .message = fmt::format("nothing launches {}", candidate.kernels[k].name)});
}

}  // namespace

std::vector<Finding> find_evidence(const plan::Plan& candidate,
                                   const replay::LaunchTraces* launches,
                                   const plan::Plan& reference, Policy policy) {
  std::vector<Finding> findings;
  find_torch_compute(candidate, reference, policy, findings);
  find_idle_kernels(candidate, findings);
  if (launches == nullptr) return findings;
  const Dataflow flow(candidate, *launches, all_inputs(candidate));
  const bool has_kernel = !launches->empty();
  if (has_kernel && !flow.output_is(flow.own()))
    findings.push_back({.rule = "kernel_output_unused",
                        .severity = Severity::reject,
                        .message = "nothing that the kernels wrote reaches the output"});
  // A forward that no plan holds is assumed to depend on its inputs.
  const Dataflow reference_flow(reference, {}, all_inputs(reference));
  const bool reference_depends =
      !reference.unplanned.empty() || reference_flow.output_is(reference_flow.from_inputs());
  if (!flow.output_is(flow.from_inputs()) && reference_depends)
    findings.push_back({.rule = "constant_output",
                        .severity = Severity::reject,
                        .message = "the output does not depend on the inputs"});
  return findings;
}

std::vector<Finding> find_narrow_atomics(const plan::Plan& candidate) {
  std::set<int> launched;  // the kernels of launches with several programs
  for (const plan::PlanStep& step : candidate.steps)
    if (const auto* launch = std::get_if<plan::LaunchStep>(&step.action))
      for (const plan::LaunchChoice& choice : launch->choices)
        if (has_several_programs(choice)) launched.insert(choice.kernel);
  std::vector<Finding> findings;
  for (const int index : launched) {
    const plan::PlanKernel& kernel = candidate.kernels.at(static_cast<std::size_t>(index));
    if (!language::language_of(kernel).has_atomics_of_one_program(kernel.code)) continue;
    findings.push_back(
        {.rule = "race",
         .severity = Severity::reject,
         .line = kernel.line,
         .message = fmt::format("atomics of {} have scope=\"cta\": they are none between programs",
                                kernel.name)});
  }
  return findings;
}

bool programs_may_meet(const plan::Plan& candidate) {
  return std::ranges::any_of(candidate.steps, [&](const plan::PlanStep& step) {
    const auto* launch = std::get_if<plan::LaunchStep>(&step.action);
    return launch != nullptr && step.phase == plan::Phase::forward &&
           std::ranges::any_of(launch->choices, [&](const plan::LaunchChoice& choice) {
             return programs_may_meet(choice, candidate);
           });
  });
}

bool lanes_may_meet(const plan::Plan& candidate) {
  return std::ranges::any_of(candidate.steps, [&](const plan::PlanStep& step) {
    const auto* launch = std::get_if<plan::LaunchStep>(&step.action);
    return launch != nullptr && step.phase == plan::Phase::forward &&
           std::ranges::any_of(launch->choices, [&](const plan::LaunchChoice& choice) {
             const auto kernel = static_cast<std::size_t>(choice.kernel);
             return candidate.kernels.at(kernel).num_warps > 1 &&
                    loads_what_it_stores(choice, candidate);
           });
  });
}

bool has_atomics(const plan::Plan& candidate) {
  return std::ranges::any_of(candidate.kernels, [](const plan::PlanKernel& kernel) {
    return language::language_of(kernel).has_atomics(kernel.code);
  });
}

bool builds_on_its_stores(const plan::Plan& candidate, const plan::PlanStep& step) {
  const auto* launch = std::get_if<plan::LaunchStep>(&step.action);
  return launch != nullptr && step.phase == plan::Phase::forward && launch->choices.size() > 1 &&
         !launch->restores && loads_what_it_stores(launch->choices[0], candidate);
}

bool kernels_read(const plan::Plan& candidate, const replay::LaunchTraces& launches, int input) {
  return Dataflow(candidate, launches, {input}).kernels_read_inputs();
}

std::vector<Finding> find_unused_kernels(const plan::Plan& candidate, const KernelUse& use) {
  const bool launches = std::ranges::any_of(candidate.steps, [](const plan::PlanStep& step) {
    return step.phase == plan::Phase::forward &&
           std::holds_alternative<plan::LaunchStep>(step.action);
  });
  if (!launches) return {};  // the finding no_kernel says so already
  if (use.needless.holds())
    return {{.rule = "kernel_output_ignored",
             .severity = Severity::reject,
             .message = "the output is the same when no kernel runs"}};
  if (use.torch_computed && use.does_little())
    return {{.rule = "token_kernel",
             .severity = Severity::reject,
             .message = fmt::format("without the kernels, only {:.2g} % of the outputs that the "
                                    "reference computes are wrong",
                                    100 * use.needed_share)}};
  if (use.torch_computed && use.copies.holds())
    return {{.rule = "token_kernel",
             .severity = Severity::reject,
             .message = "the kernels only pass on what torch has computed"}};
  return {};
}

}  // namespace tritonsmith::gym::trial
