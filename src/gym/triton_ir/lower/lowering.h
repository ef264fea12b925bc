// Lowering: what the lowering of one kernel knows, and the words in which operations are lowered:
// operands, new registers, copies, results, refusals. Each operation is lowered by a function that
// takes it; operation_table.cc lists them all. They check every shape, type and count, so that
// handlers need not.
//
// A lowering goes through these phases (lower_kernel.h): the arguments get registers, then each
// operation becomes instructions in order, then ProgramBuilder gives registers their offsets.
#pragma once

#include "gym/triton_ir/hints/hints.h"
#include "gym/triton_ir/lower/program_builder.h"
#include "gym/triton_ir/syntax/syntax.h"

namespace tritonsmith::gym::triton_ir {

// The inline namespace gives Value a name of its own for the linker. A plan (gym/plan/value.h) also
// has a Value, and one program holds both.
inline namespace lowered {
struct Value {
  ValueType type;
  Register reg = kNone;
  bool defined() const { return reg != kNone; }
};
}  // namespace lowered

// The blocks of the function that is being lowered.
struct FunctionFrame {
  std::map<std::string, std::pair<ProgramBuilder::Label, const Block*>> blocks;
  ProgramBuilder::Label end = 0;
  std::vector<Value> results;
};

// Where the lowering is: calls are inlined, so one kernel can hold many functions.
struct CallState {
  std::vector<std::string> names;  // the functions that are being inlined, outermost first
  FunctionFrame* frame = nullptr;  // of the innermost
  // The number of operations so far. Operations of an inlined function count each time.
  std::size_t operations = 0;
};

class Lowering {
 public:
  explicit Lowering(const Module& module)
      : module_(module),
        hints_(Hints::of(module)),
        values_(static_cast<std::size_t>(module.value_count)) {}

  const Module& module() const { return module_; }
  const Hints* hints() const { return hints_.get(); }  // null: the kernel has none
  ProgramBuilder& builder() { return builder_; }
  CallState& calls() { return calls_; }

  // The evaluator does not support the operation. Sets the refusal, and returns an Error that says
  // the same.
  Status refuse(const Operation& operation, std::string_view why);
  const std::optional<Refusal>& refusal() const { return refusal_; }
  tl::unexpected<Error> malformed(const Operation& operation, std::string_view what) const;

  Status expect_operands(const Operation& operation, std::size_t at_least, std::size_t at_most);
  // Returns operand `index`. In lanes, a scalar from outside is broadcast.
  Result<Value> operand(const Operation& operation, std::size_t index);
  // Returns a value that the operation hands to another block, broadcast to the lanes.
  Result<Value> in_lanes(const Operation& operation, ValueId id);
  Result<std::vector<Value>> operands(const Operation& operation, std::size_t first);
  Result<Register> scalar(const Operation& operation, std::size_t index, Element element);

  Value make(const ValueType& type);
  Value make_pinned(const ValueType& type);
  // Returns the value that is filled once for each evaluation under this key. `fill` makes it.
  template <typename Fill>
  Value filled_once(const std::string& key, Fill fill) {
    if (const auto known = constants_.find(key); known != constants_.end()) return known->second;
    return constants_.emplace(key, fill()).first->second;
  }
  void define(const Operation& operation, std::size_t index, const Value& value);
  void define(ValueId id, const Value& value) { values_[static_cast<std::size_t>(id)] = value; }
  const Value& value(ValueId id) const { return values_[static_cast<std::size_t>(id)]; }

  Value spread(const Value& scalar, const std::vector<std::int64_t>& shape);
  void copy(const Value& from, const Value& to);
  Status copy_all(const Operation& operation, const std::vector<Value>& from,
                  const std::vector<Value>& to);
  // Rounds a small float's register after an fp32 handler has written it.
  void round(const Value& value, bool toward_zero = false);

  // Combine functions are the regions of tt.reduce, tt.scan and tt.map_elementwise, and they compute
  // on scalars. The lowering applies them to whole tensors at once: this many lanes; 0 outside.
  std::int64_t lanes() const { return lanes_; }
  std::int64_t exchange_lanes(std::int64_t lanes) { return std::exchange(lanes_, lanes); }

 private:
  const Module& module_;
  std::unique_ptr<const Hints> hints_;
  ProgramBuilder builder_;
  std::vector<Value> values_;
  std::optional<Refusal> refusal_;
  CallState calls_;
  std::int64_t lanes_ = 0;
  std::map<std::string, Value> constants_;
};

}  // namespace tritonsmith::gym::triton_ir
