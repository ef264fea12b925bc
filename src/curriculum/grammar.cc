#include "curriculum/grammar.h"

#include <algorithm>

#include "curriculum/range.h"

namespace tritonsmith::curriculum {
namespace {

constexpr int kLongestRow = 16384;
constexpr int kTriesPerOperator = 40;

// Builds one program, operator by operator.
class Draft {
 public:
  Draft(Rng& rng, const GrammarRules& rules) : rng_(rng), rules_(rules) {
    program_.family = rules.family;
    const bool matmul = rules.family == Family::matmul;
    program_.inputs.push_back({"x", matmul ? InputShape::left : InputShape::full, Draw::normal});
    if (!matmul && rng_.uniform() < 0.25) program_.inputs[0].draw = Draw::uniform;
    program_.root = leaf(0);
  }

  std::optional<Program> finish() {
    const int before = operators_before_core();
    for (int i = 0; i < before; ++i)
      if (!grow(Side::before_core)) return std::nullopt;
    if (rules_.family != Family::elementwise && !add_core()) return std::nullopt;
    while (operator_count(program_.root) < rules_.operators)
      if (!grow(Side::after_core)) return std::nullopt;
    program_.keepdim = program_.family == Family::reduction && rng_.uniform() < 0.3;
    if (operator_count(program_.root) != rules_.operators) return std::nullopt;
    return program_;
  }

 private:
  enum class Side { before_core, after_core };

  int operators_before_core() {
    if (rules_.family == Family::elementwise) return 0;
    const int others = std::max(0, rules_.operators - 1);
    if (rules_.family == Family::matmul) return others > 1 && rng_.uniform() < 0.25 ? 1 : 0;
    return static_cast<int>(rng_.below(static_cast<std::uint64_t>(others) + 1));
  }

  // Operators of these kinds whose class the tree does not contain yet.
  std::vector<const Operator*> words(std::initializer_list<OpKind> kinds) const {
    const OperatorClasses used = operator_classes(program_.root);
    std::vector<const Operator*> found;
    for (const Operator& op : all_operators())
      if (std::find(kinds.begin(), kinds.end(), op.kind) != kinds.end() &&
          (rules_.words.empty() || rules_.words.contains(op.op)) && !used.contains(op.op_class))
        found.push_back(&op);
    return found;
  }

  Constants constants_for(const Operator& op) {
    return op.choices.empty() ? Constants{} : rng_.pick(op.choices);
  }

  // Keeps the larger tree if its values stay in range.
  bool keep(Expression tree, std::vector<Input> inputs) {
    Program next = program_;
    next.root = std::move(tree);
    next.inputs = std::move(inputs);
    if (operator_count(next.root) > rules_.operators || !range_of(next, kLongestRow)) return false;
    program_ = std::move(next);
    return true;
  }

  // Values per row, and rows that enter a matrix product, take no second operand.
  bool takes_operands(Side side) const {
    if (rules_.family == Family::reduction) return side == Side::before_core;
    return rules_.family != Family::matmul || side == Side::after_core;
  }

  bool grow(Side side) {
    for (int i = 0; i < kTriesPerOperator; ++i) {
      const auto choices =
          takes_operands(side) ? words({OpKind::unary, OpKind::binary}) : words({OpKind::unary});
      if (choices.empty()) return false;
      // There are three times as many unary operators as binary ones. The kind is drawn first, so
      // that operands are common.
      const Operator& op = *rng_.pick(choices);
      if (op.kind == OpKind::unary && takes_operands(side) && rng_.uniform() < 0.4) continue;
      if (op.kind == OpKind::unary
              ? keep(apply(op.op, constants_for(op), {program_.root}), program_.inputs)
              : add_binary(op, side))
        return true;
    }
    return false;
  }

  bool add_binary(const Operator& op, Side side) {
    std::vector<Input> inputs = program_.inputs;
    const int second = operand(inputs, side, op.op);
    if (second < 0) return false;
    Expression right = leaf(second);
    if (rules_.branches && rng_.uniform() < 0.25) {
      const auto choices = words({OpKind::unary});
      const Operator& inner = *rng_.pick(choices);
      if (inner.op_class == op.op_class) return false;
      right = apply(inner.op, constants_for(inner), {right});
    }
    if (right == program_.root) return false;  // x - x
    return keep(apply(op.op, constants_for(op), {program_.root, right}), std::move(inputs));
  }

  // Returns the index of the second operand: an existing input or a new one. Returns a negative
  // number if there is none.
  int operand(std::vector<Input>& inputs, Side side, Op op) {
    const bool weights = side == Side::after_core &&
                         (program_.family == Family::norm || program_.family == Family::matmul);
    const bool reusable =
        rules_.branches && program_.family != Family::matmul && rng_.uniform() < 0.15;
    if (reusable) return 0;
    const auto count = inputs.size();
    if (count >= static_cast<std::size_t>(rules_.most_inputs)) return -1;
    Input next{.name = fresh_argument(inputs)};
    if (rng_.uniform() < 0.4) next.draw = Draw::uniform;
    const double kind = rng_.uniform();
    if (rules_.broadcast && weights && kind < 0.7) {
      next.shape = InputShape::row;
      const std::string name = op == Op::add || op == Op::sub      ? "bias"
                               : op == Op::mul && !program_.linear ? "weight"
                                                                   : "scale";
      if (kind < 0.5 && !has_name(inputs, name))
        next = {name, InputShape::row, Draw::uniform, Source::parameter};
    } else if (rules_.broadcast && kind < 0.45) {
      next.shape = kind < 0.25 ? InputShape::row : InputShape::column;
    }
    inputs.push_back(next);
    return static_cast<int>(count);
  }

  static bool has_name(const std::vector<Input>& inputs, std::string_view name) {
    return std::any_of(inputs.begin(), inputs.end(),
                       [&](const Input& each) { return each.name == name; });
  }

  static std::string fresh_argument(const std::vector<Input>& inputs) {
    for (const char* name : {"x", "y", "z", "w"})
      if (!has_name(inputs, name)) return name;
    return "v";
  }

  bool add_core() {
    std::vector<const Operator*> choices =
        words({rules_.family == Family::reduction ? OpKind::reduction
               : rules_.family == Family::matmul  ? OpKind::matmul
                                                  : OpKind::row});
    std::erase_if(choices, [&](const Operator* op) {
      const bool softmax = op->op == Op::softmax || op->op == Op::log_softmax;
      return op->kind == OpKind::row && softmax != (rules_.family == Family::softmax);
    });
    if (choices.empty()) return false;
    const Operator& op = *rng_.pick(choices);
    std::vector<Input> inputs = program_.inputs;
    std::vector<Expression> children = {program_.root};
    if (op.kind == OpKind::matmul) {
      program_.linear = rng_.uniform() < 0.5;
      if (program_.linear)
        inputs.push_back({"weight", InputShape::matrix, Draw::normal, Source::parameter});
      else
        inputs.push_back({"y", InputShape::matrix, Draw::normal, Source::argument});
      children.push_back(leaf(1));
    }
    return keep(apply(op.op, constants_for(op), std::move(children)), std::move(inputs));
  }

  Rng& rng_;
  const GrammarRules& rules_;
  Program program_;
};

int pick_of(Rng& rng, const std::vector<int>& choices) { return rng.pick(choices); }

Sizes draw_matmul_sizes(Rng& rng, TaskScale scale) {
  if (scale == TaskScale::small)
    return {.lead = {pick_of(rng, {16, 24, 32, 48})},
            .n = pick_of(rng, {16, 32, 40, 48}),
            .k = pick_of(rng, {16, 32, 48})};
  return {.lead = {pick_of(rng, {16384, 20480, 24576})},
          .n = pick_of(rng, {1024, 1536, 2048}),
          .k = pick_of(rng, {512, 768, 1024})};
}

bool may_be_flat(const Program& program) {
  return program.family == Family::elementwise &&
         std::all_of(program.inputs.begin(), program.inputs.end(),
                     [](const Input& input) { return input.shape == InputShape::full; });
}

Sizes draw_row_sizes(Rng& rng, const Program& program, TaskScale scale) {
  const bool flat_allowed = may_be_flat(program), softmax = program.family == Family::softmax;
  const double form = rng.uniform();
  if (scale == TaskScale::gpu) {
    // In long rows, softmax would give values below any tolerance.
    const int n = softmax ? pick_of(rng, {256, 512, 1000, 1024})
                          : pick_of(rng, {1024, 2048, 4096, 5000, 8192});
    const int rows =
        static_cast<int>((std::uint64_t{1} << (26 + rng.below(2))) / static_cast<std::uint64_t>(n));
    if (flat_allowed && form < 0.15) return {.lead = {}, .n = rows * n, .k = 0};
    if (form < 0.35) return {.lead = {16, rows / 16}, .n = n, .k = 0};
    return {.lead = {rows}, .n = n, .k = 0};
  }
  if (flat_allowed && form < 0.2)
    return {.lead = {}, .n = pick_of(rng, {256, 777, 1000, 1024, 1500, 2048}), .k = 0};
  const int n = pick_of(rng, {24, 32, 50, 64, 96, 100, 128, 200, 256, 500, 512});
  const int most_rows = std::min(64, 8192 / n);
  int rows = 2 + static_cast<int>(rng.below(static_cast<std::uint64_t>(most_rows - 1)));
  if (form < 0.35 && rows >= 4) return {.lead = {2, rows / 2}, .n = n, .k = 0};
  return {.lead = {rows}, .n = n, .k = 0};
}

}  // namespace

std::optional<Program> draw_program(Rng& rng, const GrammarRules& rules) {
  return Draft(rng, rules).finish();
}

Sizes draw_sizes(Rng& rng, const Program& program, TaskScale scale) {
  for (;;) {
    const Sizes sizes = program.family == Family::matmul ? draw_matmul_sizes(rng, scale)
                                                         : draw_row_sizes(rng, program, scale);
    if (scale == TaskScale::gpu || total_elements(program, sizes) <= 8192) return sizes;
  }
}

}  // namespace tritonsmith::curriculum
