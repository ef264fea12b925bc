// Emits what checks the hints of a kernel: before an access that they widen, and after an operation
// whose elements they call equal.
#include "gym/triton_ir/lower/operations.h"

namespace tritonsmith::gym::triton_ir {
namespace {

std::int64_t add_text(Lowering& lowering, std::string text) {
  std::vector<std::string>& texts = lowering.builder().code().texts;
  texts.push_back(std::move(text));
  return std::ssize(texts) - 1;
}

std::int64_t product(std::span<const std::int64_t> sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return count;
}

// Triton's compiler computes each of these operations once for elements that count as equal.
bool is_computed_by_element(std::string_view operation) {
  return operation != "arith.constant" &&
         (operation.starts_with("arith.") || operation.starts_with("math.") ||
          operation == "tt.extern_elementwise" || operation == "tt.fp_to_fp" ||
          operation == "tt.clampf");
}

// An access of several elements at once that hints widen.
struct HintedAccess {
  int table = -1;  // for check_vectors and spoil_vectors
  std::int64_t width = 1, bytes = 1;
  bool is_spoilt = false;  // a load of numbers, some of which may be spoilt
};

std::optional<HintedAccess> hinted_access(Lowering& lowering, const Operation& operation,
                                          const std::vector<Value>& inputs, std::size_t mask) {
  if (lowering.hints() == nullptr) return std::nullopt;
  const ValueType& type = inputs[0].type;
  const bool masked = mask < inputs.size();
  const VectorAccess access =
      lowering.hints()->access(operation.operands[0], masked ? operation.operands[mask] : -1, type);
  if (access.width <= 1) return std::nullopt;
  const std::span<const std::int64_t> shape(type.shape);
  const auto bytes = static_cast<std::int64_t>(memory_bytes(type.pointee));
  const bool is_spoilt =
      operation.name == "tt.load" && spoil_vectors_handler(type.pointee) != nullptr;
  const int table = lowering.builder().add_table(
      {product(shape.first(access.dimension)), shape[access.dimension],
       product(shape.subspan(access.dimension + 1)), access.width, bytes, is_spoilt ? 1 : 0});
  return HintedAccess{
      .table = table, .width = access.width, .bytes = bytes, .is_spoilt = is_spoilt};
}

}  // namespace

void check_hinted_access(Lowering& lowering, const Operation& operation,
                         const std::vector<Value>& inputs, std::size_t mask) {
  const std::optional<HintedAccess> hinted = hinted_access(lowering, operation, inputs, mask);
  if (!hinted) return;
  Instruction& made = lowering.builder().emit(check_vectors, kNone, {inputs[0].reg},
                                              static_cast<std::size_t>(inputs[0].type.count()));
  if (mask < inputs.size()) made.inputs[1] = inputs[mask].reg;
  made.table = hinted->table;
  made.immediate = add_text(
      lowering,
      fmt::format("false hint: because of the hint in {}, a GPU accesses {} elements at once here. "
                  "They do not lie side by side at a multiple of {} bytes, or their masks differ",
                  lowering.hints()->where(), hinted->width, hinted->width * hinted->bytes));
}

void spoil_hinted_load(Lowering& lowering, const Operation& operation,
                       const std::vector<Value>& inputs, const Value& result) {
  const std::optional<HintedAccess> hinted = hinted_access(lowering, operation, inputs, 1);
  if (!hinted || !hinted->is_spoilt) return;
  Instruction& made =
      lowering.builder().emit(spoil_vectors_handler(result.type.element), result.reg,
                              {inputs[0].reg}, static_cast<std::size_t>(result.type.count()));
  if (inputs.size() > 1) made.inputs[1] = inputs[1].reg;
  made.table = hinted->table;
}

void repeat_hinted_elements(Lowering& lowering, const Operation& operation) {
  if (lowering.hints() == nullptr || operation.results.size() != 1 ||
      !is_computed_by_element(operation.name))
    return;
  const Value result = lowering.value(operation.results[0]);
  const std::vector<std::int64_t> groups =
      lowering.hints()->equal_elements(operation.results[0], result.type);
  if (groups.empty()) return;
  std::vector<std::int64_t> table = {std::ssize(groups)};
  table.insert(table.end(), result.type.shape.begin(), result.type.shape.end());
  table.insert(table.end(), groups.begin(), groups.end());
  const int index = lowering.builder().add_table(std::move(table));
  const Value repeated = lowering.make(result.type);
  Instruction& made = lowering.builder().emit(
      repeat_equal_handler(register_bytes(result.type.element)), repeated.reg, {result.reg},
      static_cast<std::size_t>(result.type.count()));
  made.table = index;
  made.immediate =
      add_text(lowering,
               fmt::format("the hint in {} calls neighbouring elements equal, which differ here. A "
                           "GPU computes only the first of them",
                           lowering.hints()->where()));
  lowering.define(operation, 0, repeated);
}

}  // namespace tritonsmith::gym::triton_ir
