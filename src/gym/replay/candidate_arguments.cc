#include "gym/replay/candidate_arguments.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::replay {
namespace {

using Stack = torch::jit::Stack;

bool has_shape(const at::Tensor& tensor, at::IntArrayRef shape, c10::ScalarType dtype) {
  return tensor.defined() && tensor.sizes() == shape && tensor.scalar_type() == dtype &&
         tensor.is_contiguous();
}

// Says whether the argument is a number to compute with, as the value that `full` fills with. The
// numbers of a range decide its size, too.
bool is_computed_with(const c10::FunctionSchema& schema, std::size_t k) {
  const auto is_number = [](const c10::TypePtr& type) {
    return type->kind() == c10::TypeKind::NumberType;
  };
  if (k >= schema.arguments().size() || std::string_view(schema.name()).ends_with("range"))
    return false;
  const c10::TypePtr& type = schema.arguments()[k].type();
  const auto optional = type->cast<c10::OptionalType>();
  return optional ? is_number(optional->getElementType()) : is_number(type);
}

// A sum of huge sizes could wrap around and pass as small. Only slices are excused, because a slice
// may end at the largest number.
Status check_whole_numbers(const c10::FunctionSchema& schema, const Stack& stack) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  const auto fits = [](std::int64_t number) { return number >= -most && number <= most; };
  if (std::string_view(schema.name()).starts_with("aten::slice")) return ok();
  for (std::size_t k = 0; k < stack.size(); ++k) {
    const c10::IValue& value = stack[k];
    const bool is_fine = is_computed_with(schema, k) ? true
                         : value.isInt()             ? fits(value.toInt())
                         : value.isIntList() ? std::ranges::all_of(value.toIntVector(), fits)
                                             : true;
    if (!is_fine) return fail("a whole number beyond 2^40");
  }
  return ok();
}

// The arguments are (query, key, value, ...).
Status check_attention(const Stack& stack) {
  const at::Tensor &query = stack[0].toTensor(), &key = stack[1].toTensor(),
                   &value = stack[2].toTensor();
  for (const at::Tensor* each : {&query, &key, &value})
    if (!each->defined() || each->dim() < 2 || each->numel() == 0)
      return fail("query, key and value have elements and two dimensions at least");
  if (key.dim() != value.dim() ||
      key.sizes().slice(0, static_cast<std::size_t>(key.dim()) - 1) !=
          value.sizes().slice(0, static_cast<std::size_t>(value.dim()) - 1))
    return fail("key and value differ in more than their last dimension");
  return query.size(-1) == key.size(-1) ? ok()
                                        : fail("query and key differ in their last dimension");
}

// The arguments are (input, weight, bias, ...). Weight and bias are read as if dense.
Status check_group_norm(const Stack& stack) {
  for (const std::size_t k : {std::size_t{1}, std::size_t{2}})
    if (stack[k].isTensor() && stack[k].toTensor().defined() &&
        !stack[k].toTensor().is_contiguous())
      return fail("weight and bias are contiguous");
  return ok();
}

struct Recurrence {
  std::vector<at::Tensor> states, weights;
  at::Tensor input;
  bool has_biases = false, is_bidirectional = false, batch_first = false;
  std::int64_t layers = 0, gates = 0;
};

Status check_layer(const Recurrence& cell, std::size_t nth, std::int64_t hidden) {
  const std::int64_t directions = cell.is_bidirectional ? 2 : 1;
  const std::size_t each = cell.has_biases ? 4 : 2;
  const bool is_first = static_cast<std::int64_t>(nth) < directions;
  const std::int64_t in = is_first ? cell.input.size(2) : hidden * directions;
  const auto dtype = cell.input.scalar_type();
  const at::Tensor* weights = &cell.weights[nth * each];
  const std::int64_t rows = cell.gates * hidden;
  bool fits =
      has_shape(weights[0], {rows, in}, dtype) && has_shape(weights[1], {rows, hidden}, dtype);
  for (std::size_t k = 2; k < each; ++k) fits = fits && has_shape(weights[k], {rows}, dtype);
  return fits ? ok() : fail("the weights of a recurrent cell do not fit its input and state");
}

Status check_recurrence(const Recurrence& cell) {
  constexpr std::int64_t most_layers = 1000;
  const std::int64_t directions = cell.is_bidirectional ? 2 : 1;
  const std::size_t each = cell.has_biases ? 4 : 2;
  if (!cell.input.defined() || cell.input.dim() != 3 || cell.input.numel() == 0)
    return fail("the input of a recurrent cell has three dimensions and elements");
  if (cell.layers < 1 || cell.layers > most_layers ||
      cell.weights.size() != static_cast<std::size_t>(cell.layers * directions) * each)
    return fail("the weights of a recurrent cell are not as many as its layers need");
  if (!cell.weights[1].defined() || cell.weights[1].dim() != 2)
    return fail("a recurrent cell's weights have two dimensions");
  const std::int64_t hidden = cell.weights[1].size(1);
  const std::int64_t batch = cell.input.size(cell.batch_first ? 0 : 1);
  for (const at::Tensor& state : cell.states)
    if (hidden == 0 ||
        !has_shape(state, {cell.layers * directions, batch, hidden}, cell.input.scalar_type()))
      return fail("a recurrent cell's state does not fit its input and weights");
  for (std::size_t nth = 0; nth < cell.weights.size() / each; ++nth)
    TRY(check_layer(cell, nth, hidden));
  return ok();
}

// The arguments are (input, state or states, weights, has_biases, layers, dropout, train,
// bidirectional, batch_first).
Status check_recurrence(const Stack& stack, std::int64_t gates) {
  Recurrence cell{.input = stack[0].toTensor(), .gates = gates};
  if (stack[1].isTensor())
    cell.states = {stack[1].toTensor()};
  else
    cell.states = stack[1].toTensorVector();
  if (cell.states.size() != (gates == 4 ? 2U : 1U)) return fail("a recurrent cell lacks a state");
  cell.weights = stack[2].toTensorVector();
  cell.has_biases = stack[3].toBool();
  cell.layers = stack[4].toInt();
  cell.is_bidirectional = stack[7].toBool();
  cell.batch_first = stack[8].toBool();
  return check_recurrence(cell);
}

// An empty tensor may have any offset, and a write to it would grow its memory up to there.
Status check_tensor(const at::Tensor& tensor) {
  if (!tensor.defined()) return ok();
  const auto begin = static_cast<std::size_t>(tensor.storage_offset()) * tensor.element_size();
  return begin <= tensor.storage().nbytes() ? ok() : fail("a tensor that lies outside its memory");
}

std::vector<at::Tensor> tensors_of(const Stack& stack) {
  std::vector<at::Tensor> all;
  for (const c10::IValue& value : stack) {
    if (value.isTensor()) all.push_back(value.toTensor());
    if (value.isTensorList())
      for (const at::Tensor& tensor : value.toTensorVector()) all.push_back(tensor);
    if (value.isOptionalTensorList())
      for (const std::optional<at::Tensor> tensor : value.toOptionalTensorList())
        if (tensor) all.push_back(*tensor);
  }
  return all;
}

Status check_tensors(const Stack& stack) {
  for (const at::Tensor& tensor : tensors_of(stack)) TRY(check_tensor(tensor));
  return ok();
}

// Limits work that tensor sizes do not: dimensions, matrices of a product, differences.
Status check_counts(const c10::FunctionSchema& schema, const Stack& stack) {
  constexpr std::size_t most_dimensions = 64, most_products = 256;
  constexpr std::int64_t most_differences = 64;
  const std::string_view name = schema.name();
  for (const c10::IValue& value : stack)
    if (value.isIntList() && value.toIntVector().size() > most_dimensions &&
        name != "aten::split" && name != "aten::split_with_sizes")
      return fail("a shape of more than {} dimensions", most_dimensions);
  if ((name == "aten::linalg_multi_dot" || name == "aten::chain_matmul") &&
      stack[0].toTensorVector().size() > most_products)
    return fail("a product of more than {} matrices", most_products);
  if (name == "aten::diff" && stack[1].isInt() && stack[1].toInt() > most_differences)
    return fail("differences of more than the {}th order", most_differences);
  return ok();
}

// Such an operator returns a list of views, and each costs host time. The arguments are (self,
// number or size of parts, dim).
Status check_parts(const c10::FunctionSchema& schema, const Stack& stack) {
  constexpr std::int64_t most = 1 << 16;
  const bool is_list = plan::operators::is(schema.name(), plan::operators::Trait::lists_views);
  if (!is_list || !stack[0].isTensor()) return ok();
  const at::Tensor& self = stack[0].toTensor();
  if (!self.defined() || self.dim() == 0 || self.numel() <= most) return ok();
  std::int64_t size = *std::max_element(self.sizes().begin(), self.sizes().end());
  const auto dim = schema.argumentIndexWithName("dim");
  if (dim && stack[static_cast<std::size_t>(*dim)].isInt())
    size = self.size(stack[static_cast<std::size_t>(*dim)].toInt());
  std::int64_t parts = size;
  if (schema.argumentIndexWithName("split_size") && stack[1].isInt())
    parts = size / std::max<std::int64_t>(1, stack[1].toInt());
  else if (schema.name() != "aten::unbind" && stack.size() > 1 && stack[1].isInt())
    parts = stack[1].toInt();
  return parts <= most ? ok() : fail("more than {} parts", most);
}

// The arguments are (v, g, dim). g holds a length for each row or column, and the operator reads
// both as if they were dense.
Status check_weight_norm(const Stack& stack) {
  const at::Tensor &v = stack[0].toTensor(), &g = stack[1].toTensor();
  const std::int64_t dim = stack[2].toInt();
  const bool fits = v.defined() && g.defined() && v.dim() > 0 && v.numel() > 0 &&
                    (dim == 0 || dim == v.dim() - 1) && g.numel() == v.size(dim) &&
                    v.is_contiguous() && g.is_contiguous() && v.scalar_type() == g.scalar_type() &&
                    v.is_floating_point();
  return fits ? ok() : fail("a weight's lengths do not fit it");
}

}  // namespace

bool has_endless_view(const Stack& stack) {
  constexpr std::int64_t most = std::int64_t{1} << 34;
  return std::ranges::any_of(tensors_of(stack), [](const at::Tensor& tensor) {
    return tensor.defined() && tensor.numel() > most;
  });
}

Status check_candidate_arguments(const c10::FunctionSchema& schema, const Stack& stack) {
  TRY(check_whole_numbers(schema, stack));
  TRY(check_tensors(stack));
  TRY(check_parts(schema, stack));
  TRY(check_counts(schema, stack));
  const std::string_view name = schema.name();
  if (name == "aten::scaled_dot_product_attention") return check_attention(stack);
  if (name == "aten::native_group_norm") return check_group_norm(stack);
  if (name == "aten::lstm") return check_recurrence(stack, 4);
  if (name == "aten::gru") return check_recurrence(stack, 3);
  if (name == "aten::rnn_tanh" || name == "aten::rnn_relu") return check_recurrence(stack, 1);
  if (name == "aten::median" || name == "aten::nanmedian")
    return stack[0].toTensor().is_non_overlapping_and_dense()
               ? ok()
               : fail("a median is taken of elements that lie apart");
  if (name == "aten::_weight_norm_interface") return check_weight_norm(stack);
  if (name == "aten::reflection_pad3d")
    return stack[1].toIntVector().size() == 6 ? ok() : fail("six numbers pad three dimensions");
  if (name.starts_with("aten::upsample_") || name.starts_with("aten::_upsample_"))
    return stack[0].toTensor().is_floating_point() ? ok() : fail("only floats are interpolated");
  return ok();
}

}  // namespace tritonsmith::gym::replay
