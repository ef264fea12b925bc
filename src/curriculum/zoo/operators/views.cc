// Views and movements: shapes, orders, slices, padding.
#include <fmt/format.h>

#include "curriculum/zoo/operators/operators.h"

namespace tritonsmith::curriculum::zoo {
namespace {

Value reshaped(const Value& x, Shape shape, Layout layout) {
  Value result = x;
  result.shape = std::move(shape);
  result.layout = layout;
  return result;
}

bool flatten(Sketch& s) {
  const Value& x = s.x();
  if (x.shape.size() < 3) return false;
  const int rest = static_cast<int>(elements(x.shape) / x.shape[0]);
  if (rest > 2048) return false;
  const Value result = reshaped(x, {x.shape[0], rest}, Layout::rows);
  switch (draw_between(s, 0, 2)) {
    case 0:
      s.become(fmt::format("torch.flatten({}, 1)", s.operand()), result);
      return true;
    case 1: {
      const std::string own = s.name();
      s.become(fmt::format("{}.reshape({}.size(0), -1)", own, own), result);
      return true;
    }
    default:
      s.become(fmt::format("{}.flatten(1)", s.receiver()), result);
      return true;
  }
}

// [B, C, H, W] -> [B, H * W, C], as vision transformers do.
bool to_sequence(Sketch& s) {
  const Value& x = s.x();
  if (x.layout != Layout::image && x.layout != Layout::signal) return false;
  const int length = static_cast<int>(elements(x.shape) / x.shape[0] / x.shape[1]);
  const Value result = reshaped(x, {x.shape[0], length, x.shape[1]}, Layout::sequence);
  s.become(x.layout == Layout::image ? fmt::format("{}.flatten(2).transpose(1, 2)", s.receiver())
                                     : fmt::format("{}.permute(0, 2, 1)", s.receiver()),
           result);
  return true;
}

bool to_signal(Sketch& s) {
  const Value& x = s.x();
  if (x.layout != Layout::sequence) return false;
  s.become(fmt::format("{}.transpose(1, 2)", s.receiver()),
           reshaped(x, {x.shape[0], x.shape[2], x.shape[1]}, Layout::signal));
  return true;
}

bool channels_last(Sketch& s) {
  const Value& x = s.x();
  if (x.layout != Layout::image) return false;
  s.become(
      fmt::format("{}.permute(0, 2, 3, 1){}", s.receiver(), chance(s, 0.3) ? ".contiguous()" : ""),
      reshaped(x, {x.shape[0], x.shape[2], x.shape[3], x.shape[1]}, Layout::other));
  return true;
}

bool split_features(Sketch& s) {
  const Value& x = s.x();
  if (x.layout != Layout::rows || x.shape[1] % 8 != 0) return false;
  const int parts = pick(s, {2, 4, 8});
  s.become(fmt::format("{}.view(-1, {}, {})", s.receiver(), parts, x.shape[1] / parts),
           reshaped(x, {x.shape[0], parts, x.shape[1] / parts}, Layout::sequence));
  return true;
}

bool slice(Sketch& s) {
  const Value& x = s.x();
  if (x.shape.size() < 2) return false;
  const auto dim =
      static_cast<std::size_t>(draw_between(s, 1, static_cast<int>(x.shape.size()) - 1));
  if (x.shape[dim] < 6) return false;
  std::string index(1, ':');
  for (std::size_t i = 1; i < dim; ++i) index += ", :";
  Shape shape = x.shape;
  const int form = draw_between(s, 0, 2);
  shape[dim] = form == 0 ? (x.shape[dim] + 1) / 2 : form == 1 ? x.shape[dim] - 2 : x.shape[dim] / 2;
  index += form == 0 ? ", ::2" : form == 1 ? ", 1:-1" : fmt::format(", :{}", shape[dim]);
  s.become(fmt::format("{}[{}]", s.receiver(), index), reshaped(x, shape, x.layout));
  return true;
}

bool pad(Sketch& s) {
  const Value& x = s.x();
  if (x.shape.size() < 3) return false;
  Shape shape = x.shape;
  const int amount = pick(s, {1, 2});
  shape.back() += 2 * amount;
  std::string amounts = fmt::format("({}, {}", amount, amount);
  if (x.layout == Layout::image) {
    shape[2] += 2 * amount;
    amounts += fmt::format(", {}, {}", amount, amount);
  }
  const bool mirrors = (x.layout == Layout::image || x.layout == Layout::signal) &&
                       shape.back() > 4 * amount && x.shape[2] > amount && chance(s, 0.3);
  if (elements(shape) > kMostElements) return false;
  s.become(
      fmt::format("F.pad({}, {}){})", s.operand(), amounts,
                  mirrors ? fmt::format(", mode='{}'", pick(s, {"reflect", "replicate"})) : ""),
      reshaped(x, shape, x.layout));
  return true;
}

bool roll(Sketch& s) {
  const Value& x = s.x();
  if (x.shape.size() < 2 || x.shape.back() < 4) return false;
  s.become(chance(s, 0.5)
               ? fmt::format("torch.roll({}, shifts={}, dims=-1)", s.operand(), pick(s, {1, 2}))
               : fmt::format("torch.flip({}, dims=[-1])", s.operand()),
           x);
  return true;
}

bool swap_halves(Sketch& s) {
  const Value& x = s.x();
  if (x.shape.size() < 2 || x.shape.back() % 2 != 0 || x.shape.back() < 4) return false;
  const std::string own = s.name();
  const std::string a = s.variable("x1"), b = s.variable("x2");
  s.line(fmt::format("{}, {} = {}.chunk(2, dim=-1)", a, b, own));
  s.become(fmt::format("torch.cat([-{}, {}], dim=-1)", b, a), reshaped(x, x.shape, x.layout));
  return true;
}

bool shuffle_channels(Sketch& s) {
  const Value& x = s.x();
  if (x.layout != Layout::image || x.shape[1] % 2 != 0 || x.shape[1] < 4) return false;
  const std::string own = s.name();
  const std::string b = s.variable("b"), c = s.variable("c"), h = s.variable("height"),
                    w = s.variable("width");
  s.line(fmt::format("{}, {}, {}, {} = {}.shape", b, c, h, w, own));
  s.become(fmt::format("{}.view({}, 2, {} // 2, {}, {}).transpose(1, 2).reshape({}, {}, {}, {})",
                       own, b, c, h, w, b, c, h, w),
           x);
  return true;
}

bool stack(Sketch& s) {
  const Value& x = s.x();
  if (x.layout != Layout::rows || 2 * elements(x.shape) > kMostElements) return false;
  const std::string own = s.name();
  s.become(fmt::format("torch.stack([{}, torch.{}({})], dim=1)", own,
                       pick(s, {"tanh", "sigmoid", "sin"}), own),
           {.shape = {x.shape[0], 2, x.shape[1]}, .layout = Layout::sequence, .range = Range::any});
  return true;
}

bool repeat(Sketch& s) {
  const Value& x = s.x();
  if (x.layout != Layout::rows || 4 * elements(x.shape) > kMostElements) return false;
  s.become(chance(s, 0.5) ? fmt::format("{}.unsqueeze(1).expand(-1, 4, -1)", s.receiver())
                          : fmt::format("{}.unsqueeze(1).repeat(1, 4, 1)", s.receiver()),
           reshaped(x, {x.shape[0], 4, x.shape[1]}, Layout::sequence));
  return true;
}

constexpr Operator kViews[] = {
    {"flatten", Group::view, 8, flatten},
    {"to_sequence", Group::view, 5, to_sequence},
    {"to_signal", Group::view, 4, to_signal},
    {"channels_last", Group::view, 3, channels_last},
    {"split_features", Group::view, 3, split_features},
    {"slice", Group::view, 4, slice},
    {"pad", Group::view, 4, pad},
    {"roll", Group::view, 3, roll},
    {"swap_halves", Group::view, 2, swap_halves},
    {"shuffle_channels", Group::view, 2, shuffle_channels},
    {"stack", Group::view, 2, stack},
    {"repeat", Group::view, 1, repeat},
};

}  // namespace

std::span<const Operator> views() { return kViews; }

}  // namespace tritonsmith::curriculum::zoo
