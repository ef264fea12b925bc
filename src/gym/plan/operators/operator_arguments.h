// Describes the arguments of ATen operators that the judge looks for: their position and what they
// mean. It names operators by their base name, such as "add" for "aten::add.Tensor"
// (operator_traits.h). Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tritonsmith::gym::plan::operators {

// The part that a number plays in its operator. An epsilon keeps a norm or a divisor away from zero.
// A batch norm adds its epsilon to the variance of a batch, and other norms add theirs to the mean
// square of each row. A divisor's epsilon is the least divisor.
enum class Meaning : std::uint8_t {
  addend,
  factor,
  epsilon,
  batch_epsilon,
  divisor_epsilon,
  low,
  high,
  slope,
  exponent,
  other
};
struct NumberArgument {
  std::string_view name;
  std::size_t position = 0;
  Meaning meaning = Meaning::other;
  std::string_view title;                // in words, "the divisor"
  std::optional<double> if_absent = {};  // the default, which a plan may leave out
  bool follows_dtype = false;            // the default is the epsilon of the input's type
};
std::span<const NumberArgument> number_arguments();
// Returns the operator's first number of this meaning, or null.
const NumberArgument* number_argument(std::string_view base_name, Meaning meaning);

struct FlagArgument {
  std::string_view name, keyword;
  std::size_t position = 0;
  bool if_absent = false;
};
std::span<const FlagArgument> flag_arguments();

// The flag that says whether an operator that draws numbers is in training mode.
struct TrainingFlag {
  std::string_view name;
  std::size_t position = 0;
  std::string_view keyword;
  bool in_eval_mode = false;
};
// Returns null if the operator has no such flag.
const TrainingFlag* training_flag(std::string_view base_name);

// Returns the position of a probability of dropout. It takes the full name, because overloads
// differ. A recurrent cell's flag of training mode follows its probability.
std::optional<std::size_t> dropout_probability(std::string_view full_name);

// An operator that looks up, adds or compares at indices that an argument names. It does not matter
// to it how often an index is named.
struct LookupArguments {
  std::string_view name;
  std::size_t indices = 0;
  std::optional<std::size_t> dimension = {};  // without it, indices are along the first dimension
};
// Returns null for all other operators.
const LookupArguments* lookup_arguments(std::string_view base_name);

// An operator that leaves one number among its indices out.
struct IgnoredNumber {
  std::string_view name;
  std::size_t indices = 0, number = 0;  // positions
  bool may_be_any = false;              // the number need not be a valid index
};
// Returns null for all other operators.
const IgnoredNumber* ignored_number(std::string_view base_name);

// Returns the position of the dimensions along which a reduction runs.
std::optional<std::size_t> reduced_dimensions(std::string_view base_name);

}  // namespace tritonsmith::gym::plan::operators
