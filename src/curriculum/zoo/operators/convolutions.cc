// Convolutions of one to three dimensions: plain, grouped, depthwise, dilated and transposed.
#include <fmt/format.h>

#include "curriculum/zoo/operators/operators.h"

namespace tritonsmith::curriculum::zoo {
namespace {

struct Window {
  int kernel = 3, stride = 1, padding = 0, dilation = 1, output_padding = 0;
  int out(int size) const {
    return (size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
  }
  int transposed_out(int size) const {
    return (size - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1;
  }
};

// The spatial sizes after the window; empty if it does not fit.
Shape moved(const Shape& shape, const Window& window, bool transposed) {
  Shape result = shape;
  for (std::size_t i = 2; i < shape.size(); ++i) {
    if (!transposed && window.dilation * (window.kernel - 1) + 1 > shape[i] + 2 * window.padding)
      return {};
    result[i] = transposed ? window.transposed_out(shape[i]) : window.out(shape[i]);
    if (result[i] < 1) return {};
  }
  return result;
}

// The window's settings that differ from torch's defaults.
std::string options(Sketch& s, const Window& window, bool transposed) {
  std::string text;
  const auto add = [&](const char* name, int value, int usual) {
    if (value != usual)
      text += fmt::format(", {}={}", name, s.sizes().setting(name, std::to_string(value)));
  };
  add("stride", window.stride, 1);
  add("padding", window.padding, 0);
  if (transposed && window.output_padding > 0)
    text += fmt::format(", output_padding={}", window.output_padding);
  add("dilation", window.dilation, 1);
  return text;
}

Value result_of(const Sketch& s, Shape shape) {
  return {.shape = std::move(shape), .layout = s.x().layout, .range = Range::any};
}

bool is_affordable(const Shape& in, const Shape& out, int kernel, int groups) {
  std::int64_t products = elements(out) * in[1] / groups;
  for (std::size_t i = 2; i < in.size(); ++i) products *= kernel;
  return elements(out) <= kMostElements && products <= kMostProducts;
}

Window draw_window(Sketch& s, int space) {
  Window window;
  window.kernel = space == 3 ? pick(s, {1, 2, 3, 3}) : pick(s, {1, 2, 3, 3, 3, 4, 5, 7});
  window.stride = pick(s, {1, 1, 1, 2});
  window.dilation = window.kernel > 1 ? pick(s, {1, 1, 1, 1, 2}) : 1;
  window.padding = chance(s, 0.6) ? window.dilation * (window.kernel - 1) / 2 : 0;
  return window;
}

bool add_convolution(Sketch& s, const Window& window, int out_channels, int groups) {
  const Shape& in = s.x().shape;
  Shape out = moved(in, window, false);
  if (out.empty() || in[1] % groups != 0 || out_channels % groups != 0) return false;
  out[1] = out_channels;
  if (!is_affordable(in, out, window.kernel, groups)) return false;
  const int space = space_rank(s.x().layout);
  const std::string in_channels = s.sizes().of(in[1]);
  std::string text = fmt::format(
      "nn.Conv{}d({}, {}, {}{}", space, in_channels, s.sizes().of(out_channels),
      argument(s, "kernel_size", s.sizes().setting("kernel_size", std::to_string(window.kernel))),
      options(s, window, false));
  if (groups > 1)
    text += fmt::format(", groups={}", groups == in[1]
                                           ? in_channels
                                           : s.sizes().setting("groups", std::to_string(groups)));
  if (chance(s, 0.3)) text += ", bias=False";
  s.become_layer(groups == in[1] && groups > 1 ? pick(s, {"depthwise", "dwconv", "conv"})
                                               : pick(s, {"conv", "conv", "conv1", "proj"}),
                 text + ")", result_of(s, std::move(out)));
  return true;
}

int draw_channels(Sketch& s) {
  return s.sizes().draw(pick(s, {"out_channels", "hidden_channels", "mid_channels", "num_filters"}),
                        {4, 8, 12, 16, 24, 32, 48});
}

bool convolution(Sketch& s) {
  if (!has_channels(s.x().layout)) return false;
  return add_convolution(s, draw_window(s, space_rank(s.x().layout)), draw_channels(s), 1);
}

bool grouped_convolution(Sketch& s) {
  if (!has_channels(s.x().layout) || s.x().shape[1] < 4) return false;
  return add_convolution(s, draw_window(s, space_rank(s.x().layout)), draw_channels(s),
                         pick(s, {2, 4}));
}

bool depthwise_convolution(Sketch& s) {
  if (!has_channels(s.x().layout) || s.x().shape[1] < 2) return false;
  const int channels = s.x().shape[1];
  return add_convolution(s, draw_window(s, space_rank(s.x().layout)), channels * pick(s, {1, 1, 2}),
                         channels);
}

bool pointwise_convolution(Sketch& s) {
  if (!has_channels(s.x().layout)) return false;
  return add_convolution(s, {.kernel = 1}, draw_channels(s), 1);
}

bool transposed_convolution(Sketch& s) {
  if (!has_channels(s.x().layout)) return false;
  const int space = space_rank(s.x().layout);
  Window window;
  window.kernel = pick(s, {2, 3, 3, 4});
  window.stride = pick(s, {1, 2, 2});
  window.padding = pick(s, {0, 1});
  window.output_padding = window.stride > 1 ? pick(s, {0, 0, 1}) : 0;
  const Shape& in = s.x().shape;
  Shape out = moved(in, window, true);
  if (out.empty()) return false;
  out[1] = draw_channels(s);
  if (!is_affordable(in, out, window.kernel, 1)) return false;
  const std::string text = fmt::format(
      "nn.ConvTranspose{}d({}, {}, {}{}{})", space, s.sizes().of(in[1]), s.sizes().of(out[1]),
      argument(s, "kernel_size", s.sizes().setting("kernel_size", std::to_string(window.kernel))),
      options(s, window, true), chance(s, 0.3) ? ", bias=False" : "");
  s.become_layer(pick(s, {"deconv", "upconv", "conv_transpose", "up"}), text,
                 result_of(s, std::move(out)));
  return true;
}

// Along the time of a sequence that has its features last, as speech and text models do.
bool sequence_convolution(Sketch& s) {
  if (s.x().layout != Layout::sequence) return false;
  const Shape in = s.x().shape;
  const int kernel = pick(s, {1, 3, 5});
  const int out = s.sizes().draw(pick(s, {"out_channels", "conv_dim"}), {16, 32, 48, 64});
  const Shape shape = {in[0], in[1], out};
  if (elements(shape) * in[2] * kernel > kMostProducts || elements(shape) > kMostElements)
    return false;
  const std::string called =
      s.layer(pick(s, {"conv", "temporal_conv"}),
              fmt::format("nn.Conv1d({}, {}, {}{})", s.sizes().of(in[2]), s.sizes().of(out),
                          argument(s, "kernel_size", std::to_string(kernel)),
                          kernel > 1 ? fmt::format(", padding={}", kernel / 2) : ""));
  s.become(fmt::format("{}({}.transpose(1, 2)).transpose(1, 2)", called, s.receiver()),
           {.shape = shape, .layout = Layout::sequence, .range = Range::any});
  return true;
}

constexpr Operator kConvolutions[] = {
    {"convolution", Group::convolution, 16, convolution},
    {"grouped_convolution", Group::convolution, 6, grouped_convolution},
    {"depthwise_convolution", Group::convolution, 6, depthwise_convolution},
    {"pointwise_convolution", Group::convolution, 5, pointwise_convolution},
    {"transposed_convolution", Group::convolution, 8, transposed_convolution},
    {"sequence_convolution", Group::convolution, 3, sequence_convolution},
};

}  // namespace

std::span<const Operator> convolutions() { return kConvolutions; }

}  // namespace tritonsmith::curriculum::zoo
