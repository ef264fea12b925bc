#include "gym/plan/analysis/compared_numbers.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>

#include "gym/plan/analysis/constant_numbers.h"
#include "gym/plan/analysis/exact_at_halves.h"
#include "gym/plan/operators/operator_arguments.h"
#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

using operators::Trait;

// PyTorch ignores this number if a task names no other. A task that draws classes alone says nothing
// about it.
constexpr double kIgnoredByDefault = -100;

bool asks_for_equals(const AtenCall& call) {
  const std::string_view name = operators::aten_base_name(call.op);
  return name.starts_with("eq") || name.starts_with("ne") || name.starts_with("not_equal") ||
         name == "isin";
}

// Follows a draw through operators on single elements.
class DrawnNumbers {
 public:
  DrawnNumbers(const Plan& task, const InputDraw& draw) : draw_(draw), constants_(task) {
    lines_[draw.tensor] = {};
  }

  void follow(const AtenCall& call) {
    for (std::size_t k = 0; k < call.args.size(); ++k)
      if (const Line* line = line_of(call.args[k])) note(call, k, *line);
    const auto made = after(call);
    for (const int output : call.outputs)
      if (output >= 0 && made)
        lines_[output] = *made;
      else if (output >= 0)
        lines_.erase(output);
  }

  ComparedNumbers found() const {
    ComparedNumbers found{.met = met_};
    if (is_only_lost_) found.ignored = ignored_;
    return found;
  }

 private:
  // The element is factor * number + offset, perhaps rounded down. A remainder changes neither of the
  // two: the numbers below the divisor are among those that have this remainder.
  struct Line {
    double factor = 1, offset = 0;
  };

  const Line* line_of(const Value& value) const {
    const auto* tensor = std::get_if<TensorRef>(&value.data);
    const auto found = tensor == nullptr ? lines_.end() : lines_.find(tensor->index);
    return found == lines_.end() ? nullptr : &found->second;
  }

  void note(const AtenCall& call, std::size_t argument, const Line& line) {
    const auto* loss = operators::ignored_number(operators::aten_base_name(call.op));
    if (loss != nullptr && loss->indices == argument) {
      const auto number =
          call.args.size() > loss->number ? number_of(call.args[loss->number]) : std::nullopt;
      if (number && *number != kIgnoredByDefault) note_ignored(*number, line, loss->may_be_any);
      return;
    }
    if (!operators::only_arranges(call.op)) is_only_lost_ = false;
    if (!meets_numbers(call)) return;
    for (std::size_t k = 0; k < call.args.size(); ++k)
      if (k != argument)
        for (const double number : constants_.of(call.args[k]))
          add_met((number - line.offset) / line.factor, asks_for_equals(call));
  }

  void note_ignored(double number, const Line& line, bool may_be_any) {
    const double drawn = (number - line.offset) / line.factor;
    add(met_, drawn);
    if (may_be_any && (drawn < draw_.low || drawn > draw_.high)) add(ignored_, drawn);
  }

  void add_met(double number, bool equals) {
    add(met_, number);
    if (equals) return;
    add(met_, std::ceil(number) - 1);
    add(met_, std::floor(number) + 1);
  }

  static void add(std::vector<double>& numbers, double number) {
    constexpr std::size_t most = 48;
    if (std::isfinite(number) && number == std::floor(number) && numbers.size() < most &&
        std::ranges::find(numbers, number) == numbers.end())
      numbers.push_back(number);
  }

  std::optional<Line> after(const AtenCall& call) const {
    if (operators::only_arranges(call.op)) {
      for (const int read : tensors_given_to(call))
        if (const Line* line = line_of(Value{TensorRef{read}})) return *line;
      return std::nullopt;
    }
    const Line* before = call.args.empty() ? nullptr : line_of(call.args[0]);
    if (before == nullptr) return std::nullopt;
    const std::string_view name = operators::functional_name(call.op);
    if (name == "neg") return Line{-before->factor, -before->offset};
    const std::vector<double> numbers =
        call.args.size() > 1 ? constants_.of(call.args[1]) : std::vector<double>{};
    if (numbers.size() != 1) return std::nullopt;
    return after_number(name, *before, numbers[0]);
  }

  static std::optional<Line> after_number(std::string_view name, const Line& before,
                                          double number) {
    const auto scaled = [&](double by) { return Line{before.factor * by, before.offset * by}; };
    if (name == "add") return Line{before.factor, before.offset + number};
    if (name == "sub") return Line{before.factor, before.offset - number};
    if (name == "rsub") return Line{-before.factor, number - before.offset};
    if (name == "remainder" || name == "fmod" || name == "bitwise_and" || name == "__and__")
      return before;
    if (number == 0) return std::nullopt;
    if (name == "mul") return scaled(number);
    if (name == "div" || name == "floor_divide") return scaled(1 / number);
    if (name == "__rshift__" || name == "bitwise_right_shift") return scaled(std::exp2(-number));
    return std::nullopt;
  }

  const InputDraw& draw_;
  ConstantNumbers constants_;
  std::map<int, Line> lines_;
  std::vector<double> met_, ignored_;
  bool is_only_lost_ = true;
};

}  // namespace

bool meets_numbers(const AtenCall& call) {
  const std::string_view name = operators::functional_name(call.op);
  return operators::is(call.op, Trait::bounds) || operators::is(call.op, Trait::steps) ||
         name == "isin" || name == "minimum" || name == "maximum";
}

ComparedNumbers compared_numbers(const Plan& task, const InputDraw& draw) {
  DrawnNumbers drawn(task, draw);
  for (std::size_t k = draw.step + 1; k < task.steps.size(); ++k)
    if (const auto* call = std::get_if<AtenCall>(&task.steps[k].action);
        call != nullptr && task.steps[k].phase != Phase::init)
      drawn.follow(*call);
  return drawn.found();
}

}  // namespace tritonsmith::gym::plan::analysis
