// Faults of operators that a kernel leaves out, whose input is passed on.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "gym/plan/faults/faults.h"
#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::faults {
namespace {

// A view shares its argument's memory, which nothing may overwrite.
void leave_out(PlanEditor& editor, std::size_t position, bool is_view) {
  if (!is_view) return editor.overwrite_result(editor.argument(position));
  AtenCall& call = editor.call();
  call = {
      .op = "aten::clone", .args = {call.args.at(position)}, .kwargs = {}, .outputs = call.outputs};
}

}  // namespace

void add_left_out_faults(const Site& site, std::vector<Fault>& faults) {
  const AtenCall& call = site.call();
  if (operators::only_allocates(call.op)) return;
  // A view, a copy or a cast that is left out computes the same, except if it moves elements.
  if (operators::only_arranges(call.op) &&
      !operators::has_trait(family_of(call), operators::Trait::moves))
    return;
  const PlanTensor& result = site.plan.tensors.at(static_cast<std::size_t>(call.outputs[0]));
  std::vector<std::size_t> positions;
  std::set<int> seen;
  for (std::size_t k = 0; k < call.args.size(); ++k) {
    const PlanTensor* argument = tensor_argument(site.plan, call, k);
    if (argument == nullptr || argument->shape != result.shape || argument->dtype != result.dtype)
      continue;
    if (seen.insert(std::get<TensorRef>(call.args[k].data).index).second) positions.push_back(k);
  }
  static constexpr const char* kNth[] = {"first", "second", "third"};
  for (const std::size_t position : positions) {
    const std::string which = positions.size() > 1 && position < std::size(kNth)
                                  ? fmt::format(": its {} argument is passed on", kNth[position])
                                  : std::string();
    faults.push_back({.kind = FaultKind::left_out,
                      .what = fmt::format("{} left out{}", site.where, which),
                      .step = site.step,
                      .edit = [position, is_view = operators::only_arranges(call.op)](
                                  PlanEditor& editor) { leave_out(editor, position, is_view); }});
  }
}

}  // namespace tritonsmith::gym::plan::faults
