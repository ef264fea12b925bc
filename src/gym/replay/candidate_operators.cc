#include "gym/replay/candidate_operators.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <fmt/format.h>

#include <algorithm>

#include "gym/plan/operators/operator_traits.h"
#include "gym/replay/operator_name.h"

namespace tritonsmith::gym::replay {
namespace {

using plan::operators::has_trait;
using plan::operators::Trait;

// Says whether the operator writes into a tensor that it receives by keyword.
bool has_given_result(const std::string& full_name) {
  const auto handle = c10::Dispatcher::singleton().findSchema(operator_name(full_name));
  if (!handle) return false;
  return std::ranges::any_of(handle->schema().arguments(), [](const c10::Argument& argument) {
    return argument.kwarg_only() && argument.alias_info() != nullptr &&
           argument.alias_info()->isWrite();
  });
}

// Says whether the overload takes the names of dimensions, which most other operators refuse. Such
// an overload has "name" in its own name: "names", "using_names", "Dimname" or "dim_DimnameList".
bool names_dimensions(std::string_view full_name) {
  const std::size_t dot = full_name.find('.');
  return dot != std::string_view::npos && full_name.find("name", dot) != std::string_view::npos;
}

}  // namespace

bool is_for_candidates(std::string_view full_name) {
  const std::string_view name = plan::operators::aten_base_name(full_name);
  const std::string_view overload = plan::operators::only_overload(name);
  if (!overload.empty() && !full_name.ends_with(fmt::format(".{}", overload))) return false;
  return has_trait(name, Trait::for_candidates) && !names_dimensions(full_name) &&
         (has_trait(name, Trait::into_given) || !has_given_result(std::string(full_name)));
}

const plan::PlanStep* find_unsafe_step(const plan::Plan& candidate) {
  const auto at = std::ranges::find_if(candidate.steps, [](const plan::PlanStep& step) {
    const auto* call = std::get_if<plan::AtenCall>(&step.action);
    return call != nullptr && !is_for_candidates(call->op);
  });
  return at == candidate.steps.end() ? nullptr : &*at;
}

}  // namespace tritonsmith::gym::replay
