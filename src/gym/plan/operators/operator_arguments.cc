#include "gym/plan/operators/operator_arguments.h"

#include <algorithm>
#include <array>

#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::operators {
namespace {

const auto* row_of(const auto& rows, std::string_view name) {
  const auto at = std::ranges::find_if(rows, [&](const auto& row) { return row.name == name; });
  return at == rows.end() ? nullptr : &*at;
}

}  // namespace

std::span<const NumberArgument> number_arguments() {
  using enum Meaning;
  static constexpr auto kNumbers = std::to_array<NumberArgument>({
      {"add", 1, addend, "the number added"},
      {"sub", 1, addend, "the number subtracted"},
      {"rsub", 1, addend, "the number subtracted from"},
      {"mul", 1, factor, "the factor"},
      {"div", 1, factor, "the divisor"},
      {"pow", 1, exponent, "the exponent"},
      {"clamp", 1, low, "the lower bound"},
      {"clamp", 2, high, "the upper bound"},
      {"clamp_min", 1, low, "the lower bound"},
      {"clamp_max", 1, high, "the upper bound"},
      {"hardtanh", 1, low, "the lower bound", -1},
      {"hardtanh", 2, high, "the upper bound", 1},
      {"leaky_relu", 1, slope, "the slope", 0.01},
      {"elu", 1, slope, "alpha", 1},
      {"celu", 1, slope, "alpha", 1},
      {"softplus", 1, other, "beta", 1},
      {"threshold", 1, other, "the threshold"},
      {"threshold", 2, other, "the value below the threshold"},
      {"hardshrink", 1, other, "lambda", 0.5},
      {"softshrink", 1, other, "lambda", 0.5},
      {"masked_fill", 2, other, "the value where the mask holds"},
      {"native_layer_norm", 4, epsilon, "epsilon"},
      {"layer_norm", 4, epsilon, "epsilon", 1e-5},
      {"native_group_norm", 7, epsilon, "epsilon"},
      {"group_norm", 4, epsilon, "epsilon", 1e-5},
      {"native_batch_norm", 6, other, "momentum"},
      {"native_batch_norm", 7, batch_epsilon, "epsilon"},
      {"cudnn_batch_norm", 6, other, "momentum"},
      {"cudnn_batch_norm", 7, batch_epsilon, "epsilon"},
      {"batch_norm", 6, other, "momentum"},
      {"batch_norm", 7, batch_epsilon, "epsilon"},
      {"instance_norm", 7, epsilon, "epsilon"},
      {"rms_norm", 3, epsilon, "epsilon", {}, true},
      {"_fused_rms_norm", 3, epsilon, "epsilon", {}, true},
      {"cosine_similarity", 3, divisor_epsilon, "epsilon", 1e-8},
      {"smooth_l1_loss", 3, other, "beta", 1},
      {"huber_loss", 3, other, "delta", 1},
      {"gt", 1, other, "the number compared with"},
      {"ge", 1, other, "the number compared with"},
      {"lt", 1, other, "the number compared with"},
      {"le", 1, other, "the number compared with"},
      {"eq", 1, other, "the number compared with"},
      {"ne", 1, other, "the number compared with"},
      {"remainder", 1, other, "the divisor"},
      {"fmod", 1, other, "the divisor"},
      {"bitwise_and", 1, other, "the mask of bits"},
      {"__rshift__", 1, other, "the shift"},
      {"__lshift__", 1, other, "the shift"},
      {"full", 1, other, "the value"},
      {"full_like", 1, other, "the value"},
      {"scalar_tensor", 0, other, "the value"},
      {"fill", 1, other, "the value"},
      {"tril", 1, other, "the diagonal", 0},
      {"triu", 1, other, "the diagonal", 0},
      {"linalg_vector_norm", 1, exponent, "the order of the norm"},
  });
  return kNumbers;
}

const NumberArgument* number_argument(std::string_view base_name, Meaning meaning) {
  const auto numbers = number_arguments();
  const auto at = std::ranges::find_if(numbers, [&](const NumberArgument& each) {
    return each.name == base_name && each.meaning == meaning;
  });
  return at == numbers.end() ? nullptr : &*at;
}

std::span<const FlagArgument> flag_arguments() {
  static constexpr auto kFlags = std::to_array<FlagArgument>({
      {"scaled_dot_product_attention", "is_causal", 5, false},
      {"avg_pool1d", "count_include_pad", 5, true},
      {"avg_pool2d", "count_include_pad", 5, true},
      {"avg_pool3d", "count_include_pad", 5, true},
      {"native_batch_norm", "training", 5, false},
      {"cudnn_batch_norm", "training", 5, false},
      {"batch_norm", "training", 5, false},
      {"bucketize", "right", 99, false},
      {"topk", "largest", 3, true},
      {"sort", "descending", 2, false},
      {"argsort", "descending", 2, false},
  });
  return kFlags;
}

const TrainingFlag* training_flag(std::string_view base_name) {
  static constexpr auto kFlags = std::to_array<TrainingFlag>({
      {"native_dropout", 2, "train"},
      {"dropout", 2, "train"},
      {"dropout_", 2, "train"},
      {"feature_dropout", 2, "train"},
      {"alpha_dropout", 2, "train"},
      {"feature_alpha_dropout", 2, "train"},
      {"rrelu", 3, "training"},
      {"rrelu_with_noise", 4, "training"},
  });
  return row_of(kFlags, base_name);
}

// The arguments are lstm.input(input, hx, params, has_biases, num_layers, dropout, train, ...). The
// .data form has one argument more.
std::optional<std::size_t> dropout_probability(std::string_view full_name) {
  if (is(full_name, Trait::recurrent)) return full_name.ends_with(".data") ? 6 : 5;
  if (aten_base_name(full_name) == "scaled_dot_product_attention") return 4;
  return std::nullopt;
}

const LookupArguments* lookup_arguments(std::string_view base_name) {
  static constexpr auto kLookups = std::to_array<LookupArguments>({
      {"embedding", 1},
      {"index_select", 2, 1},
      {"gather", 2, 1},
      {"index_add", 2, 1},
      {"scatter_add", 2, 1},
      {"scatter_reduce", 2, 1},
      {"take_along_dim", 1, 2},
  });
  return row_of(kLookups, base_name);
}

const IgnoredNumber* ignored_number(std::string_view base_name) {
  static constexpr auto kIgnored = std::to_array<IgnoredNumber>({
      {"nll_loss", 1, 4, true},
      {"nll_loss_nd", 1, 4, true},
      {"nll_loss2d", 1, 4, true},
      {"nll_loss_forward", 1, 4, true},
      {"nll_loss2d_forward", 1, 4, true},
      {"nll_loss_backward", 2, 5, true},
      {"nll_loss2d_backward", 2, 5, true},
      {"cross_entropy_loss", 1, 4, true},
      {"embedding_dense_backward", 1, 3},
  });
  return row_of(kIgnored, base_name);
}

std::optional<std::size_t> reduced_dimensions(std::string_view base_name) {
  struct Row {
    std::string_view name;
    std::size_t position;
  };
  static constexpr auto kRows = std::to_array<Row>({
      {"sum", 1},
      {"mean", 1},
      {"amax", 1},
      {"amin", 1},
      {"max", 1},
      {"min", 1},
      {"prod", 1},
      {"argmax", 1},
      {"argmin", 1},
      {"logsumexp", 1},
      {"var", 1},
      {"std", 1},
      {"all", 1},
      {"any", 1},
      {"median", 1},
      {"linalg_vector_norm", 2},
      {"topk", 2},
      {"var_mean", 1},
  });
  const Row* row = row_of(kRows, base_name);
  return row == nullptr ? std::nullopt : std::optional(row->position);
}

}  // namespace tritonsmith::gym::plan::operators
