// Formula: writes the operators of a formula after a step, one call each. It works in float32, or in
// float64 if its step does. For the catalogues of this folder.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "gym/plan/faults/plan_editor.h"

namespace tritonsmith::gym::plan::faults {

class Formula {
 public:
  explicit Formula(PlanEditor& editor)
      : editor_(editor),
        dtype_(editor.tensor(editor.result()).dtype == DType::float64 ? DType::float64
                                                                      : DType::float32) {}

  const std::vector<std::int64_t>& shape(int tensor) const { return editor_.tensor(tensor).shape; }

  // Argument k of the step in the type in which the formula works; -1 if it is no tensor.
  int argument(std::size_t k) {
    const int given = editor_.argument(k);
    if (given < 0) return -1;
    return editor_.after("aten::_to_copy", {tensor_value(given)}, shape(given), dtype_,
                         {{"dtype", Value{dtype_}}});
  }
  int apply(const std::string& op, std::vector<Value> args, std::vector<std::int64_t> made) {
    return editor_.after("aten::" + op, std::move(args), std::move(made), dtype_);
  }
  int of(const std::string& op, int x) { return apply(op, {tensor_value(x)}, shape(x)); }
  int of(const std::string& op, int x, int y) {
    return apply(op, {tensor_value(x), tensor_value(y)}, wider(shape(x), shape(y)));
  }
  int of(const std::string& op, int x, double y) {
    return apply(op, {tensor_value(x), number(y)}, shape(x));
  }
  // A reduction that keeps its dimensions.
  int along(const std::string& op, int x, const std::vector<std::int64_t>& dims) {
    std::vector<std::int64_t> made = shape(x);
    for (const std::int64_t d : dims) made.at(static_cast<std::size_t>(d)) = 1;
    return apply(op, {tensor_value(x), whole_list(dims), flag(true)}, made);
  }
  int reshaped(int x, const std::vector<std::int64_t>& made) {
    return apply("reshape", {tensor_value(x), whole_list(made)}, made);
  }
  int part(int x, std::size_t d, std::int64_t from, std::int64_t to) {
    std::vector<std::int64_t> made = shape(x);
    made.at(d) = to - from;
    return apply("slice.Tensor",
                 {tensor_value(x), whole(static_cast<std::int64_t>(d)), whole(from), whole(to)},
                 made);
  }
  void becomes_result(int values) { editor_.overwrite_result(values); }
  PlanEditor& editor() { return editor_; }

 private:
  static std::vector<std::int64_t> wider(const std::vector<std::int64_t>& a,
                                         const std::vector<std::int64_t>& b) {
    std::vector<std::int64_t> wide = a.size() >= b.size() ? a : b;
    const std::vector<std::int64_t>& narrow = a.size() >= b.size() ? b : a;
    for (std::size_t k = 1; k <= narrow.size(); ++k) {
      std::int64_t& size = wide[wide.size() - k];
      size = std::max(size, narrow[narrow.size() - k]);
    }
    return wide;
  }

  PlanEditor& editor_;
  DType dtype_;
};

}  // namespace tritonsmith::gym::plan::faults
