// Arithmetic with constants, parameters, further inputs and earlier values, with broadcasting.
#include <fmt/format.h>

#include "curriculum/zoo/operators/operators.h"

namespace tritonsmith::curriculum::zoo {
namespace {

bool scaling(Sketch& s) {
  const Value& x = s.x();
  const std::string number = pick(s, {"0.5", "2.0", "0.1", "1.5", "3.0", "0.25"});
  Value result = x;
  result.range = x.range == Range::large ? Range::large : Range::any;
  switch (draw_between(s, 0, 4)) {
    case 0:
      s.become(fmt::format("{} * {}", s.receiver(), s.sizes().setting("factor", number)), result);
      return true;
    case 1:
      s.become(fmt::format("{} + {}", s.operand(), number), result);
      return true;
    case 2:
      s.become(fmt::format("{} / {}", s.receiver(), pick(s, {"2.0", "4.0", "8.0"})), result);
      return true;
    case 3:
      s.become(fmt::format("1.0 - {}", s.receiver()), result);
      return true;
    default:
      s.become(fmt::format("{} * {} + {}", s.receiver(), number, pick(s, {"1.0", "0.5", "-1.0"})),
               result);
      return true;
  }
}

// The shape of a parameter that is broadcast: one number for each channel or feature.
Shape affine_shape(const Value& x) {
  if (!has_channels(x.layout)) return {x.shape.back()};
  Shape shape(x.shape.size() - 1, 1);
  shape[0] = x.shape[1];
  return shape;
}

bool bias(Sketch& s) {
  const Value& x = s.x();
  if (x.shape.size() < 2) return false;
  const std::string own = s.parameter("bias", affine_shape(x), pick(s, {"randn", "0.02"}));
  Value result = x;
  result.range = x.range == Range::large ? Range::large : Range::any;
  s.become(fmt::format("{} + {}", s.operand(), own), result);
  return true;
}

bool scale(Sketch& s) {
  const Value& x = s.x();
  if (x.shape.size() < 2) return false;
  const std::string own = s.parameter(pick(s, {"scale", "gamma", "alpha"}), affine_shape(x),
                                      pick(s, {"randn", "rand"}));
  Value result = x;
  result.range = x.range == Range::large ? Range::large : Range::any;
  s.become(fmt::format("{} * {}", s.receiver(), own), result);
  return true;
}

bool affine(Sketch& s) {
  const Value& x = s.x();
  if (x.shape.size() < 2 || x.range == Range::large) return false;
  const std::string gamma = s.parameter("gamma", affine_shape(x), "randn");
  const std::string beta = s.parameter("beta", affine_shape(x), "0.1");
  Value result = x;
  result.range = Range::any;
  s.become(chance(s, 0.5) ? fmt::format("{} * {} + {}", s.receiver(), gamma, beta)
                          : fmt::format("torch.addcmul({}, {}, {})", beta, s.operand(), gamma),
           result);
  return true;
}

// A second input, whole or broadcast along one of its dimensions.
bool second_input(Sketch& s) {
  const Value& x = s.x();
  if (x.shape.size() < 2 || s.parts().inputs.size() > 2 || x.range == Range::large) return false;
  Shape shape = x.shape;
  if (chance(s, 0.4))
    shape[static_cast<std::size_t>(draw_between(s, 0, static_cast<int>(shape.size()) - 1))] = 1;
  const bool positive = chance(s, 0.3);
  const std::string other =
      s.input(pick(s, {"y", "other", "z", "bias", "mask"}), shape,
              fmt::format("torch.{}({})", positive ? "rand" : "randn", s.sizes().of(shape)));
  Value result = x;
  result.range = Range::any;
  const std::string form = positive ? pick(s, {"{} * {}", "{} / ({} + 0.5)", "{} - {}"})
                                    : pick(s, {"{} + {}", "{} * {}", "{} - {}",
                                               "torch.maximum({}, {})", "torch.minimum({}, {})"});
  const std::string left = form.starts_with("torch") ? s.operand() : s.receiver();
  s.become(fmt::format(fmt::runtime(form), left, other), result);
  return true;
}

bool selection(Sketch& s) {
  const Value& x = s.x();
  if (x.shape.size() < 2 || s.parts().inputs.size() > 2 || x.range != Range::any) return false;
  const std::string other = s.input(pick(s, {"y", "other"}), x.shape,
                                    fmt::format("torch.randn({})", s.sizes().of(x.shape)));
  const std::string own = s.name();
  Value result = x;
  result.normalised = false;
  s.become(pick(s, {0, 1}) == 0
               ? fmt::format("torch.where({} > {}, {}, {} * 0.5)", own, other, own, other)
               : fmt::format("torch.lerp({}, {}, {})", own, other, pick(s, {"0.3", "0.5", "0.7"})),
           result);
  return true;
}

// Takes the earlier value of the module again.
bool residual(Sketch& s) {
  auto& earlier = s.earlier_value();
  const Value& x = s.x();
  if (!earlier || earlier->used || s.parts().path.size() == earlier->steps) return false;
  const Shape shape = broadcast(x.shape, earlier->value.shape);
  if (shape.empty() || elements(shape) > kMostElements || shape.size() < 2) return false;
  Value result{.shape = shape,
               .layout = shape == x.shape                ? x.layout
                         : shape == earlier->value.shape ? earlier->value.layout
                                                         : Layout::other,
               .range = Range::any};
  const bool large = x.range == Range::large || earlier->value.range == Range::large;
  if (large) result.range = Range::large;
  const std::string form =
      large ? "{} + {}" : pick(s, {"{} + {}", "{} + {}", "{} + {}", "{} * {}", "{} - {}"});
  earlier->used = true;
  s.become(fmt::format(fmt::runtime(form), s.receiver(), earlier->name), result);
  return true;
}

bool concatenate(Sketch& s) {
  auto& earlier = s.earlier_value();
  const Value& x = s.x();
  if (!earlier || earlier->used || s.parts().path.size() == earlier->steps) return false;
  if (x.shape.size() < 2 || x.shape.size() != earlier->value.shape.size()) return false;
  const std::size_t dim = has_channels(x.layout) ? 1 : x.shape.size() - 1;
  for (std::size_t i = 0; i < x.shape.size(); ++i)
    if (i != dim && x.shape[i] != earlier->value.shape[i]) return false;
  Value result{.shape = x.shape, .layout = x.layout, .range = Range::any};
  result.shape[dim] += earlier->value.shape[dim];
  if (elements(result.shape) > kMostElements) return false;
  earlier->used = true;
  s.become(fmt::format("torch.cat([{}, {}], dim={})", s.operand(), earlier->name, dim), result);
  return true;
}

bool clamp(Sketch& s) {
  if (s.x().range != Range::any) return false;
  Value result = s.x();
  result.normalised = false;
  const std::string low = pick(s, {"-1.0", "-0.5", "-2.0"}), high = pick(s, {"1.0", "0.5", "2.0"});
  s.become(chance(s, 0.5) ? fmt::format("torch.clamp({}, min={}, max={})", s.operand(), low, high)
                          : fmt::format("{}.clamp({}, {})", s.receiver(), low, high),
           result);
  return true;
}

bool outer(Sketch& s) {
  const Value& x = s.x();
  if (x.layout != Layout::rows) return false;
  const Shape shape = {x.shape[0], x.shape[1], x.shape[1]};
  if (elements(shape) > kMostElements || x.shape[1] < 2) return false;
  const std::string own = s.name();
  s.become(fmt::format("{}.unsqueeze(2) {} {}.unsqueeze(1)", own, pick(s, {"*", "-", "+"}), own),
           {.shape = shape, .layout = Layout::sequence, .range = Range::any});
  return true;
}

bool mask_triangle(Sketch& s) {
  const Value& x = s.x();
  if (x.shape.size() < 2 || has_channels(x.layout) || x.shape[x.shape.size() - 2] < 3) return false;
  Value result = x;
  result.normalised = false;
  s.become(fmt::format("torch.{}({})", pick(s, {"tril", "triu"}), s.operand()), result);
  return true;
}

constexpr Operator kArithmetic[] = {
    {"scaling", Group::arithmetic, 10, scaling},
    {"bias", Group::arithmetic, 6, bias},
    {"scale", Group::arithmetic, 5, scale},
    {"affine", Group::arithmetic, 3, affine},
    {"second_input", Group::arithmetic, 8, second_input},
    {"selection", Group::arithmetic, 3, selection},
    {"residual", Group::arithmetic, 40, residual},
    {"concatenate", Group::arithmetic, 20, concatenate},
    {"clamp", Group::arithmetic, 3, clamp},
    {"outer", Group::arithmetic, 2, outer},
    {"triangular_mask", Group::arithmetic, 1, mask_triangle},
};

}  // namespace

std::span<const Operator> arithmetic() { return kArithmetic; }

}  // namespace tritonsmith::curriculum::zoo
