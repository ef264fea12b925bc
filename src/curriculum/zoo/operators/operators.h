// Lists the operators of the zoo, in one table a group. A row has a name, how often it is drawn,
// and a rule. The rule looks whether the operator fits the sketch's current value. If it fits, the
// rule draws its settings, extends the sketch, and says the shape of the result. If it does not
// fit, the rule returns false and leaves the sketch as it was.
#pragma once

#include <span>
#include <string_view>

#include "curriculum/zoo/sketch.h"

namespace tritonsmith::curriculum::zoo {

enum class Group {
  product,  // linear layers, matrix products, attention
  convolution,
  pool,
  norm,
  softmax,
  activation,
  arithmetic,  // with constants, parameters, further inputs and earlier values
  reduction,
  scan,
  view,
  loss,  // only as the last operator
};

struct Operator {
  std::string_view name;
  Group group = Group::activation;
  int weight = 1;
  bool (*apply)(Sketch& sketch) = nullptr;
};

// All operators, group by group.
std::span<const Operator> all_operators();

// One table a group, in the file of that name.
std::span<const Operator> products();
std::span<const Operator> convolutions();
std::span<const Operator> pools();
std::span<const Operator> norms();
std::span<const Operator> activations();
std::span<const Operator> arithmetic();
std::span<const Operator> reductions();  // with softmax and scans
std::span<const Operator> views();
std::span<const Operator> losses();

}  // namespace tritonsmith::curriculum::zoo
