// Pooling, global pooling, and changes of resolution.
#include <fmt/format.h>

#include "curriculum/zoo/operators/operators.h"

namespace tritonsmith::curriculum::zoo {
namespace {

bool window_pool(Sketch& s, const char* kind, bool average) {
  const Value& x = s.x();
  if (!has_channels(x.layout)) return false;
  const int kernel = pick(s, {2, 2, 3}), stride = pick(s, {kernel, kernel, 1, 2});
  const int padding = kernel == 3 && chance(s, 0.5) ? 1 : 0;
  Value result = x;
  for (std::size_t i = 2; i < x.shape.size(); ++i) {
    result.shape[i] = (x.shape[i] + 2 * padding - kernel) / stride + 1;
    if (x.shape[i] + 2 * padding < kernel || result.shape[i] < 1) return false;
  }
  if (x.normalised && average) return false;
  const int space = space_rank(x.layout);
  std::string settings = argument(s, "kernel_size", std::to_string(kernel));
  if (stride != kernel) settings += fmt::format(", stride={}", stride);
  if (padding > 0) settings += fmt::format(", padding={}", padding);
  if (average && padding > 0 && chance(s, 0.4)) settings += ", count_include_pad=False";
  if (chance(s, s.style().layers))
    s.become_layer(pick(s, {"pool", "downsample"}),
                   fmt::format("nn.{}Pool{}d({})", kind, space, settings), result);
  else
    s.become(
        fmt::format("F.{}_pool{}d({}, {})", average ? "avg" : "max", space, s.operand(), settings),
        result);
  return true;
}

bool max_pool(Sketch& s) { return window_pool(s, "Max", false); }
bool average_pool(Sketch& s) { return window_pool(s, "Avg", true); }

bool adaptive(Sketch& s, const char* kind) {
  const Value& x = s.x();
  if (!has_channels(x.layout) || x.normalised) return false;
  const int to = pick(s, {1, 1, 2, 4});
  Value result = x;
  for (std::size_t i = 2; i < x.shape.size(); ++i) {
    if (x.shape[i] % to != 0 || x.shape[i] <= to) return false;
    result.shape[i] = to;
  }
  s.become_layer(pick(s, {"pool", "global_pool", "gap"}),
                 fmt::format("nn.Adaptive{}Pool{}d({})", kind, space_rank(x.layout), to), result);
  return true;
}

bool adaptive_average_pool(Sketch& s) { return adaptive(s, "Avg"); }
bool adaptive_max_pool(Sketch& s) { return adaptive(s, "Max"); }

// Gives one row of channels a sample.
bool global_average(Sketch& s) {
  const Value& x = s.x();
  if (!has_channels(x.layout) || x.normalised) return false;
  const int space = space_rank(x.layout);
  const std::string dims = space == 1 ? "2" : space == 2 ? "(2, 3)" : "(2, 3, 4)";
  const std::string expression = chance(s, 0.5) ? fmt::format("{}.mean(dim={})", s.receiver(), dims)
                                                : fmt::format("torch.mean({}, dim={})", s.operand(),
                                                              space == 1   ? "2"
                                                              : space == 2 ? "[2, 3]"
                                                                           : "[2, 3, 4]");
  s.become(expression, {.shape = {x.shape[0], x.shape[1]},
                        .layout = Layout::rows,
                        .range = x.range == Range::large ? Range::any : x.range});
  return true;
}

bool upsample(Sketch& s) {
  const Value& x = s.x();
  if (!has_channels(x.layout)) return false;
  Value result = x;
  for (std::size_t i = 2; i < x.shape.size(); ++i) result.shape[i] *= 2;
  if (elements(result.shape) > kMostElements) return false;
  const bool smooth = x.layout == Layout::image && chance(s, 0.4);
  if (chance(s, s.style().layers))
    s.become_layer(pick(s, {"upsample", "up"}),
                   smooth ? "nn.Upsample(scale_factor=2, mode='bilinear', align_corners=False)"
                          : "nn.Upsample(scale_factor=2)",
                   result);
  else
    s.become(fmt::format("F.interpolate({}, scale_factor=2, mode='{}'{})", s.operand(),
                         smooth ? "bilinear" : "nearest", smooth ? ", align_corners=False" : ""),
             result);
  return true;
}

bool pixel_shuffle(Sketch& s) {
  const Value& x = s.x();
  if (x.layout != Layout::image || x.shape[1] % 4 != 0) return false;
  Value result = x;
  result.shape = {x.shape[0], x.shape[1] / 4, 2 * x.shape[2], 2 * x.shape[3]};
  if (chance(s, s.style().layers))
    s.become_layer("shuffle", "nn.PixelShuffle(2)", result);
  else
    s.become(fmt::format("F.pixel_shuffle({}, 2)", s.operand()), result);
  return true;
}

constexpr Operator kPools[] = {
    {"max_pool", Group::pool, 8, max_pool},
    {"avg_pool", Group::pool, 8, average_pool},
    {"adaptive_avg_pool", Group::pool, 5, adaptive_average_pool},
    {"adaptive_max_pool", Group::pool, 2, adaptive_max_pool},
    {"global_average", Group::pool, 5, global_average},
    {"upsample", Group::pool, 4, upsample},
    {"pixel_shuffle", Group::pool, 2, pixel_shuffle},
};

}  // namespace

std::span<const Operator> pools() { return kPools; }

}  // namespace tritonsmith::curriculum::zoo
