#include "gym/trial/findings/torch_compute.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "gym/language/registry/languages.h"
#include "gym/plan/analysis/random_origin.h"
#include "gym/plan/analysis/whole_inputs.h"
#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::trial {
namespace {

using plan::operators::Trait;

// recurrent, convolution and attention hold products of matrices. vector: a product with a vector,
// which is also a weighted sum.
enum class VendorKind { product, vector, convolution, attention, recurrent };

VendorKind vendor_kind_of(std::string_view op) {
  using plan::operators::is;
  if (is(op, Trait::attention)) return VendorKind::attention;
  if (is(op, Trait::convolves)) return VendorKind::convolution;
  if (is(op, Trait::vector_product)) return VendorKind::vector;
  return is(op, Trait::recurrent) || is(op, Trait::recurrent_cell) ? VendorKind::recurrent
                                                                   : VendorKind::product;
}

// A product with one row and one column is a sum over two vectors, such as a sum of squares.
bool is_dot(const plan::Plan& plan, const plan::AtenCall& call) {
  const bool is_product = plan::operators::is_vendor_grade(call.op) &&
                          vendor_kind_of(call.op) == VendorKind::product && !call.outputs.empty();
  if (!is_product || call.outputs[0] < 0) return false;
  const std::vector<std::int64_t>& shape =
      plan.tensors.at(static_cast<std::size_t>(call.outputs[0])).shape;
  return shape.size() > 1 && shape.back() == 1 && shape[shape.size() - 2] == 1;
}

VendorKind vendor_kind_of(const plan::Plan& plan, const plan::AtenCall& call) {
  return is_dot(plan, call) ? VendorKind::vector : vendor_kind_of(call.op);
}

// Returns the kinds that `fused` leaves to the vendor for this task. Products of matrices are part
// of every other kind.
std::set<VendorKind> vendor_kinds_of(const plan::Plan& reference) {
  using enum VendorKind;
  if (!reference.unplanned.empty()) return {product, vector, convolution, attention, recurrent};
  std::set<VendorKind> kinds;
  for (const plan::PlanStep& step : reference.steps) {
    const auto* call = std::get_if<plan::AtenCall>(&step.action);
    if (call == nullptr || step.phase != plan::Phase::forward ||
        !plan::operators::is_vendor_grade(call->op))
      continue;
    kinds.insert(vendor_kind_of(reference, *call));
    kinds.insert(product);
  }
  return kinds;
}

// Follows which operands of a plan's products depend on nothing that the task gives: its inputs, its
// weights and what is drawn. A matrix of ones or a triangle is such a constant, whose product is a
// mean or a running sum. A task's own buffers may be constants, too.
class ConstantMatrices {
 public:
  // `given`: storages of the plan's weights that are no constants.
  ConstantMatrices(const plan::Plan& plan, std::set<int> given) : plan_(plan) {
    given.merge(plan::analysis::drawn_storages(plan, plan::Phase::init));
    std::vector<int> inputs;
    for (const plan::Value& input : plan.inputs) plan::append_tensors(input, inputs);
    if (plan.first_call)
      for (const plan::Value& input : plan.first_call->inputs) plan::append_tensors(input, inputs);
    for (const int input : inputs) given.insert(plan::analysis::storage_of(plan, input));
    for (const plan::Phase phase : {plan::Phase::init, plan::Phase::first_call})
      for (const auto& [storage, from] : plan::analysis::sources_of(plan, phase, given))
        if (!from.empty()) given.insert(storage);
    sources_ = plan::analysis::sources_of(plan, plan::Phase::forward, given);
  }

  bool multiplies(const plan::AtenCall& call) const {
    if (!plan::operators::is(call.op, Trait::scores)) return false;
    const bool adds = plan::operators::is(call.op, Trait::adds_to_product);
    std::vector<int> read;  // the factors
    for (std::size_t k = adds ? 1 : 0; k < call.args.size(); ++k)
      plan::append_tensors(call.args[k], read);
    return std::ranges::any_of(read, [&](int index) {
      const auto from = sources_.find(plan::analysis::storage_of(plan_, index));
      const bool is_matrix = plan_.tensors.at(static_cast<std::size_t>(index)).shape.size() > 1;
      return is_matrix && (from == sources_.end() || from->second.empty());
    });
  }

 private:
  const plan::Plan& plan_;
  plan::analysis::Sources sources_;
};

ConstantMatrices matrices_of_candidate(const plan::Plan& candidate, const plan::Plan& reference) {
  std::set<int> given;
  for (const plan::PlanParameter& weight : candidate.parameters)
    if (std::ranges::find(reference.parameters, weight.name, &plan::PlanParameter::name) !=
        reference.parameters.end())
      given.insert(plan::analysis::storage_of(candidate, weight.tensor));
  return {candidate, std::move(given)};
}

bool multiplies_with_constants(const plan::Plan& reference) {
  if (!reference.unplanned.empty()) return true;  // nothing is known of its products
  std::set<int> given;
  for (const plan::PlanParameter& weight : reference.parameters)
    if (weight.kind == plan::ParameterKind::parameter)
      given.insert(plan::analysis::storage_of(reference, weight.tensor));
  const ConstantMatrices matrices(reference, std::move(given));
  return std::ranges::any_of(reference.steps, [&](const plan::PlanStep& step) {
    const auto* call = std::get_if<plan::AtenCall>(&step.action);
    return call != nullptr && step.phase == plan::Phase::forward && matrices.multiplies(*call);
  });
}

enum class NumberKind { truth, whole, floating };

NumberKind number_kind_of(plan::DType dtype) {
  if (dtype == plan::DType::boolean) return NumberKind::truth;
  return plan::analysis::holds_whole_numbers(dtype) ? NumberKind::whole : NumberKind::floating;
}

// Says whether a complex number of the one type consists of two numbers of the other.
bool are_parts_of_complex(plan::DType complex, plan::DType part) {
  return (complex == plan::DType::complex64 && part == plan::DType::float32) ||
         (complex == plan::DType::complex128 && part == plan::DType::float64);
}

// A conversion to whole numbers or to truth values rounds or compares. One from whole numbers
// computes too. Truth values stay what they are, as 0 and 1.
bool converts(plan::DType from, plan::DType to) {
  const NumberKind one = number_kind_of(from), other = number_kind_of(to);
  return one != NumberKind::truth && one != other;
}

// Follows forward and says of each operator in turn whether it computes, though by its name it only
// arranges.
class Arrangements {
 public:
  explicit Arrangements(const plan::Plan& plan) : plan_(plan) {
    for (const plan::Value& input : plan.inputs) {
      std::vector<int> tensors;
      plan::append_tensors(input, tensors);
      for (const int index : tensors) written_.insert(tensor(index).storage);
    }
  }

  // Returns what the call computes, or nothing.
  std::optional<std::string> computes(const plan::AtenCall& call) {
    std::vector<int> read;
    for (const plan::Value& argument : call.args) plan::append_tensors(argument, read);
    const bool changes_numbers =
        plan::operators::only_allocates(call.op) ? false : reads_other_numbers(call, read);
    if (call.op == "aten::view.dtype")
      return reinterprets(call, read) ? std::optional<std::string>("it reads numbers by their bits")
                                      : std::nullopt;
    if (changes_numbers)
      return "it converts between floating, whole and truth values, which rounds or compares";
    if (plan::operators::is(call.op, Trait::overwrites) && !read.empty() &&
        !fills_its_storage(read[0]) && written_.contains(tensor(read[0]).storage))
      return "it overwrites a part of what was computed";
    note(call, read);
    return std::nullopt;
  }

  void follow(const plan::LaunchStep& launch) {
    for (const plan::LaunchChoice& choice : launch.choices) {
      const plan::PlanKernel& kernel = plan_.kernels.at(static_cast<std::size_t>(choice.kernel));
      for (const int index : language::language_of(kernel).stored_arguments(kernel.code)) {
        if (index >= std::ssize(choice.arguments)) break;
        const plan::Value& argument = choice.arguments[static_cast<std::size_t>(index)];
        if (const auto* stored = std::get_if<plan::TensorRef>(&argument.data))
          written_.insert(tensor(stored->index).storage);
      }
    }
  }

 private:
  const plan::PlanTensor& tensor(int index) const {
    return plan_.tensors.at(static_cast<std::size_t>(index));
  }
  bool fills_its_storage(int index) const {
    return plan::elements_of(tensor(index)) * plan::bytes_of(tensor(index).dtype) >=
           tensor(index).storage_bytes;
  }

  bool reads_other_numbers(const plan::AtenCall& call, const std::vector<int>& read) const {
    if (call.op == "aten::view.dtype") return false;
    return std::ranges::any_of(call.outputs, [&](int output) {
      return output >= 0 && std::ranges::any_of(read, [&](int index) {
               return converts(tensor(index).dtype, tensor(output).dtype);
             });
    });
  }

  // Numbers of one byte stand for each other: kernels take fp8 and truth values as bytes.
  bool reinterprets(const plan::AtenCall& call, const std::vector<int>& read) const {
    if (read.empty() || call.outputs.empty() || call.outputs[0] < 0) return false;
    const plan::DType from = tensor(read[0]).dtype, to = tensor(call.outputs[0]).dtype;
    if (are_parts_of_complex(from, to) || are_parts_of_complex(to, from)) return false;
    const bool is_floating =
        (number_kind_of(from) == NumberKind::floating && plan::bytes_of(from) > 1) ||
        (number_kind_of(to) == NumberKind::floating && plan::bytes_of(to) > 1);
    return is_floating && from != to;
  }

  // A copy of what was written holds it, too. Parts that are copied into new memory join it.
  void note(const plan::AtenCall& call, const std::vector<int>& read) {
    if (plan::operators::only_allocates(call.op) || plan::operators::writes_in_place(call.op))
      return;
    if (std::ranges::any_of(read,
                            [&](int index) { return written_.contains(tensor(index).storage); }))
      for (const int output : call.outputs)
        if (output >= 0) written_.insert(tensor(output).storage);
  }

  const plan::Plan& plan_;
  std::set<int> written_;  // storages that hold inputs, or what forward made of them
};

// Says whether the call adds to one whole number, as a norm does that counts its batches.
bool counts_up(const plan::Plan& plan, const plan::AtenCall& call) {
  if (plan::operators::aten_base_name(call.op) != "add_" || call.args.size() < 2 ||
      !std::holds_alternative<std::int64_t>(call.args[1].data))
    return false;
  const auto* counter = std::get_if<plan::TensorRef>(&call.args[0].data);
  if (counter == nullptr) return false;
  const plan::PlanTensor& tensor = plan.tensors.at(static_cast<std::size_t>(counter->index));
  const bool is_whole = std::ranges::all_of(plan.tensors, [&](const plan::PlanTensor& other) {
    return other.storage != tensor.storage || number_kind_of(other.dtype) == NumberKind::whole;
  });
  return tensor.shape.empty() && is_whole;
}

// Says what an operator may be by its name, under a policy and with the vendor's kinds that the task
// has.
bool torch_may(std::string_view op, Policy policy, const std::set<VendorKind>& kinds) {
  if (policy == Policy::open || plan::operators::only_arranges(op)) return true;
  if (policy != Policy::fused || !plan::operators::is_vendor_grade(op)) return false;
  // Its last step is no product.
  if (plan::operators::aten_base_name(op) == "_addmm_activation") return false;
  return kinds.contains(vendor_kind_of(op));
}

// Returns "; policy fused allows it", with the strictest policy that allows the operator.
std::string policy_that_allows(std::string_view op, const std::set<VendorKind>& kinds) {
  for (const Policy policy : {Policy::strict, Policy::fused, Policy::open})
    if (torch_may(op, policy, kinds)) return fmt::format("; policy {} allows it", name_of(policy));
  return "";
}

// Follows what a plan's forward makes of its inputs.
class FromInputs {
 public:
  explicit FromInputs(const plan::Plan& plan) : plan_(plan) {
    for (const plan::Value& input : plan.inputs) take(input);
  }

  // Returns whether the step reads the inputs, or what earlier steps made of them. Call it in order.
  bool follow(const plan::PlanStep& step) {
    if (const auto* launch = std::get_if<plan::LaunchStep>(&step.action)) {
      const std::vector<plan::Value>& arguments = launch->choices.front().arguments;
      const bool reads = reads_them(arguments);
      if (reads)
        for (const plan::Value& argument : arguments) take(argument);
      return reads;
    }
    const auto* call = std::get_if<plan::AtenCall>(&step.action);
    if (call == nullptr) return false;
    std::vector<plan::Value> read = call->args;
    for (const auto& [name, argument] : call->kwargs) read.push_back(argument);
    if (!reads_them(read)) return false;
    for (const int output : call->outputs) storages_.insert(storage_of(output));
    if (plan::operators::writes_in_place(call->op))
      for (const plan::Value& argument : call->args) take(argument);
    return true;
  }

 private:
  int storage_of(int index) const {
    return index < 0 ? -1 : plan_.tensors.at(static_cast<std::size_t>(index)).storage;
  }

  void take(const plan::Value& value) {
    std::vector<int> tensors;
    plan::append_tensors(value, tensors);
    for (const int index : tensors) storages_.insert(storage_of(index));
  }

  bool reads_them(const std::vector<plan::Value>& values) const {
    std::vector<int> tensors;
    for (const plan::Value& value : values) plan::append_tensors(value, tensors);
    return std::ranges::any_of(tensors,
                               [&](int index) { return storages_.contains(storage_of(index)); });
  }

  const plan::Plan& plan_;
  std::set<int> storages_;
};

Finding torch_compute(const plan::PlanStep& step, std::string_view op, Policy policy,
                      const std::string& more) {
  return {.rule = "torch_compute",
          .severity = Severity::reject,
          .line = step.line,
          .message = fmt::format("forward computes {} in torch, which policy {} leaves to "
                                 "the candidate's own kernels{}",
                                 op, name_of(policy), more)};
}

}  // namespace

void find_torch_compute(const plan::Plan& candidate, const plan::Plan& reference, Policy policy,
                        std::vector<Finding>& findings) {
  if (policy == Policy::open) return;
  const std::set<VendorKind> kinds = vendor_kinds_of(reference);
  Arrangements arrangements(candidate);
  FromInputs from_inputs(candidate);
  std::optional<ConstantMatrices> constants;
  if (policy == Policy::fused && !kinds.empty() && !multiplies_with_constants(reference))
    constants.emplace(matrices_of_candidate(candidate, reference));
  std::set<std::string_view> seen;
  for (const plan::PlanStep& step : candidate.steps) {
    if (step.phase != plan::Phase::forward) continue;
    const bool reads_inputs = from_inputs.follow(step);
    if (const auto* launch = std::get_if<plan::LaunchStep>(&step.action))
      arrangements.follow(*launch);
    const auto* call = std::get_if<plan::AtenCall>(&step.action);
    if (call == nullptr || counts_up(candidate, *call)) continue;
    std::optional<std::string> more;
    if (!torch_may(call->op, policy, kinds))
      more = policy_that_allows(call->op, kinds);
    else if (policy == Policy::fused && is_dot(candidate, *call) &&
             !kinds.contains(VendorKind::vector))
      more = ": a product of two vectors, which the task does not have; policy open allows it";
    else if (constants && constants->multiplies(*call))
      more =
          ": a product with a matrix of constants, which the task does not have; policy open "
          "allows it";
    else if (plan::operators::only_arranges(call->op))
      if (const auto what = arrangements.computes(*call))
        more = fmt::format(": {}; policy open allows it", *what);
    if (more && !reads_inputs)
      *more += "; it reads no input of forward, so the constructor may compute it";
    if (more && seen.insert(call->op).second)
      findings.push_back(torch_compute(step, call->op, policy, *more));
  }
}

void find_torch_compute_of_first_call(const plan::Plan& candidate, const plan::Plan& reference,
                                      Policy policy, std::vector<Finding>& findings) {
  plan::Plan first = plan::first_call_of(candidate);
  FromInputs from_inputs(first);
  std::erase_if(first.steps, [&](const plan::PlanStep& step) {
    return step.phase == plan::Phase::forward && !from_inputs.follow(step) &&
           std::holds_alternative<plan::AtenCall>(step.action);
  });
  find_torch_compute(first, reference, policy, findings);
}

bool computes_in_torch(const plan::Plan& candidate, Policy policy) {
  const auto storage_of = [&](int index) {
    return candidate.tensors.at(static_cast<std::size_t>(index)).storage;
  };
  return std::ranges::any_of(candidate.steps, [&](const plan::PlanStep& step) {
    const auto* call = std::get_if<plan::AtenCall>(&step.action);
    if (call == nullptr || step.phase != plan::Phase::forward) return false;
    if (!plan::operators::only_arranges(call->op)) return true;
    if (policy != Policy::strict || plan::operators::only_allocates(call->op)) return false;
    std::vector<int> read;
    for (const plan::Value& argument : call->args) plan::append_tensors(argument, read);
    // A view lies in the memory that it was taken from.
    return !read.empty() && std::ranges::any_of(call->outputs, [&](int output) {
      return output >= 0 && std::ranges::any_of(read, [&](int index) {
               return storage_of(index) != storage_of(output);
             });
    });
  });
}

}  // namespace tritonsmith::gym::trial
