#include <algorithm>

#include "gym/triton_ir/lower/lowering.h"

namespace tritonsmith::gym::triton_ir {
namespace {
constexpr std::size_t kMaxCalls = 16;
}  // namespace

// Lowers a region of one block and returns its last operation, which must be `terminator`. An empty
// region needs no terminator, and then the result is null.
Result<const Operation*> Lowering::lower_body(const Operation& parent, const Region& region,
                                              std::string_view terminator) {
  if (region.blocks.size() != 1) return malformed(parent, "a region of several blocks");
  const std::vector<Operation>& operations = region.blocks[0].operations;
  for (const Operation& operation : operations) {
    if (operation.name == terminator) return &operation;
    TRY(lower(operation));
  }
  return nullptr;
}

Status Lowering::lower_for(const Operation& operation) {
  if (lanes_ > 0) return refuse(operation, "in a combine function");
  TRY(expect_operands(operation, 3, 1024));
  if (operation.regions.size() != 1 || operation.regions[0].blocks[0].arguments.empty())
    return malformed(operation, "it needs one region that takes a counter");
  const Region& region = operation.regions[0];
  const std::vector<BlockArgument>& arguments = region.blocks[0].arguments;
  const ValueType counter_type = arguments[0].type;
  TRY_ASSIGN(Register lower, scalar(operation, 0, counter_type.element));
  TRY_ASSIGN(Register upper, scalar(operation, 1, counter_type.element));
  TRY_ASSIGN(Register step, scalar(operation, 2, counter_type.element));
  Handler head = loop_head_handler(counter_type.element, operation.has_keyword("unsigned"));
  if (head == nullptr || counter_type.is_tensor)
    return malformed(operation, "its counter is no integer");
  TRY_ASSIGN(std::vector<Value> initial, operands(operation, 3));
  std::vector<Value> carried;
  for (std::size_t i = 1; i < arguments.size(); ++i) carried.push_back(make(arguments[i].type));
  TRY(copy_all(operation, initial, carried));
  // The body must not change the counter, so the next value is computed in a register of its own.
  Value counter = make(counter_type), next = make(counter_type);
  copy({counter_type, lower}, counter);
  const auto begin = builder_.make_label(), end = builder_.make_label();
  builder_.place(begin);
  builder_.jump(head, end, {counter.place, upper});
  define(arguments[0].value, counter);
  for (std::size_t i = 0; i < carried.size(); ++i) define(arguments[i + 1].value, carried[i]);
  TRY_ASSIGN(const Operation* yield, lower_body(operation, region, "scf.yield"));
  if (yield != nullptr) {
    TRY_ASSIGN(std::vector<Value> yielded, operands(*yield, 0));
    TRY(copy_all(*yield, yielded, carried));
  } else if (!carried.empty()) {
    return malformed(operation, "its body yields nothing");
  }
  builder_.emit(find_elementwise("arith.addi")->handlers.pick(counter_type.element), next.place,
                {counter.place, step}, 1);
  copy(next, counter);
  builder_.jump(jump, begin);
  builder_.place(end);
  for (std::size_t i = 0; i < carried.size(); ++i) define(operation, i, carried[i]);
  return ok();
}

Status Lowering::lower_if(const Operation& operation) {
  if (lanes_ > 0) return lower_if_in_lanes(operation);
  if (operation.regions.empty() || operation.regions.size() > 2)
    return malformed(operation, "it needs one or two regions");
  TRY_ASSIGN(Register condition, scalar(operation, 0, Element::i1));
  std::vector<Value> results;
  for (const ValueType& type : operation.result_types) results.push_back(make(type));
  const auto otherwise = builder_.make_label(), end = builder_.make_label();
  builder_.jump(jump_if_false, otherwise, {condition});
  for (std::size_t i = 0; i < operation.regions.size(); ++i) {
    TRY_ASSIGN(const Operation* yield, lower_body(operation, operation.regions[i], "scf.yield"));
    std::vector<Value> yielded;
    if (yield != nullptr) {
      TRY_ASSIGN(yielded, operands(*yield, 0));
    }
    TRY(copy_all(operation, yielded, results));
    if (i == 0) {
      builder_.jump(jump, end);
      builder_.place(otherwise);
    }
  }
  if (operation.regions.size() < 2 && !results.empty())
    return malformed(operation, "it has no else but results");
  builder_.place(end);
  for (std::size_t i = 0; i < results.size(); ++i) define(operation, i, results[i]);
  return ok();
}

// Computes both sides, which have no side effects, and selects one for each lane.
Status Lowering::lower_if_in_lanes(const Operation& operation) {
  TRY_ASSIGN(Value condition, operand(operation, 0));
  if (operation.regions.size() != 2 || condition.type.element != Element::i1)
    return refuse(operation, "without else, in a combine function");
  std::vector<std::vector<Value>> sides;
  for (const Region& region : operation.regions) {
    TRY_ASSIGN(const Operation* yield, lower_body(operation, region, "scf.yield"));
    if (yield == nullptr) return malformed(operation, "a side yields nothing");
    TRY_ASSIGN(std::vector<Value> yielded, operands(*yield, 0));
    sides.push_back(std::move(yielded));
  }
  if (sides[0].size() != sides[1].size()) return malformed(operation, "its sides differ");
  for (std::size_t i = 0; i < sides[0].size(); ++i) {
    if (sides[0][i].type != sides[1][i].type || sides[0][i].type.shape != condition.type.shape)
      return malformed(operation, "its sides differ");
    Value result = make(sides[0][i].type);
    builder_.emit(select_handler(register_bytes(result.type.element)), result.place,
                  {condition.place, sides[0][i].place, sides[1][i].place},
                  static_cast<std::size_t>(result.type.count()));
    define(operation, i, result);
  }
  return ok();
}

Status Lowering::lower_while(const Operation& operation) {
  if (lanes_ > 0) return refuse(operation, "in a combine function");
  if (operation.regions.size() != 2) return malformed(operation, "it needs two regions");
  const Region &before = operation.regions[0], &after = operation.regions[1];
  TRY_ASSIGN(std::vector<Value> initial, operands(operation, 0));
  std::vector<Value> carried, passed;
  for (const BlockArgument& argument : before.blocks[0].arguments) {
    carried.push_back(make(argument.type));
    define(argument.value, carried.back());
  }
  for (const ValueType& type : operation.result_types) passed.push_back(make(type));
  TRY(copy_all(operation, initial, carried));
  const auto begin = builder_.make_label(), end = builder_.make_label();
  builder_.place(begin);
  TRY_ASSIGN(const Operation* condition, lower_body(operation, before, "scf.condition"));
  if (condition == nullptr) return malformed(operation, "it has no condition");
  TRY_ASSIGN(Register test, scalar(*condition, 0, Element::i1));
  TRY_ASSIGN(std::vector<Value> handed, operands(*condition, 1));
  TRY(copy_all(*condition, handed, passed));
  builder_.jump(jump_if_false, end, {test});
  const std::vector<BlockArgument>& arguments = after.blocks[0].arguments;
  if (arguments.size() != passed.size()) return malformed(operation, "its regions do not fit");
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].type != passed[i].type) return malformed(operation, "its regions do not fit");
    define(arguments[i].value, passed[i]);
  }
  TRY_ASSIGN(const Operation* yield, lower_body(operation, after, "scf.yield"));
  std::vector<Value> yielded;
  if (yield != nullptr) {
    TRY_ASSIGN(yielded, operands(*yield, 0));
  }
  TRY(copy_all(operation, yielded, carried));
  builder_.jump(jump_back, begin);
  builder_.place(end);
  for (std::size_t i = 0; i < passed.size(); ++i) define(operation, i, passed[i]);
  return ok();
}

// Inlines functions that were marked noinline.
Status Lowering::lower_call(const Operation& operation) {
  if (lanes_ > 0) return refuse(operation, "in a combine function");
  const Function* callee = nullptr;
  for (const Function& function : module_.functions)
    if (function.name == operation.symbol) callee = &function;
  if (callee == nullptr || callee->body.blocks.empty())
    return malformed(operation, "it calls no function of this module");
  if (calls_.size() >= kMaxCalls ||
      std::find(calls_.begin(), calls_.end(), callee->name) != calls_.end())
    return refuse(operation, "calls are recursive or nested too deeply");
  TRY_ASSIGN(std::vector<Value> handed, operands(operation, 0));
  std::vector<Value> arguments, results;
  for (const BlockArgument& argument : callee->arguments) arguments.push_back(make(argument.type));
  for (const ValueType& type : callee->result_types) results.push_back(make(type));
  TRY(copy_all(operation, handed, arguments));
  for (std::size_t i = 0; i < arguments.size(); ++i)
    define(callee->arguments[i].value, arguments[i]);
  calls_.push_back(callee->name);
  TRY(lower_function(*callee, results));
  calls_.pop_back();
  for (std::size_t i = 0; i < results.size(); ++i) define(operation, i, results[i]);
  return ok();
}

Status Lowering::jump_to(const Operation& operation, const Successor& successor) {
  auto found = frame_->blocks.find(successor.label);
  if (found == frame_->blocks.end()) return malformed(operation, "it jumps nowhere");
  std::vector<Value> handed, targets;
  for (ValueId id : successor.arguments) {
    if (!value(id).defined())
      return malformed(operation, "an operand is used before it is defined");
    handed.push_back(value(id));
  }
  for (const BlockArgument& argument : found->second.second->arguments)
    targets.push_back(value(argument.value));
  TRY(copy_all(operation, handed, targets));
  builder_.jump(jump_back, found->second.first);
  return ok();
}

// Lowers cf.br and cf.cond_br between the blocks of a function.
Status Lowering::lower_branch(const Operation& operation) {
  if (frame_ == nullptr || lanes_ > 0) return malformed(operation, "outside a function's blocks");
  if (operation.name == "cf.br") {
    if (operation.successors.size() != 1) return malformed(operation, "it needs one target");
    return jump_to(operation, operation.successors[0]);
  }
  if (operation.successors.size() != 2) return malformed(operation, "it needs two targets");
  TRY_ASSIGN(Register condition, scalar(operation, 0, Element::i1));
  const auto otherwise = builder_.make_label();
  builder_.jump(jump_if_false, otherwise, {condition});
  TRY(jump_to(operation, operation.successors[0]));
  builder_.place(otherwise);
  return jump_to(operation, operation.successors[1]);
}

Status Lowering::lower_return(const Operation& operation) {
  if (frame_ == nullptr || lanes_ > 0) return malformed(operation, "outside a function");
  TRY_ASSIGN(std::vector<Value> returned, operands(operation, 0));
  TRY(copy_all(operation, returned, frame_->results));
  builder_.jump(jump, frame_->end);
  return ok();
}

Status Lowering::lower_program_id(const Operation& operation) {
  constexpr std::string_view kAxes[] = {"x", "y", "z"};
  std::int64_t axis = operation.integer_attribute("axis").value_or(-1);
  for (std::size_t i = 0; i < std::size(kAxes); ++i)
    if (operation.has_keyword(kAxes[i])) axis = static_cast<std::int64_t>(i);
  if (axis < 0 || axis > 2) return malformed(operation, "no such axis");
  Value result = make(scalar_of(Element::i32));
  builder_
      .emit(operation.name == "tt.get_program_id" ? program_id : num_programs, result.place, {}, 1)
      .immediate = axis;
  define(operation, 0, result);
  return ok();
}

// A compiler drops the code for all cases that break an assumption, so it is checked here.
Status Lowering::lower_assert(const Operation& operation) {
  TRY_ASSIGN(Value condition, operand(operation, 0));
  if (condition.type.element != Element::i1) return malformed(operation, "its condition is no i1");
  std::vector<std::string>& texts = builder_.code().texts;
  const bool is_assumed = operation.name == "llvm.intr.assume";
  texts.push_back(is_assumed ? "what tl.assume says does not hold"
                             : operation.literal.substr(0, 200));
  builder_
      .emit(check_assertion, kNone, {condition.place},
            static_cast<std::size_t>(condition.type.count()))
      .immediate = std::ssize(texts) - 1;
  return ok();
}

Status Lowering::lower_nothing(const Operation&) { return ok(); }

}  // namespace tritonsmith::gym::triton_ir
