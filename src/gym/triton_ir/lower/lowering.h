// Lowering: turns a parsed kernel into Code in one pass over the operations. It checks every shape,
// type and count, so that handlers need not. Each family of operations has a source:
// lower_elementwise, lower_constant, lower_shape, lower_memory, lower_control, and lower_combine
// (reductions, scans and dots).
//
// Combine functions are the regions of tt.reduce, tt.scan and tt.map_elementwise, and they compute
// on scalars. The lowering applies them to whole tensors at once ("lanes"). An `scf.if` in them
// computes both sides and selects.
#pragma once

#include "gym/triton_ir/execute/elementwise.h"
#include "gym/triton_ir/execute/handlers.h"
#include "gym/triton_ir/lower/program_builder.h"
#include "gym/triton_ir/syntax/syntax.h"

namespace tritonsmith::gym::triton_ir {

// The inline namespace gives Value a name of its own for the linker. A plan (gym/plan/value.h) also
// has a Value, and one program holds both.
inline namespace lowering {
struct Value {
  ValueType type;
  Register place = kNone;
  bool defined() const { return place != kNone; }
};
}  // namespace lowering

class Lowering {
 public:
  explicit Lowering(const Module& module)
      : module_(module), values_(static_cast<std::size_t>(module.value_count)) {}

  // Returns an Error for malformed IR. For an unsupported operation it sets the refusal too, and
  // the Error says the same.
  Result<std::unique_ptr<const Code>> run(const Function& kernel);
  const std::optional<Refusal>& refusal() const { return refusal_; }

 private:
  using Method = Status (Lowering::*)(const Operation&);
  static Method find_method(std::string_view name);

  // lowering.cc
  Status lower(const Operation& operation);
  Status lower_function(const Function& function, const std::vector<Value>& results);
  Status lower_blocks(const Region& body, const std::vector<Value>& results);
  Status refuse(const Operation& operation, std::string_view why);
  tl::unexpected<Error> malformed(const Operation& operation, std::string_view what) const;

  // Returns operand `index`. In lanes, a scalar from outside is broadcast.
  Result<Value> operand(const Operation& operation, std::size_t index);
  Status expect_operands(const Operation& operation, std::size_t at_least, std::size_t at_most);
  Result<Register> scalar(const Operation& operation, std::size_t index, Element element);
  Value make(const ValueType& type);
  Value make_pinned(const ValueType& type);
  void define(const Operation& operation, std::size_t index, const Value& value);
  void define(ValueId id, const Value& value) { values_[static_cast<std::size_t>(id)] = value; }
  const Value& value(ValueId id) const { return values_[static_cast<std::size_t>(id)]; }
  Value spread(const Value& scalar, const std::vector<std::int64_t>& shape);
  void copy(const Value& from, const Value& to);
  Status copy_all(const Operation& operation, const std::vector<Value>& from,
                  const std::vector<Value>& to);
  Result<std::vector<Value>> operands(const Operation& operation, std::size_t first);
  // Rounds a small float's register after an fp32 handler has written it.
  void round(const Value& value, bool toward_zero = false);

  // lower_elementwise.cc
  Status lower_elementwise(const Operation& operation, const ElementwiseOperation& row);
  Status lower_compare(const Operation& operation);
  Status lower_select(const Operation& operation);
  Status lower_convert(const Operation& operation);
  Status lower_fp_to_fp(const Operation& operation);
  Status lower_bitcast(const Operation& operation);
  Status lower_clamp(const Operation& operation);
  Status lower_libdevice(const Operation& operation);
  Status lower_wide_multiply(const Operation& operation);
  Status lower_power(const Operation& operation);
  Status convert(const Operation& operation, const Value& from, Element to, bool toward_zero);

  // lower_constant.cc
  Status lower_constant(const Operation& operation);
  Status lower_range(const Operation& operation);
  Status lower_poison(const Operation& operation);
  Value constant(const ValueType& type, std::int64_t bits);

  // lower_shape.cc
  Status lower_splat(const Operation& operation);
  Status lower_view(const Operation& operation);
  Status lower_broadcast(const Operation& operation);
  Status lower_transpose(const Operation& operation);
  Status lower_join(const Operation& operation);
  Status lower_split(const Operation& operation);
  Status lower_cat(const Operation& operation);
  Status lower_gather(const Operation& operation);
  Status lower_histogram(const Operation& operation);
  void strided_copy(const Value& from, const Value& to, const std::vector<std::int64_t>& strides);

  // lower_memory.cc
  Status lower_load(const Operation& operation);
  Status lower_store(const Operation& operation);
  Status lower_add_pointer(const Operation& operation);
  Status lower_atomic(const Operation& operation);
  Status lower_compare_and_swap(const Operation& operation);
  void note_atomic(Instruction& made, MemoryOrder order);
  Status lower_make_descriptor(const Operation& operation);
  Status lower_descriptor_load(const Operation& operation);
  Status lower_descriptor_store(const Operation& operation);
  Status lower_descriptor_reduce(const Operation& operation);
  struct DescriptorBlock {
    Value descriptor, addresses, mask;
  };
  Result<DescriptorBlock> descriptor_block(const Operation& operation, std::size_t first,
                                           const ValueType& block);
  Status fill_descriptor(const Function& kernel, std::size_t index);

  // lower_control.cc
  Status lower_for(const Operation& operation);
  Status lower_if(const Operation& operation);
  Status lower_if_in_lanes(const Operation& operation);
  Status lower_while(const Operation& operation);
  Status lower_call(const Operation& operation);
  Status lower_branch(const Operation& operation);
  Status lower_return(const Operation& operation);
  Status lower_program_id(const Operation& operation);
  Status lower_assert(const Operation& operation);
  Status lower_nothing(const Operation& operation);
  Status jump_to(const Operation& operation, const Successor& successor);
  Result<const Operation*> lower_body(const Operation& parent, const Region& region,
                                      std::string_view terminator);

  // lower_combine.cc
  Status lower_reduce(const Operation& operation);
  Status lower_scan(const Operation& operation);
  Status lower_map(const Operation& operation);
  struct Axis {
    std::int64_t outer = 1, size = 1, inner = 1;
  };
  Result<Axis> combine_axis(const Operation& operation, const std::vector<Value>& operands);
  Result<std::vector<Value>> combine(const Operation& operation,
                                     const std::vector<Value>& arguments);
  Status lower_dot(const Operation& operation);

  const Module& module_;
  ProgramBuilder builder_;
  std::vector<Value> values_;
  std::optional<Refusal> refusal_;
  std::vector<std::string> calls_;  // the functions that are being inlined
  // The number of operations so far. Operations of an inlined function count each time.
  std::size_t lowered_ = 0;
  std::int64_t lanes_ = 0;  // elements computed at once in a combine function; 0 outside
  std::map<std::string, Value> constants_;
  // The blocks of the function that is being lowered.
  struct Frame {
    std::map<std::string, std::pair<ProgramBuilder::Label, const Block*>> blocks;
    ProgramBuilder::Label end = 0;
    std::vector<Value> results;
  };
  Frame* frame_ = nullptr;
};

}  // namespace tritonsmith::gym::triton_ir
