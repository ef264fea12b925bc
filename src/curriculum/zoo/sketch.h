// Sketch: a module of the zoo while it is made. Operators read the current value, add layers,
// parameters and inputs, and say which expression comes next. The sketch keeps the lines of the
// constructor and of forward; module_source.h makes a file of them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "curriculum/zoo/size_names.h"
#include "curriculum/zoo/style.h"
#include "curriculum/zoo/value.h"

namespace tritonsmith::curriculum::zoo {

// The largest tensor, and the most multiplications of one operator, so that a CPU judges a module
// in a fraction of a second.
inline constexpr std::int64_t kMostElements = 16384;
inline constexpr std::int64_t kMostProducts = 4'000'000;

struct Layer {
  std::string name;   // of the attribute
  std::string maker;  // "nn.Linear($in_features$, 64)"; of a parameter: its initial value
  std::vector<std::string> parts;  // of an nn.Sequential: the makers of its layers
};

struct InputLine {
  std::string name, draw;  // "x", "torch.randn($batch_size$, 16)"
  Shape shape;
};

// An earlier value that a later operator may take again.
struct EarlierValue {
  std::string name;
  Value value;
  std::size_t line = 0;   // of forward, which assigns it; removed if nothing uses it
  std::size_t steps = 0;  // operators before it
  bool used = false;
};

// The finished parts of a module, with marks for named sizes.
struct Parts {
  std::vector<Layer> layers;
  std::vector<InputLine> inputs;
  std::vector<std::string> forward;  // its lines
  std::vector<std::string> path;     // the names of the operators
  SizeNames sizes;
};

class Sketch {
 public:
  Sketch(Rng& rng, const Style& style)
      : rng_(rng), style_(style), parts_{.sizes = SizeNames(rng)} {}

  Rng& rng() { return rng_; }
  const Style& style() const { return style_; }
  const Parts& parts() const { return parts_; }
  SizeNames& sizes() { return parts_.sizes; }

  // The current value, and what it is called: `operand` may be a whole expression and is used once;
  // `name` is a variable.
  const Value& x() const { return x_; }
  std::string operand();
  std::string name();
  // The operand where a method may be called on it: "x", "self.fc(x)" or "(x + y)".
  std::string receiver();

  // The next value.
  void become(std::string expression, Value value);
  // The same shape and layout.
  void become(std::string expression, Range range = Range::any);
  // The next value is a layer's result. Neighbouring layers may share an nn.Sequential.
  void become_layer(const std::string& name, const std::string& maker, Value value);
  void line(std::string text);  // a line of forward, which assigns a variable of its own

  // Additions. Each returns what forward calls the new thing.
  std::string layer(const std::string& name, const std::string& maker);
  std::string parameter(const std::string& name, const Shape& shape, const std::string& init);
  std::string input(const std::string& name, const Shape& shape, const std::string& draw);
  std::string variable(const std::string& wanted);  // a name that nothing has yet

  void keep();  // lets a later operator take the current value again
  std::optional<EarlierValue>& earlier_value() { return earlier_value_; }

  // The course of the making. `finish` ends forward with a return.
  void begin(const InputLine& first, Value value);
  void note_step(std::string_view name) { parts_.path.emplace_back(name); }
  bool is_last() const { return last_; }
  void set_last(bool last) { last_ = last; }
  void finish();

 private:
  void flush(const std::string& into);

  Rng& rng_;
  Style style_;
  Parts parts_;
  Value x_;
  std::string pending_;   // the current value's expression, if it has no variable yet
  std::string variable_;  // the current value's variable
  std::map<std::string, int> taken_;
  std::optional<EarlierValue> earlier_value_;
  bool last_ = false;
  bool after_layer_ = false;  // the pending expression is the call of the last layer
};

// Random choices.
bool chance(Sketch& sketch, double share);
int draw_between(Sketch& sketch, int low, int high);
std::string pick(Sketch& sketch, std::initializer_list<const char*> choices);
int pick(Sketch& sketch, std::initializer_list<int> choices);

// An argument with its name or without, as the style is: "kernel_size=3" or "3".
std::string argument(Sketch& sketch, const std::string& name, const std::string& text);

// Tells whether the text is one name, one call or one subscript, of which a method can be called.
bool is_tight(std::string_view text);

}  // namespace tritonsmith::curriculum::zoo
