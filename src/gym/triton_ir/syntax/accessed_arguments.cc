#include "gym/triton_ir/syntax/accessed_arguments.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

#include "gym/triton_ir/syntax/parser.h"

namespace tritonsmith::gym::triton_ir {
namespace {

// One bit per argument. Arguments from index 63 on share the last bit.
using Arguments = std::uint64_t;
constexpr int kBits = 64;

Arguments bit_of(std::size_t argument) {
  return Arguments{1} << std::min<std::size_t>(argument, kBits - 1);
}

bool stores(const std::string& name) {
  return name == "tt.store" || name.starts_with("tt.atomic_") ||
         name.find("descriptor_store") != std::string::npos ||
         name.find("descriptor_scatter") != std::string::npos ||
         name.find("descriptor_reduce") != std::string::npos;
}

bool loads(const std::string& name) {
  return name == "tt.load" || name.starts_with("tt.atomic_") ||
         name.find("descriptor_load") != std::string::npos ||
         name.find("descriptor_gather") != std::string::npos;
}

// A value read from memory does not carry the origin of its address.
bool gives_values(const std::string& name) { return stores(name) || loads(name); }

enum class Access { load, store, unconditional_store };

// Finds the arguments that each value is made from, until a pass adds nothing.
class Origins {
 public:
  Origins(const Module& module, Access access)
      : module_(module),
        access_(access),
        of_(static_cast<std::size_t>(std::max(module.value_count, 0))) {}

  Arguments accessed_by(const Function& kernel) {
    for (std::size_t k = 0; k < kernel.arguments.size(); ++k) {
      add(kernel.arguments[k].value, bit_of(k));
      if (kernel.arguments[k].type.pointee != Element::none) pointers_ |= bit_of(k);
    }
    do {
      grew_ = false;
      for (const Function& function : module_.functions) {
        branches_ = &function == &kernel ? 0 : 1;
        follow(function.body, nullptr);
      }
    } while (grew_);
    return accessed_;
  }

 private:
  Arguments of(ValueId value) const {
    const auto at = static_cast<std::size_t>(value);
    return value >= 0 && at < of_.size() ? of_[at] : 0;
  }
  Arguments of_all(std::span<const ValueId> values) const {
    Arguments all = 0;
    for (const ValueId value : values) all |= of(value);
    return all;
  }
  void add(ValueId value, Arguments more) {
    if (value < 0 || static_cast<std::size_t>(value) >= of_.size()) return;
    Arguments& known = of_[static_cast<std::size_t>(value)];
    grew_ = grew_ || (more & ~known) != 0;
    known |= more;
  }
  // Passes values pairwise, as far as both lists go.
  void pass(std::span<const ValueId> from, std::span<const ValueId> to) {
    for (std::size_t k = 0; k < std::min(from.size(), to.size()); ++k) add(to[k], of(from[k]));
  }
  static std::vector<ValueId> values_of(std::span<const BlockArgument> arguments) {
    std::vector<ValueId> values;
    for (const BlockArgument& each : arguments) values.push_back(each.value);
    return values;
  }

  void follow(const Region& region, const Operation* parent) {
    for (const Block& block : region.blocks) {
      const bool is_branch = &block != &region.blocks.front();
      branches_ += is_branch ? 1 : 0;
      for (const Operation& operation : block.operations) {
        follow(operation);
        for (const Successor& next : operation.successors)
          for (const Block& target : region.blocks)
            if (target.label == next.label) pass(next.arguments, values_of(target.arguments));
        if (parent != nullptr) leave(operation, region, *parent);
      }
      branches_ -= is_branch ? 1 : 0;
    }
  }

  void follow(const Operation& operation) {
    if (!operation.operands.empty() && counts(operation)) {
      const Arguments more = of(operation.operands.front());
      grew_ = grew_ || (more & ~accessed_) != 0;
      accessed_ |= more;
    }
    if (operation.name == "tt.call") {
      call(operation);
      return;
    }
    const Arguments read = of_all(operation.operands);
    const bool is_loop = operation.name == "scf.for";
    const bool has_regions = !operation.regions.empty();
    if (!gives_values(operation.name) && !has_regions)
      for (const ValueId result : operation.results) add(result, read);
    if (is_loop) {
      // Operands: bounds, step, carried values. The block's first argument is the counter.
      constexpr std::size_t bounds = 3;
      const std::span operands(operation.operands);
      const auto carried = operands.subspan(std::min(bounds, operands.size()));
      pass(carried, operation.results);
      for (const Region& region : operation.regions)
        if (!region.blocks.empty()) pass(carried, carried_by(region));
    } else {
      for (const Region& region : operation.regions)
        for (const Block& block : region.blocks)
          for (const BlockArgument& argument : block.arguments) add(argument.value, read);
    }
    const bool branches = operation.name == "scf.if" || operation.name == "scf.while";
    branches_ += branches ? 1 : 0;
    for (const Region& region : operation.regions) follow(region, &operation);
    branches_ -= branches ? 1 : 0;
  }

  // A store that a branch may leave out, or whose pointer may be one of several, does not happen in
  // any case.
  bool counts(const Operation& operation) const {
    if (access_ == Access::load) return loads(operation.name);
    return stores(operation.name) &&
           (access_ == Access::store ||
            (branches_ == 0 && std::has_single_bit(of(operation.operands.front()) & pointers_)));
  }

  static std::vector<ValueId> carried_by(const Region& loop) {
    std::vector<ValueId> values = values_of(loop.blocks.front().arguments);
    if (!values.empty()) values.erase(values.begin());
    return values;
  }

  // The end of a region gives the results of its operation, and a loop's next carried values.
  void leave(const Operation& end, const Region& region, const Operation& parent) {
    if (end.name == "scf.yield" && parent.name != "scf.while") {
      pass(end.operands, parent.results);
      if (parent.name == "scf.for") pass(end.operands, carried_by(region));
    } else if (end.name == "scf.yield" || end.name == "scf.condition") {
      const Arguments all = of_all(end.operands);
      for (const ValueId result : parent.results) add(result, all);
      for (const Region& each : parent.regions)
        for (const Block& block : each.blocks)
          for (const BlockArgument& argument : block.arguments) add(argument.value, all);
    }
  }

  void call(const Operation& operation) {
    for (const Function& callee : module_.functions) {
      if (callee.name != operation.symbol) continue;
      pass(operation.operands, values_of(callee.arguments));
      for (const Block& block : callee.body.blocks)
        for (const Operation& end : block.operations)
          if (end.name == "tt.return") pass(end.operands, operation.results);
    }
  }

  const Module& module_;
  Access access_;              // what counts
  int branches_ = 0;           // around the operation that is followed
  std::vector<Arguments> of_;  // by value
  Arguments accessed_ = 0, pointers_ = 0;
  bool grew_ = false;
};

std::vector<int> indices_of(const Module& module, const Function& kernel, Access access) {
  const Arguments accessed = Origins(module, access).accessed_by(kernel);
  std::vector<int> indices;
  for (std::size_t k = 0; k < kernel.arguments.size(); ++k)
    if ((accessed & bit_of(k)) != 0) indices.push_back(static_cast<int>(k));
  return indices;
}

}  // namespace

AccessedArguments accessed_arguments(std::string_view ttir) {
  const auto module = parse_module(ttir);
  if (!module) return {};
  const auto kernel = std::ranges::find(module->functions, true, &Function::is_public);
  if (kernel == module->functions.end()) return {};
  return {.loaded = indices_of(*module, *kernel, Access::load),
          .stored = indices_of(*module, *kernel, Access::store),
          .unconditionally_stored = indices_of(*module, *kernel, Access::unconditional_store)};
}

}  // namespace tritonsmith::gym::triton_ir
