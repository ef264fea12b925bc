// Normalisations: by batch, instance, group, layer, root mean square, length and hand-written.
#include <fmt/format.h>

#include "curriculum/zoo/operators/operators.h"

namespace tritonsmith::curriculum::zoo {
namespace {

Value normalised(const Value& x) {
  Value result = x;
  result.range = Range::any;
  result.normalised = true;
  return result;
}

std::string epsilon(Sketch& s) {
  return chance(s, 0.3)
             ? fmt::format(", eps={}", s.sizes().setting("eps", pick(s, {"1e-5", "1e-6", "1e-3"})))
             : "";
}

bool batch_norm(Sketch& s) {
  const Value& x = s.x();
  const bool rows = x.layout == Layout::rows;
  if ((!has_channels(x.layout) && !rows) || x.normalised) return false;
  if (elements(x.shape) / x.shape[1] < 4) return false;  // of each channel
  s.become_layer(pick(s, {"bn", "norm", "batch_norm"}),
                 fmt::format("nn.BatchNorm{}d({}{})", rows ? 1 : space_rank(x.layout),
                             s.sizes().of(x.shape[1]), epsilon(s)),
                 normalised(x));
  return true;
}

bool instance_norm(Sketch& s) {
  const Value& x = s.x();
  if (!has_channels(x.layout) || x.normalised) return false;
  if (elements(x.shape) / x.shape[0] / x.shape[1] < 8) return false;
  s.become_layer(
      pick(s, {"norm", "instance_norm"}),
      fmt::format("nn.InstanceNorm{}d({}{}{})", space_rank(x.layout), s.sizes().of(x.shape[1]),
                  epsilon(s), chance(s, 0.4) ? ", affine=True" : ""),
      normalised(x));
  return true;
}

bool group_norm(Sketch& s) {
  const Value& x = s.x();
  if ((!has_channels(x.layout) && x.layout != Layout::rows) || x.normalised) return false;
  const int groups = pick(s, {1, 2, 4, 8});
  if (x.shape[1] % groups != 0 || elements(x.shape) / x.shape[0] / groups < 4) return false;
  s.become_layer(
      pick(s, {"norm", "group_norm", "gn"}),
      fmt::format("nn.GroupNorm({}, {}{})", s.sizes().setting("num_groups", std::to_string(groups)),
                  s.sizes().of(x.shape[1]), epsilon(s)),
      normalised(x));
  return true;
}

bool layer_norm(Sketch& s) {
  const Value& x = s.x();
  if (x.normalised || x.shape.size() < 2) return false;
  if (has_channels(x.layout)) {  // over all that belongs to a sample
    if (x.layout == Layout::signal && chance(s, 0.5)) return false;
    const Shape inner(x.shape.begin() + 1, x.shape.end());
    if (elements(inner) < 8) return false;
    s.become_layer(pick(s, {"norm", "layer_norm", "ln"}),
                   fmt::format("nn.LayerNorm([{}]{})", s.sizes().of(inner), epsilon(s)),
                   normalised(x));
    return true;
  }
  if (x.shape.back() < 4) return false;
  s.become_layer(pick(s, {"norm", "layer_norm", "ln"}),
                 fmt::format("nn.LayerNorm({}{}{})", s.sizes().of(x.shape.back()), epsilon(s),
                             chance(s, 0.2) ? ", elementwise_affine=False" : ""),
                 normalised(x));
  return true;
}

bool rms_norm(Sketch& s) {
  const Value& x = s.x();
  if (x.normalised || x.shape.size() < 2 || x.shape.back() < 4) return false;
  const std::string last = s.sizes().of(x.shape.back());
  if (chance(s, 0.4)) {
    s.become_layer(pick(s, {"norm", "rms_norm"}), fmt::format("nn.RMSNorm({}{})", last, epsilon(s)),
                   normalised(x));
    return true;
  }
  const std::string weight = s.parameter("weight", {x.shape.back()}, "ones");
  const std::string x_name = s.name();
  const std::string scale = s.variable(pick(s, {"rms", "norm", "scale"}));
  s.line(fmt::format("{} = torch.sqrt({}.pow(2).mean(dim=-1, keepdim=True) + {})", scale, x_name,
                     pick(s, {"1e-6", "1e-5", "1e-8"})));
  s.become(fmt::format("{} / {} * {}", x_name, scale, weight), normalised(x));
  return true;
}

bool local_response_norm(Sketch& s) {
  const Value& x = s.x();
  if (x.layout != Layout::image || x.shape[1] < 4) return false;
  s.become_layer("lrn", fmt::format("nn.LocalResponseNorm({})", pick(s, {3, 5})),
                 {.shape = x.shape, .layout = x.layout, .range = x.range});
  return true;
}

bool length_norm(Sketch& s) {
  const Value& x = s.x();
  if (x.normalised || x.shape.size() < 2) return false;
  const int dim = has_channels(x.layout) ? 1 : -1;
  if ((dim == 1 ? x.shape[1] : x.shape.back()) < 4) return false;
  Value result = normalised(x);
  result.range = Range::signed_unit;
  const std::string operand = chance(s, 0.6) ? "" : s.name();
  if (operand.empty())
    s.become(
        fmt::format("F.normalize({}, p={}, dim={})", s.operand(), pick(s, {"2", "2", "1"}), dim),
        result);
  else
    s.become(fmt::format("{} / {}.norm(p=2, dim={}, keepdim=True).clamp(min=1e-12)", operand,
                         operand, dim),
             result);
  return true;
}

// (x - mean) / deviation, written out.
bool standardise(Sketch& s) {
  const Value& x = s.x();
  if (x.normalised || x.shape.size() < 2) return false;
  const int dim = has_channels(x.layout) ? 1 : -1;
  if ((dim == 1 ? x.shape[1] : x.shape.back()) < 4) return false;
  const std::string own = s.name();
  const std::string mean = s.variable("mean"), spread = s.variable(pick(s, {"std", "var"}));
  s.line(fmt::format("{} = {}.mean(dim={}, keepdim=True)", mean, own, dim));
  if (spread.starts_with("std")) {
    s.line(fmt::format("{} = {}.std(dim={}, keepdim=True)", spread, own, dim));
    s.become(fmt::format("({} - {}) / ({} + 1e-5)", own, mean, spread), normalised(x));
  } else {
    s.line(fmt::format("{} = {}.var(dim={}, keepdim=True, unbiased=False)", spread, own, dim));
    s.become(fmt::format("({} - {}) / torch.sqrt({} + 1e-5)", own, mean, spread), normalised(x));
  }
  return true;
}

constexpr Operator kNorms[] = {
    {"batch_norm", Group::norm, 7, batch_norm},
    {"instance_norm", Group::norm, 4, instance_norm},
    {"group_norm", Group::norm, 6, group_norm},
    {"layer_norm", Group::norm, 9, layer_norm},
    {"rms_norm", Group::norm, 5, rms_norm},
    {"local_response_norm", Group::norm, 1, local_response_norm},
    {"unit_length", Group::norm, 3, length_norm},
    {"standardise", Group::norm, 3, standardise},
};

}  // namespace

std::span<const Operator> norms() { return kNorms; }

}  // namespace tritonsmith::curriculum::zoo
