#include "gym/plan/analysis/epsilons.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

struct Holder {
  std::string_view name;
  std::size_t place;     // of the epsilon among the arguments
  double if_absent = 0;  // 0: the operator then has none
  bool is_of_elements = false;
};

constexpr auto kHolders = std::to_array<Holder>({
    {"add", 1, 0, true},
    {"add_", 1, 0, true},
    {"clamp", 1, 0, true},
    {"clamp_", 1, 0, true},
    {"clamp_min", 1, 0, true},
    {"clamp_min_", 1, 0, true},
    {"clip", 1, 0, true},
    {"cosine_similarity", 2, 1e-8, true},
    {"native_layer_norm", 4},
    {"layer_norm", 4, 1e-5},
    {"native_group_norm", 7},
    {"group_norm", 4, 1e-5},
    {"instance_norm", 7},
    {"rms_norm", 3},
    {"_fused_rms_norm", 3},
});

double value_of(const AtenCall& call, const Holder& holder) {
  if (call.args.size() <= holder.place) return holder.if_absent;
  const auto* number = std::get_if<double>(&call.args[holder.place].data);
  return number == nullptr ? 0 : *number;
}

}  // namespace

std::vector<Epsilon> epsilons(const Plan& task) {
  constexpr double largest = 1e-2;
  std::vector<Epsilon> found;
  for (const PlanStep& step : task.steps) {
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr || step.phase != Phase::forward) continue;
    const auto holder =
        std::ranges::find(kHolders, operators::aten_base_name(call->op), &Holder::name);
    if (holder == kHolders.end()) continue;
    const Epsilon one{value_of(*call, *holder), holder->is_of_elements};
    if (one.value > 0 && one.value <= largest && std::ranges::find(found, one) == found.end())
      found.push_back(one);
  }
  std::ranges::sort(found, std::greater{}, &Epsilon::value);
  return found;
}

}  // namespace tritonsmith::gym::plan::analysis
