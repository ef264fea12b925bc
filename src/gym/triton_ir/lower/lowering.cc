#include "gym/triton_ir/lower/lowering.h"

#include <algorithm>
#include <unordered_map>

namespace tritonsmith::gym::triton_ir {
namespace {
constexpr std::size_t kMaxInstructions = 1'000'000;

// Returns the elements and the bytes per element of the register that holds a value of the type.
std::pair<std::size_t, std::size_t> extent(const ValueType& type) {
  if (type.element == Element::descriptor) return {2 + 2 * type.shape.size(), 8};
  return {static_cast<std::size_t>(type.count()), register_bytes(type.element)};
}

bool takes_descriptors(std::string_view operation) {
  return operation.starts_with("tt.descriptor_") || operation.starts_with("scf.") ||
         operation == "tt.call" || operation == "tt.return";
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table
Lowering::Method Lowering::find_method(std::string_view name) {
  using L = Lowering;
  static const std::unordered_map<std::string_view, Method> methods = {
      {"arith.constant", &L::lower_constant},
      {"tt.make_range", &L::lower_range},
      {"ub.poison", &L::lower_poison},
      {"arith.cmpi", &L::lower_compare},
      {"arith.cmpf", &L::lower_compare},
      {"arith.select", &L::lower_select},
      {"arith.extsi", &L::lower_convert},
      {"arith.extui", &L::lower_convert},
      {"arith.trunci", &L::lower_convert},
      {"arith.sitofp", &L::lower_convert},
      {"arith.uitofp", &L::lower_convert},
      {"arith.fptosi", &L::lower_convert},
      {"arith.fptoui", &L::lower_convert},
      {"arith.extf", &L::lower_convert},
      {"arith.truncf", &L::lower_convert},
      {"arith.index_cast", &L::lower_convert},
      {"arith.index_castui", &L::lower_convert},
      {"tt.fp_to_fp", &L::lower_fp_to_fp},
      {"tt.bitcast", &L::lower_bitcast},
      {"arith.bitcast", &L::lower_bitcast},
      {"tt.clampf", &L::lower_clamp},
      {"tt.extern_elementwise", &L::lower_libdevice},
      {"arith.mului_extended", &L::lower_wide_multiply},
      {"arith.mulsi_extended", &L::lower_wide_multiply},
      {"math.fpowi", &L::lower_power},
      {"tt.splat", &L::lower_splat},
      {"tt.unsplat", &L::lower_view},
      {"tt.expand_dims", &L::lower_view},
      {"tt.reshape", &L::lower_view},
      {"tt.broadcast", &L::lower_broadcast},
      {"tt.trans", &L::lower_transpose},
      {"tt.join", &L::lower_join},
      {"tt.split", &L::lower_split},
      {"tt.cat", &L::lower_cat},
      {"tt.gather", &L::lower_gather},
      {"tt.histogram", &L::lower_histogram},
      {"tt.load", &L::lower_load},
      {"tt.store", &L::lower_store},
      {"tt.addptr", &L::lower_add_pointer},
      {"tt.ptr_to_int", &L::lower_bitcast},
      {"tt.atomic_rmw", &L::lower_atomic},
      {"tt.atomic_cas", &L::lower_compare_and_swap},
      {"tt.make_tensor_descriptor", &L::lower_make_descriptor},
      {"tt.descriptor_load", &L::lower_descriptor_load},
      {"tt.descriptor_store", &L::lower_descriptor_store},
      {"tt.descriptor_reduce", &L::lower_descriptor_reduce},
      {"scf.for", &L::lower_for},
      {"scf.if", &L::lower_if},
      {"scf.while", &L::lower_while},
      {"tt.call", &L::lower_call},
      {"cf.br", &L::lower_branch},
      {"cf.cond_br", &L::lower_branch},
      {"tt.return", &L::lower_return},
      {"tt.get_program_id", &L::lower_program_id},
      {"tt.get_num_programs", &L::lower_program_id},
      {"tt.assert", &L::lower_assert},
      {"tt.print", &L::lower_nothing},
      {"llvm.intr.assume", &L::lower_assert},
      {"gpu.barrier", &L::lower_nothing},
      {"ttg.barrier", &L::lower_nothing},
      {"ttg.local_barrier", &L::lower_nothing},
      {"tt.reduce", &L::lower_reduce},
      {"tt.scan", &L::lower_scan},
      {"tt.map_elementwise", &L::lower_map},
      {"tt.dot", &L::lower_dot},
  };
  auto found = methods.find(name);
  return found == methods.end() ? nullptr : found->second;
}

Result<std::unique_ptr<const Code>> Lowering::run(const Function& kernel) {
  Code& code = builder_.code();
  code.name = kernel.name;
  code.locations = module_.locations;
  for (const BlockArgument& argument : kernel.arguments) {
    if (argument.type.is_tensor) return fail("kernel {} takes a tensor by value", kernel.name);
    Value made = make_pinned(argument.type);
    define(argument.value, made);
    code.parameters.push_back({.type = argument.type, .place = made.place});
    code.argument_types.push_back(argument.type);
  }
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i)
    if (kernel.arguments[i].type.element == Element::descriptor) TRY(fill_descriptor(kernel, i));
  if (kernel.body.blocks.empty()) return fail("kernel {} has no body", kernel.name);
  calls_.push_back(kernel.name);
  TRY(lower_function(kernel, {}));
  auto finished = builder_.finish();
  if (!finished) refusal_ = Refusal{.operation = "tt.func", .message = finished.error().message};
  return finished;
}

Status Lowering::lower_function(const Function& function, const std::vector<Value>& results) {
  Frame frame{.end = builder_.make_label(), .results = results};
  for (const Block& block : function.body.blocks) {
    frame.blocks[block.label] = {builder_.make_label(), &block};
    if (&block != &function.body.blocks.front())
      for (const BlockArgument& argument : block.arguments)
        define(argument.value, make(argument.type));
  }
  Frame* outer = std::exchange(frame_, &frame);
  for (const Block& block : function.body.blocks) {
    builder_.place(frame.blocks[block.label].first);
    for (const Operation& operation : block.operations) TRY(lower(operation));
  }
  builder_.place(frame.end);
  frame_ = outer;
  return ok();
}

Status Lowering::lower(const Operation& operation) {
  if (builder_.instructions() > kMaxInstructions)
    return refuse(operation, "the kernel unfolds to too many instructions");
  // Nested calls can unfold exponentially without instructions, so every operation counts.
  if (++lowered_ > kMaxInstructions)
    return refuse(operation, "the kernel unfolds to too many operations");
  builder_.set_location(operation.location);
  if (const ElementwiseOperation* row = find_elementwise(operation.name))
    return lower_elementwise(operation, *row);
  Method method = find_method(operation.name);
  if (method == nullptr) return refuse(operation, "the evaluator has no such operation");
  return (this->*method)(operation);
}

Status Lowering::refuse(const Operation& operation, std::string_view why) {
  SourceLine at = module_.locations[static_cast<std::size_t>(operation.location)];
  refusal_ = Refusal{
      .operation = operation.name, .message = fmt::format("{}: {}", operation.name, why), .at = at};
  return fail("{}", refusal_->message);
}

tl::unexpected<Error> Lowering::malformed(const Operation& operation, std::string_view what) const {
  SourceLine at = module_.locations[static_cast<std::size_t>(operation.location)];
  return fail("malformed Triton IR: {}: {} (kernel line {})", operation.name, what, at.line);
}

Status Lowering::expect_operands(const Operation& operation, std::size_t at_least,
                                 std::size_t at_most) {
  std::size_t count = operation.operands.size();
  if (count < at_least || count > at_most)
    return malformed(operation, fmt::format("{} operands", count));
  return ok();
}

Result<Value> Lowering::operand(const Operation& operation, std::size_t index) {
  if (index >= operation.operands.size()) return malformed(operation, "an operand is missing");
  const Value& found = value(operation.operands[index]);
  if (!found.defined()) return malformed(operation, "an operand is used before it is defined");
  // A descriptor's register does not hold its block's elements. Only operations that expect a
  // descriptor may take one.
  if (found.type.element == Element::descriptor &&
      (lanes_ > 0 || !takes_descriptors(operation.name)))
    return malformed(operation, "an operand is a descriptor");
  if (lanes_ > 0 && !found.type.is_tensor) return spread(found, {lanes_});
  return found;
}

Result<std::vector<Value>> Lowering::operands(const Operation& operation, std::size_t first) {
  std::vector<Value> list;
  for (std::size_t i = first; i < operation.operands.size(); ++i) {
    TRY_ASSIGN(Value found, operand(operation, i));
    list.push_back(std::move(found));
  }
  return list;
}

Result<Register> Lowering::scalar(const Operation& operation, std::size_t index, Element element) {
  TRY_ASSIGN(Value found, operand(operation, index));
  if (found.type != scalar_of(element))
    return malformed(operation, fmt::format("operand {} is {}, not {}", index,
                                            to_string(found.type), name_of(element)));
  return found.place;
}

Value Lowering::make(const ValueType& type) {
  auto [count, bytes] = extent(type);
  return {type, builder_.make(count, bytes)};
}

Value Lowering::make_pinned(const ValueType& type) {
  auto [count, bytes] = extent(type);
  return {type, builder_.make_pinned(count, bytes)};
}

void Lowering::define(const Operation& operation, std::size_t index, const Value& value) {
  if (index < operation.results.size()) define(operation.results[index], value);
}

Value Lowering::spread(const Value& scalar, const std::vector<std::int64_t>& shape) {
  ValueType type = scalar.type;
  type.is_tensor = true;
  type.shape = shape;
  Value made = make(type);
  builder_.emit(splat_handler(register_bytes(type.element)), made.place, {scalar.place},
                static_cast<std::size_t>(type.count()));
  return made;
}

void Lowering::copy(const Value& from, const Value& to) {
  if (from.place == to.place) return;
  auto [count, bytes] = extent(to.type);
  builder_.emit(copy_handler(bytes), to.place, {from.place}, count);
}

// Copies all values as if at once. If a source is also a target, they go through new registers.
Status Lowering::copy_all(const Operation& operation, const std::vector<Value>& from,
                          const std::vector<Value>& to) {
  if (from.size() != to.size())
    return malformed(operation, "a wrong number of values is handed on");
  bool tangled = false;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i].type != to[i].type)
      return malformed(operation, fmt::format("{} is handed on as {}", to_string(from[i].type),
                                              to_string(to[i].type)));
    for (std::size_t k = 0; k < i; ++k)
      tangled |= to[k].place == from[i].place && to[k].place != from[k].place;
  }
  std::vector<Value> sources = from;
  if (tangled)
    for (Value& source : sources) {
      Value moved = make(source.type);
      copy(source, moved);
      source = moved;
    }
  for (std::size_t i = 0; i < sources.size(); ++i) copy(sources[i], to[i]);
  return ok();
}

void Lowering::round(const Value& value, bool toward_zero) {
  if (Handler handler = rounding_handler(value.type.element, toward_zero))
    builder_.emit(handler, value.place, {}, static_cast<std::size_t>(value.type.count()));
}

}  // namespace tritonsmith::gym::triton_ir
