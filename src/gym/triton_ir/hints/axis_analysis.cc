#include "gym/triton_ir/hints/axis_analysis.h"

#include "gym/triton_ir/hints/infer_axis_info.h"

namespace tritonsmith::gym::triton_ir {
namespace {

// Each pass lowers what it knows of some value. Real kernels need three or four.
constexpr int kMostPasses = 100;

std::size_t rank_of(const ValueType& type) {
  return type.is_tensor && !type.shape.empty() ? type.shape.size() : 1;
}

class Analysis {
 public:
  Analysis(const Module& module, HintsCount hints)
      : module_(module), hints_(hints), known_(static_cast<std::size_t>(module.value_count)) {}

  bool run() {
    for (int pass = 0; pass < kMostPasses; ++pass) {
      changed_ = false;
      for (const Function& function : module_.functions) {
        visit_arguments(function);
        visit_region(function.body);
      }
      if (!changed_) return true;
    }
    return false;
  }
  std::vector<AxisInfo> take() { return std::move(known_); }

 private:
  const AxisInfo& known(ValueId id) const { return known_[static_cast<std::size_t>(id)]; }

  void lower(ValueId id, const AxisInfo& info) {
    AxisInfo& known = known_[static_cast<std::size_t>(id)];
    AxisInfo joint = join(known, info);
    if (joint == known) return;
    known = std::move(joint);
    changed_ = true;
  }

  // Arguments are as their attributes say, which the launch is checked against.
  void visit_arguments(const Function& function) {
    for (std::size_t i = 0; i < function.arguments.size(); ++i) {
      const BlockArgument& argument = function.arguments[i];
      AxisInfo info = unknown_axes(rank_of(argument.type));
      info.divisibility.assign(info.rank(), function.argument_divisors[i]);
      lower(argument.value, info);
    }
  }

  void visit_region(const Region& region) {
    for (std::size_t k = 0; k < region.blocks.size(); ++k) {
      const Block& block = region.blocks[k];
      // The arguments of a first block belong to the function or the loop around it.
      for (const BlockArgument& argument : block.arguments)
        if (k > 0) lower(argument.value, unknown_axes(rank_of(argument.type)));
      for (const Operation& operation : block.operations) visit(operation);
    }
  }

  void visit(const Operation& operation) {
    if (operation.name == "scf.for") return visit_for(operation);
    if (operation.name == "scf.while") return visit_while(operation);
    if (operation.name == "scf.if") return visit_if(operation);
    std::vector<AxisInfo> operands;
    for (const ValueId operand : operation.operands) operands.push_back(known(operand));
    AxisInfo info = infer_axis_info(operation, operands);
    if (hints_ == HintsCount::yes) apply_hints(operation, info);
    for (std::size_t i = 0; i < operation.results.size(); ++i) {
      const bool others = i > 0 && i < operation.result_types.size();
      lower(operation.results[i], others ? unknown_axes(rank_of(operation.result_types[i])) : info);
    }
  }

  // Hands the operands of the region's last operation on, from `first` of them.
  void hand_on(const Region& region, std::size_t first, const std::vector<ValueId>& to) {
    if (region.blocks.empty() || region.blocks.back().operations.empty()) return;
    const std::vector<ValueId>& from = region.blocks.back().operations.back().operands;
    for (std::size_t i = 0; i < to.size() && first + i < from.size(); ++i)
      lower(to[i], known(from[first + i]));
  }

  static std::vector<ValueId> arguments_of(const Region& region, std::size_t first) {
    std::vector<ValueId> list;
    if (region.blocks.empty()) return list;
    const std::vector<BlockArgument>& arguments = region.blocks.front().arguments;
    for (std::size_t i = first; i < arguments.size(); ++i) list.push_back(arguments[i].value);
    return list;
  }

  // Operands: lower, upper, step, initial values. Block arguments: the counter and the values.
  void visit_for(const Operation& operation) {
    if (operation.operands.size() < 3 || operation.regions.size() != 1) return;
    const Region& body = operation.regions[0];
    const std::vector<ValueId> counter_and_carried = arguments_of(body, 0);
    if (counter_and_carried.empty()) return;
    AxisInfo counter = unknown_axes(1);
    const AxisInfo &begin = known(operation.operands[0]), &step = known(operation.operands[2]);
    if (begin.rank() == 1 && step.rank() == 1)
      counter.divisibility[0] = common_divisor(begin.divisibility[0], step.divisibility[0]);
    lower(counter_and_carried[0], counter);
    const std::vector<ValueId> carried(counter_and_carried.begin() + 1, counter_and_carried.end());
    for (std::size_t i = 0; i < carried.size() && 3 + i < operation.operands.size(); ++i) {
      lower(carried[i], known(operation.operands[3 + i]));
      if (i < operation.results.size())
        lower(operation.results[i], known(operation.operands[3 + i]));
    }
    visit_region(body);
    hand_on(body, 0, carried);
    hand_on(body, 0, operation.results);
  }

  // The first region ends with its condition and the values for the second region and the results.
  void visit_while(const Operation& operation) {
    if (operation.regions.size() != 2) return;
    const Region &before = operation.regions[0], &after = operation.regions[1];
    const std::vector<ValueId> carried = arguments_of(before, 0);
    for (std::size_t i = 0; i < carried.size() && i < operation.operands.size(); ++i)
      lower(carried[i], known(operation.operands[i]));
    visit_region(before);
    hand_on(before, 1, arguments_of(after, 0));
    hand_on(before, 1, operation.results);
    visit_region(after);
    hand_on(after, 0, carried);
  }

  void visit_if(const Operation& operation) {
    for (const Region& branch : operation.regions) {
      visit_region(branch);
      hand_on(branch, 0, operation.results);
    }
  }

  const Module& module_;
  HintsCount hints_;
  std::vector<AxisInfo> known_;
  bool changed_ = false;
};

}  // namespace

std::optional<std::vector<AxisInfo>> analyse_axes(const Module& module, HintsCount hints) {
  Analysis analysis(module, hints);
  if (!analysis.run()) return std::nullopt;
  return analysis.take();
}

}  // namespace tritonsmith::gym::triton_ir
