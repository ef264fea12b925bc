#include "curriculum/zoo/sketch.h"

#include <fmt/format.h>

#include <algorithm>

namespace tritonsmith::curriculum::zoo {
namespace {

constexpr std::size_t kLongestOperand = 56;

std::string shape_comment(const Shape& shape) {
  std::string text;
  for (const int size : shape) text += fmt::format("{}{}", text.empty() ? "" : ", ", size);
  return fmt::format("  # ({})", text);
}

}  // namespace

bool chance(Sketch& sketch, double share) { return sketch.rng().uniform() < share; }

int draw_between(Sketch& sketch, int low, int high) {
  return low + static_cast<int>(sketch.rng().below(static_cast<std::uint64_t>(high - low + 1)));
}

std::string pick(Sketch& sketch, std::initializer_list<const char*> choices) {
  return *(choices.begin() + sketch.rng().below(choices.size()));
}

int pick(Sketch& sketch, std::initializer_list<int> choices) {
  return *(choices.begin() + sketch.rng().below(choices.size()));
}

std::string argument(Sketch& sketch, const std::string& name, const std::string& text) {
  return chance(sketch, sketch.style().keywords) ? name + "=" + text : text;
}

bool is_tight(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' || text[i] == '[';
    depth -= text[i] == ')' || text[i] == ']';
    if (depth == 0 && (text[i] == ' ' || (i == 0 && text[i] == '-'))) return false;
  }
  return true;
}

void Sketch::begin(const InputLine& first, Value value) {
  parts_.inputs.push_back(first);
  taken_[first.name] = 1;
  ++taken_[style_.variable];
  variable_ = first.name;
  x_ = std::move(value);
}

void Sketch::flush(const std::string& into) {
  if (pending_.empty()) return;
  const bool comments = style_.shape_comments > 0 && !x_.shape.empty();
  parts_.forward.push_back(
      fmt::format("{} = {}{}", into, pending_, comments ? shape_comment(x_.shape) : ""));
  variable_ = into;
  pending_.clear();
  after_layer_ = false;
}

std::string Sketch::name() {
  flush(style_.variable);
  return variable_;
}

std::string Sketch::operand() {
  if (pending_.empty()) return variable_;
  if (pending_.size() > kLongestOperand || !chance(*this, style_.nesting)) return name();
  std::string expression = std::move(pending_);
  pending_.clear();
  after_layer_ = false;
  return expression;
}

std::string Sketch::receiver() {
  const std::string text = operand();
  return is_tight(text) ? text : "(" + text + ")";
}

void Sketch::become(std::string expression, Value value) {
  flush(style_.variable);  // an operator that did not take its operand's text took its name
  pending_ = std::move(expression);
  x_ = std::move(value);
  after_layer_ = false;
}

void Sketch::become(std::string expression, Range range) {
  Value value = x_;
  value.range = range;
  become(std::move(expression), std::move(value));
}

void Sketch::become_layer(const std::string& name, const std::string& maker, Value value) {
  if (style_.sequential && after_layer_ && !pending_.empty()) {
    Layer& before = parts_.layers.back();
    if (before.parts.empty()) {
      before.parts = {before.maker};
      const std::string old = "self." + before.name + "(";
      before.name = variable(pick(*this, {"layers", "net", "block", "body", "features"}));
      pending_.replace(0, old.size(), "self." + before.name + "(");
    }
    before.parts.push_back(maker);
    x_ = std::move(value);
    return;
  }
  const std::string called = layer(name, maker);
  become(fmt::format("{}({})", called, operand()), std::move(value));
  after_layer_ = true;
}

void Sketch::line(std::string text) { parts_.forward.push_back(std::move(text)); }

std::string Sketch::variable(const std::string& wanted) {
  const int count = ++taken_[wanted];
  if (count == 1) return wanted;
  return variable(wanted + std::to_string(count));
}

std::string Sketch::layer(const std::string& name, const std::string& maker) {
  const std::string own = variable(name);
  parts_.layers.push_back({.name = own, .maker = maker, .parts = {}});
  return "self." + own;
}

std::string Sketch::parameter(const std::string& name, const Shape& shape,
                              const std::string& init) {
  const std::string made = init == "zeros" || init == "ones" || init == "randn" || init == "rand"
                               ? fmt::format("torch.{}({})", init, parts_.sizes.of(shape))
                               : fmt::format("torch.randn({}) * {}", parts_.sizes.of(shape), init);
  return layer(name, fmt::format("nn.Parameter({})", made));
}

std::string Sketch::input(const std::string& name, const Shape& shape, const std::string& draw) {
  const std::string own = variable(name);
  parts_.inputs.push_back({.name = own, .draw = draw, .shape = shape});
  return own;
}

void Sketch::keep() {
  const std::string from = name();
  const std::string own =
      variable(pick(*this, {"residual", "identity", "shortcut", "skip", "saved"}));
  earlier_value_ = EarlierValue{
      .name = own, .value = x_, .line = parts_.forward.size(), .steps = parts_.path.size()};
  parts_.forward.push_back(fmt::format("{} = {}", own, from));
}

void Sketch::finish() {
  if (earlier_value_ && !earlier_value_->used)
    parts_.forward.erase(parts_.forward.begin() +
                         static_cast<std::ptrdiff_t>(earlier_value_->line));
  parts_.forward.push_back("return " + (pending_.empty() ? variable_ : pending_));
  pending_.clear();
}

}  // namespace tritonsmith::curriculum::zoo
