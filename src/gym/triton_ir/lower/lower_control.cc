#include "gym/triton_ir/lower/operations.h"

namespace tritonsmith::gym::triton_ir {
Status lower_function(Lowering& lowering, const Function& function,
                      const std::vector<Value>& results) {
  FunctionFrame frame{.blocks = {}, .end = lowering.builder().make_label(), .results = results};
  for (const Block& block : function.body.blocks) {
    frame.blocks[block.label] = {lowering.builder().make_label(), &block};
    if (&block != &function.body.blocks.front())
      for (const BlockArgument& argument : block.arguments)
        lowering.define(argument.value, lowering.make(argument.type));
  }
  FunctionFrame* outer = std::exchange(lowering.calls().frame, &frame);
  for (const Block& block : function.body.blocks) {
    lowering.builder().bind(frame.blocks[block.label].first);
    for (const Operation& operation : block.operations) TRY(lower(lowering, operation));
  }
  lowering.builder().bind(frame.end);
  lowering.calls().frame = outer;
  return ok();
}

Result<const Operation*> lower_body(Lowering& lowering, const Operation& parent,
                                    const Region& region, std::string_view terminator) {
  if (region.blocks.size() != 1) return lowering.malformed(parent, "a region of several blocks");
  const std::vector<Operation>& operations = region.blocks[0].operations;
  for (const Operation& operation : operations) {
    if (operation.name == terminator) return &operation;
    TRY(lower(lowering, operation));
  }
  return nullptr;
}

Status lower_for(Lowering& lowering, const Operation& operation) {
  if (lowering.lanes() > 0) return lowering.refuse(operation, "in a combine function");
  TRY(lowering.expect_operands(operation, 3, 1024));
  if (operation.regions.size() != 1 || operation.regions[0].blocks[0].arguments.empty())
    return lowering.malformed(operation, "it needs one region that takes a counter");
  const Region& region = operation.regions[0];
  const std::vector<BlockArgument>& arguments = region.blocks[0].arguments;
  const ValueType counter_type = arguments[0].type;
  TRY_ASSIGN(Register lower, lowering.scalar(operation, 0, counter_type.element));
  TRY_ASSIGN(Register upper, lowering.scalar(operation, 1, counter_type.element));
  TRY_ASSIGN(Register step, lowering.scalar(operation, 2, counter_type.element));
  Handler head = loop_head_handler(counter_type.element, operation.has_keyword("unsigned"));
  if (head == nullptr || counter_type.is_tensor)
    return lowering.malformed(operation, "its counter is no integer");
  TRY_ASSIGN(std::vector<Value> initial, lowering.operands(operation, 3));
  std::vector<Value> carried;
  for (std::size_t i = 1; i < arguments.size(); ++i)
    carried.push_back(lowering.make(arguments[i].type));
  TRY(lowering.copy_all(operation, initial, carried));
  // The body must not change the counter, so the next value is computed in a register of its own.
  Value counter = lowering.make(counter_type), next = lowering.make(counter_type);
  lowering.copy({counter_type, lower}, counter);
  const auto begin = lowering.builder().make_label(), end = lowering.builder().make_label();
  lowering.builder().bind(begin);
  lowering.builder().jump(head, end, {counter.reg, upper});
  lowering.define(arguments[0].value, counter);
  for (std::size_t i = 0; i < carried.size(); ++i)
    lowering.define(arguments[i + 1].value, carried[i]);
  TRY_ASSIGN(const Operation* yield, lower_body(lowering, operation, region, "scf.yield"));
  if (yield != nullptr) {
    TRY_ASSIGN(std::vector<Value> yielded, lowering.operands(*yield, 0));
    TRY(lowering.copy_all(*yield, yielded, carried));
  } else if (!carried.empty()) {
    return lowering.malformed(operation, "its body yields nothing");
  }
  lowering.builder().emit(find_elementwise("arith.addi")->handlers.pick(counter_type.element),
                          next.reg, {counter.reg, step}, 1);
  lowering.copy(next, counter);
  lowering.builder().jump(jump, begin);
  lowering.builder().bind(end);
  for (std::size_t i = 0; i < carried.size(); ++i) lowering.define(operation, i, carried[i]);
  return ok();
}

namespace {

// Computes both sides, which have no side effects, and selects one for each lane.
Status lower_if_in_lanes(Lowering& lowering, const Operation& operation) {
  TRY_ASSIGN(Value condition, lowering.operand(operation, 0));
  if (operation.regions.size() != 2 || condition.type.element != Element::i1)
    return lowering.refuse(operation, "without else, in a combine function");
  std::vector<std::vector<Value>> sides;
  for (const Region& region : operation.regions) {
    TRY_ASSIGN(const Operation* yield, lower_body(lowering, operation, region, "scf.yield"));
    if (yield == nullptr) return lowering.malformed(operation, "a side yields nothing");
    TRY_ASSIGN(std::vector<Value> yielded, lowering.operands(*yield, 0));
    sides.push_back(std::move(yielded));
  }
  if (sides[0].size() != sides[1].size()) return lowering.malformed(operation, "its sides differ");
  for (std::size_t i = 0; i < sides[0].size(); ++i) {
    if (sides[0][i].type != sides[1][i].type || sides[0][i].type.shape != condition.type.shape)
      return lowering.malformed(operation, "its sides differ");
    Value result = lowering.make(sides[0][i].type);
    lowering.builder().emit(select_handler(register_bytes(result.type.element)), result.reg,
                            {condition.reg, sides[0][i].reg, sides[1][i].reg},
                            static_cast<std::size_t>(result.type.count()));
    lowering.define(operation, i, result);
  }
  return ok();
}

}  // namespace

Status lower_if(Lowering& lowering, const Operation& operation) {
  if (lowering.lanes() > 0) return lower_if_in_lanes(lowering, operation);
  if (operation.regions.empty() || operation.regions.size() > 2)
    return lowering.malformed(operation, "it needs one or two regions");
  TRY_ASSIGN(Register condition, lowering.scalar(operation, 0, Element::i1));
  std::vector<Value> results;
  for (const ValueType& type : operation.result_types) results.push_back(lowering.make(type));
  const auto otherwise = lowering.builder().make_label(), end = lowering.builder().make_label();
  lowering.builder().jump(jump_if_false, otherwise, {condition});
  for (std::size_t i = 0; i < operation.regions.size(); ++i) {
    TRY_ASSIGN(const Operation* yield,
               lower_body(lowering, operation, operation.regions[i], "scf.yield"));
    std::vector<Value> yielded;
    if (yield != nullptr) {
      TRY_ASSIGN(yielded, lowering.operands(*yield, 0));
    }
    TRY(lowering.copy_all(operation, yielded, results));
    if (i == 0) {
      lowering.builder().jump(jump, end);
      lowering.builder().bind(otherwise);
    }
  }
  if (operation.regions.size() < 2 && !results.empty())
    return lowering.malformed(operation, "it has no else but results");
  lowering.builder().bind(end);
  for (std::size_t i = 0; i < results.size(); ++i) lowering.define(operation, i, results[i]);
  return ok();
}

Status lower_while(Lowering& lowering, const Operation& operation) {
  if (lowering.lanes() > 0) return lowering.refuse(operation, "in a combine function");
  if (operation.regions.size() != 2) return lowering.malformed(operation, "it needs two regions");
  const Region &before = operation.regions[0], &after = operation.regions[1];
  TRY_ASSIGN(std::vector<Value> initial, lowering.operands(operation, 0));
  std::vector<Value> carried, passed;
  for (const BlockArgument& argument : before.blocks[0].arguments) {
    carried.push_back(lowering.make(argument.type));
    lowering.define(argument.value, carried.back());
  }
  for (const ValueType& type : operation.result_types) passed.push_back(lowering.make(type));
  TRY(lowering.copy_all(operation, initial, carried));
  const auto begin = lowering.builder().make_label(), end = lowering.builder().make_label();
  lowering.builder().bind(begin);
  TRY_ASSIGN(const Operation* condition, lower_body(lowering, operation, before, "scf.condition"));
  if (condition == nullptr) return lowering.malformed(operation, "it has no condition");
  TRY_ASSIGN(Register test, lowering.scalar(*condition, 0, Element::i1));
  TRY_ASSIGN(std::vector<Value> handed, lowering.operands(*condition, 1));
  TRY(lowering.copy_all(*condition, handed, passed));
  lowering.builder().jump(jump_if_false, end, {test});
  const std::vector<BlockArgument>& arguments = after.blocks[0].arguments;
  if (arguments.size() != passed.size())
    return lowering.malformed(operation, "its regions do not fit");
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].type != passed[i].type)
      return lowering.malformed(operation, "its regions do not fit");
    lowering.define(arguments[i].value, passed[i]);
  }
  TRY_ASSIGN(const Operation* yield, lower_body(lowering, operation, after, "scf.yield"));
  std::vector<Value> yielded;
  if (yield != nullptr) {
    TRY_ASSIGN(yielded, lowering.operands(*yield, 0));
  }
  TRY(lowering.copy_all(operation, yielded, carried));
  lowering.builder().jump(jump_back, begin);
  lowering.builder().bind(end);
  for (std::size_t i = 0; i < passed.size(); ++i) lowering.define(operation, i, passed[i]);
  return ok();
}

namespace {

Status jump_to(Lowering& lowering, const Operation& operation, const Successor& successor) {
  auto found = lowering.calls().frame->blocks.find(successor.label);
  if (found == lowering.calls().frame->blocks.end())
    return lowering.malformed(operation, "it jumps nowhere");
  std::vector<Value> handed, targets;
  for (ValueId id : successor.arguments) {
    if (!lowering.value(id).defined())
      return lowering.malformed(operation, "an operand is used before it is defined");
    handed.push_back(lowering.value(id));
  }
  for (const BlockArgument& argument : found->second.second->arguments)
    targets.push_back(lowering.value(argument.value));
  TRY(lowering.copy_all(operation, handed, targets));
  lowering.builder().jump(jump_back, found->second.first);
  return ok();
}

}  // namespace

// Lowers cf.br and cf.cond_br between the blocks of a function.
Status lower_branch(Lowering& lowering, const Operation& operation) {
  if (lowering.calls().frame == nullptr || lowering.lanes() > 0)
    return lowering.malformed(operation, "outside a function's blocks");
  if (operation.name == "cf.br") {
    if (operation.successors.size() != 1)
      return lowering.malformed(operation, "it needs one target");
    return jump_to(lowering, operation, operation.successors[0]);
  }
  if (operation.successors.size() != 2)
    return lowering.malformed(operation, "it needs two targets");
  TRY_ASSIGN(Register condition, lowering.scalar(operation, 0, Element::i1));
  const auto otherwise = lowering.builder().make_label();
  lowering.builder().jump(jump_if_false, otherwise, {condition});
  TRY(jump_to(lowering, operation, operation.successors[0]));
  lowering.builder().bind(otherwise);
  return jump_to(lowering, operation, operation.successors[1]);
}

Status lower_return(Lowering& lowering, const Operation& operation) {
  if (lowering.calls().frame == nullptr || lowering.lanes() > 0)
    return lowering.malformed(operation, "outside a function");
  TRY_ASSIGN(std::vector<Value> returned, lowering.operands(operation, 0));
  TRY(lowering.copy_all(operation, returned, lowering.calls().frame->results));
  lowering.builder().jump(jump, lowering.calls().frame->end);
  return ok();
}

Status lower_program_id(Lowering& lowering, const Operation& operation) {
  constexpr std::string_view kAxes[] = {"x", "y", "z"};
  std::int64_t axis = operation.integer_attribute("axis").value_or(-1);
  for (std::size_t i = 0; i < std::size(kAxes); ++i)
    if (operation.has_keyword(kAxes[i])) axis = static_cast<std::int64_t>(i);
  if (axis < 0 || axis > 2) return lowering.malformed(operation, "no such axis");
  Value result = lowering.make(scalar_of(Element::i32));
  lowering.builder()
      .emit(operation.name == "tt.get_program_id" ? program_id : num_programs, result.reg, {}, 1)
      .immediate = axis;
  lowering.define(operation, 0, result);
  return ok();
}

// A compiler drops the code for all cases that break an assumption, so it is checked here.
Status lower_assert(Lowering& lowering, const Operation& operation) {
  TRY_ASSIGN(Value condition, lowering.operand(operation, 0));
  if (condition.type.element != Element::i1)
    return lowering.malformed(operation, "its condition is no i1");
  std::vector<std::string>& texts = lowering.builder().code().texts;
  const bool is_assumed = operation.name == "llvm.intr.assume";
  texts.push_back(is_assumed ? "what tl.assume says does not hold"
                             : operation.literal.substr(0, 200));
  lowering.builder()
      .emit(check_assertion, kNone, {condition.reg},
            static_cast<std::size_t>(condition.type.count()))
      .immediate = std::ssize(texts) - 1;
  return ok();
}

Status lower_barrier(Lowering& lowering, const Operation& /*operation*/) {
  lowering.builder().emit(barrier, kNone, {}, 1);
  return ok();
}

Status lower_nothing(Lowering& /*lowering*/, const Operation& /*operation*/) { return ok(); }

}  // namespace tritonsmith::gym::triton_ir
