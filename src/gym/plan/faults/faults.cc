#include "gym/plan/faults/faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::faults {
namespace {

// Returns "layer_norm" for "aten::native_layer_norm".
std::string readable(std::string_view family) {
  for (const std::string_view prefix : {"native_", "cudnn_", "_"})
    if (family.starts_with(prefix)) return readable(family.substr(prefix.size()));
  return std::string(family);
}

// Returns the names of the steps: the operator, its line, and its number if the line has several.
std::vector<Site> sites_of(const Plan& plan) {
  std::vector<Site> sites;
  std::map<std::string, int> seen;
  for (std::size_t k = 0; k < plan.steps.size(); ++k) {
    const auto* call = std::get_if<AtenCall>(&plan.steps[k].action);
    if (call == nullptr || plan.steps[k].phase != Phase::forward) continue;
    if (call->outputs.empty() || call->outputs[0] < 0) continue;
    std::string where = fmt::format("`{}`", readable(family_of(*call)));
    if (plan.steps[k].line > 0) where += fmt::format(" of line {}", plan.steps[k].line);
    const int nth = ++seen[where];
    if (nth > 1) where += fmt::format(" (number {})", nth);
    sites.push_back({.plan = plan, .step = k, .where = std::move(where)});
  }
  return sites;
}

}  // namespace

std::string_view family_of(const AtenCall& call) {
  std::string_view base = operators::aten_base_name(call.op);
  if (operators::writes_in_place(call.op)) base.remove_suffix(1);
  return base;
}

bool is_floating(DType dtype) {
  return dtype == DType::float16 || dtype == DType::bfloat16 || dtype == DType::float32 ||
         dtype == DType::float64;
}

std::int64_t from_front(std::int64_t dimension, std::size_t dimensions) {
  return dimension < 0 ? dimension + static_cast<std::int64_t>(dimensions) : dimension;
}

const PlanTensor* tensor_argument(const Plan& plan, const AtenCall& call, std::size_t position) {
  if (position >= call.args.size()) return nullptr;
  const auto* reference = std::get_if<TensorRef>(&call.args[position].data);
  return reference == nullptr ? nullptr
                              : &plan.tensors.at(static_cast<std::size_t>(reference->index));
}

std::vector<Fault> faults_of(const Plan& task, std::size_t most) {
  std::vector<Fault> all;
  add_operand_faults(task, all);
  for (const Site& site : sites_of(task)) {
    add_left_out_faults(site, all);
    add_constant_faults(site, all);
    add_range_faults(site, all);
    add_order_faults(site, all);
    add_function_faults(site, all);
    add_precision_faults(site, all);
  }
  if (all.size() <= most) return all;
  std::vector<Fault> chosen;
  for (std::size_t k = 0; k < most; ++k) chosen.push_back(std::move(all[k * all.size() / most]));
  return chosen;
}

Plan with_fault(const Plan& task, const Fault& fault) {
  PlanEditor editor(task, fault.step);
  fault.edit(editor);
  return as_candidate(std::move(editor).finish());
}

}  // namespace tritonsmith::gym::plan::faults
