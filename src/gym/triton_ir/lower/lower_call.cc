// Calls are inlined. A combine function computes on scalars, and the lowering applies it to whole
// tensors (Lowering::lanes). There a branch cannot jump, because lanes may go different ways. So both
// ways are computed, and each lane selects its own. They have no side effects.
#include <algorithm>

#include "gym/triton_ir/lower/operations.h"

namespace tritonsmith::gym::triton_ir {
namespace {

constexpr std::size_t kMaxCalls = 16;

Result<const Function*> callee_of(Lowering& lowering, const Operation& operation) {
  const std::vector<std::string>& names = lowering.calls().names;
  const Function* callee = nullptr;
  for (const Function& function : lowering.module().functions)
    if (function.name == operation.symbol) callee = &function;
  if (callee == nullptr || callee->body.blocks.empty())
    return lowering.malformed(operation, "it calls no function of this module");
  if (names.size() >= kMaxCalls ||
      std::find(names.begin(), names.end(), callee->name) != names.end())
    TRY(lowering.refuse(operation, "calls are recursive or nested too deeply"));
  return callee;
}

// Lowers the blocks of one function in lanes.
class LaneBlocks {
 public:
  LaneBlocks(Lowering& lowering, const Function& function)
      : lowering_(lowering), function_(function) {}

  // Returns what the function returns if it goes on with this block.
  Result<std::vector<Value>> results_of(const Block& block) {
    above_.push_back(&block);
    for (const Operation& operation : block.operations) {
      if (operation.name == "tt.return") {
        above_.pop_back();
        return lowering_.operands(operation, 0);
      }
      if (operation.name == "cf.br" || operation.name == "cf.cond_br") {
        TRY_ASSIGN(std::vector<Value> results, branch(operation));
        above_.pop_back();
        return results;
      }
      TRY(lower(lowering_, operation));
    }
    return fail("malformed Triton IR: a block of {} has no end", function_.name);
  }

 private:
  Result<std::vector<Value>> branch(const Operation& operation) {
    const bool is_plain = operation.name == "cf.br";
    if (operation.successors.size() != (is_plain ? 1 : 2))
      return lowering_.malformed(operation, "it needs other targets");
    if (is_plain) return way(operation, operation.successors[0]);
    TRY_ASSIGN(const Value condition, lowering_.operand(operation, 0));
    if (condition.type.element != Element::i1)
      return lowering_.malformed(operation, "its condition is no i1");
    TRY_ASSIGN(std::vector<Value> taken, way(operation, operation.successors[0]));
    TRY_ASSIGN(const std::vector<Value> otherwise, way(operation, operation.successors[1]));
    if (taken.size() != otherwise.size())
      return lowering_.malformed(operation, "its ways return different values");
    for (std::size_t i = 0; i < taken.size(); ++i) {
      if (taken[i].type != otherwise[i].type || taken[i].type.shape != condition.type.shape)
        return lowering_.malformed(operation, "its ways return different values");
      const Value selected = lowering_.make(taken[i].type);
      lowering_.builder().emit(select_handler(register_bytes(selected.type.element)), selected.reg,
                               {condition.reg, taken[i].reg, otherwise[i].reg},
                               static_cast<std::size_t>(selected.type.count()));
      taken[i] = selected;
    }
    return taken;
  }

  Result<std::vector<Value>> way(const Operation& operation, const Successor& successor) {
    const auto& blocks = function_.body.blocks;
    const auto block = std::ranges::find(blocks, successor.label, &Block::label);
    if (block == blocks.end() || block->arguments.size() != successor.arguments.size())
      return lowering_.malformed(operation, "it jumps nowhere");
    if (std::ranges::find(above_, &*block) != above_.end())
      TRY(lowering_.refuse(operation, "a loop in a combine function"));
    std::vector<Value> handed;
    for (std::size_t i = 0; i < block->arguments.size(); ++i) {
      TRY_ASSIGN(const Value value, lowering_.in_lanes(operation, successor.arguments[i]));
      if (scalar_of(value.type.element) != block->arguments[i].type)
        return lowering_.malformed(operation, "a wrong value is handed on");
      handed.push_back(value);
    }
    for (std::size_t i = 0; i < handed.size(); ++i)
      lowering_.define(block->arguments[i].value, handed[i]);
    return results_of(*block);
  }

  Lowering& lowering_;
  const Function& function_;
  std::vector<const Block*> above_;  // the blocks on the way to the current one
};

Status lower_call_in_lanes(Lowering& lowering, const Operation& operation, const Function& callee) {
  TRY_ASSIGN(const std::vector<Value> handed, lowering.operands(operation, 0));
  if (handed.size() != callee.arguments.size())
    return lowering.malformed(operation, "a wrong number of values is handed on");
  for (std::size_t i = 0; i < handed.size(); ++i) {
    if (scalar_of(handed[i].type.element) != callee.arguments[i].type)
      return lowering.refuse(operation, "with a tensor, in a combine function");
    lowering.define(callee.arguments[i].value, handed[i]);
  }
  lowering.calls().names.push_back(callee.name);
  TRY_ASSIGN(const std::vector<Value> results,
             LaneBlocks(lowering, callee).results_of(callee.body.blocks.front()));
  lowering.calls().names.pop_back();
  if (results.size() != callee.result_types.size())
    return lowering.malformed(operation, "a wrong number of values is returned");
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (scalar_of(results[i].type.element) != callee.result_types[i])
      return lowering.malformed(operation, "another value is returned than is declared");
    lowering.define(operation, i, results[i]);
  }
  return ok();
}

}  // namespace

Status lower_call(Lowering& lowering, const Operation& operation) {
  TRY_ASSIGN(const Function* callee, callee_of(lowering, operation));
  if (lowering.lanes() > 0) return lower_call_in_lanes(lowering, operation, *callee);
  TRY_ASSIGN(std::vector<Value> handed, lowering.operands(operation, 0));
  std::vector<Value> arguments, results;
  for (const BlockArgument& argument : callee->arguments)
    arguments.push_back(lowering.make(argument.type));
  for (const ValueType& type : callee->result_types) results.push_back(lowering.make(type));
  TRY(lowering.copy_all(operation, handed, arguments));
  for (std::size_t i = 0; i < arguments.size(); ++i)
    lowering.define(callee->arguments[i].value, arguments[i]);
  lowering.calls().names.push_back(callee->name);
  TRY(lower_function(lowering, *callee, results));
  lowering.calls().names.pop_back();
  for (std::size_t i = 0; i < results.size(); ++i) lowering.define(operation, i, results[i]);
  return ok();
}

}  // namespace tritonsmith::gym::triton_ir
