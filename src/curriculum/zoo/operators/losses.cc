// Losses against a target that is a further input. A loss is a module's last operator.
#include <fmt/format.h>

#include "curriculum/zoo/operators/operators.h"

namespace tritonsmith::curriculum::zoo {
namespace {

std::string target(Sketch& s, const Shape& shape, const std::string& draw) {
  return s.input(pick(s, {"target", "targets", "y_true", "labels"}), shape, draw);
}

std::string drawn_like(Sketch& s, const char* draw, const Shape& shape) {
  return fmt::format(fmt::runtime(draw), s.sizes().of(shape));
}

// A loss that compares elements: nn.NAME or F.name.
bool elementwise(Sketch& s, const char* layer, const char* function, const char* draw,
                 const std::string& settings = "") {
  const Value& x = s.x();
  if (!s.is_last() || x.shape.size() < 2 || x.range == Range::large || s.parts().inputs.size() > 2)
    return false;
  const std::string other = target(s, x.shape, drawn_like(s, draw, x.shape));
  const std::string reduction = pick(s, {"", "", "reduction='sum'", "reduction='none'"});
  std::string options = settings;
  if (!reduction.empty()) options += (options.empty() ? "" : ", ") + reduction;
  Value result;
  result.shape = reduction == "reduction='none'" ? x.shape : Shape{};
  if (chance(s, s.style().layers)) {
    const std::string own = s.layer(pick(s, {"loss", "criterion", "loss_fn"}),
                                    fmt::format("nn.{}({})", layer, options));
    s.become(fmt::format("{}({}, {})", own, s.operand(), other), result);
  } else {
    s.become(fmt::format("F.{}({}, {}{}{})", function, s.operand(), other,
                         options.empty() ? "" : ", ", options),
             result);
  }
  return true;
}

constexpr const char* kNormal = "torch.randn({})";
constexpr const char* kBinary = "torch.randint(0, 2, ({})).float()";
constexpr const char* kSigns = "torch.randint(0, 2, ({})).float() * 2 - 1";

bool mse(Sketch& s) { return elementwise(s, "MSELoss", "mse_loss", kNormal); }
bool l1(Sketch& s) { return elementwise(s, "L1Loss", "l1_loss", kNormal); }
bool smooth_l1(Sketch& s) {
  return elementwise(s, "SmoothL1Loss", "smooth_l1_loss", kNormal,
                     chance(s, 0.4) ? "beta=0.5" : "");
}
bool huber(Sketch& s) {
  return elementwise(s, "HuberLoss", "huber_loss", kNormal, chance(s, 0.5) ? "delta=0.8" : "");
}
bool binary(Sketch& s) {
  return elementwise(s, "BCEWithLogitsLoss", "binary_cross_entropy_with_logits", kBinary);
}
bool soft_margin(Sketch& s) { return elementwise(s, "SoftMarginLoss", "soft_margin_loss", kSigns); }
bool poisson(Sketch& s) {
  return (s.x().range == Range::unit || s.x().range == Range::signed_unit) &&
         elementwise(s, "PoissonNLLLoss", "poisson_nll_loss", "torch.randint(0, 5, ({})).float()");
}

bool cross_entropy(Sketch& s) {
  const Value& x = s.x();
  if (!s.is_last() || x.layout != Layout::rows || x.shape[1] < 3 || x.range == Range::large)
    return false;
  const std::string other = target(s, {x.shape[0]},
                                   fmt::format("torch.randint(0, {}, ({},))",
                                               s.sizes().of(x.shape[1]), s.sizes().of(x.shape[0])));
  const std::string options = pick(s, {"", "", "label_smoothing=0.1", "reduction='sum'"});
  Value result;
  if (chance(s, s.style().layers)) {
    const std::string own =
        s.layer(pick(s, {"loss", "criterion"}), fmt::format("nn.CrossEntropyLoss({})", options));
    s.become(fmt::format("{}({}, {})", own, s.operand(), other), result);
  } else {
    s.become(fmt::format("F.cross_entropy({}, {}{}{})", s.operand(), other,
                         options.empty() ? "" : ", ", options),
             result);
  }
  return true;
}

bool divergence(Sketch& s) {
  const Value& x = s.x();
  if (!s.is_last() || x.shape.size() < 2 || has_channels(x.layout) || x.normalised ||
      x.range == Range::large)
    return false;
  const std::string other = target(
      s, x.shape, fmt::format("torch.softmax(torch.randn({}), dim=-1)", s.sizes().of(x.shape)));
  s.become(fmt::format("F.kl_div(F.log_softmax({}, dim=-1), {}, reduction='{}')", s.operand(),
                       other, pick(s, {"batchmean", "sum", "mean"})),
           Value{});
  return true;
}

bool cosine(Sketch& s) {
  const Value& x = s.x();
  if (!s.is_last() || x.layout != Layout::rows || x.shape[1] < 4 || x.range == Range::large)
    return false;
  const std::string other = target(s, x.shape, drawn_like(s, kNormal, x.shape));
  const bool mean = chance(s, 0.5);
  const std::string text = fmt::format("F.cosine_similarity({}, {}, dim=1)", s.operand(), other);
  s.become(mean ? fmt::format("1 - {}.mean()", text) : text,
           {.shape = mean ? Shape{} : Shape{x.shape[0]}});
  return true;
}

bool triplet(Sketch& s) {
  const Value& x = s.x();
  if (!s.is_last() || x.layout != Layout::rows || x.shape[1] < 4 || s.parts().inputs.size() > 1 ||
      x.range == Range::large)
    return false;
  const std::string near = s.input("positive", x.shape, drawn_like(s, kNormal, x.shape));
  const std::string far = s.input("negative", x.shape, drawn_like(s, kNormal, x.shape));
  s.become(fmt::format("F.triplet_margin_loss({}, {}, {}, margin={})", s.operand(), near, far,
                       pick(s, {"1.0", "5.0"})),
           Value{});
  return true;
}

// A mean over everything, which many modules end with.
bool mean_of_all(Sketch& s) {
  const Value& x = s.x();
  if (!s.is_last() || x.shape.size() < 2 || x.normalised) return false;
  s.become(fmt::format("{}.{}()", s.receiver(), pick(s, {"mean", "sum", "max"})), Value{});
  return true;
}

constexpr Operator kLosses[] = {
    {"mse_loss", Group::loss, 5, mse},
    {"l1_loss", Group::loss, 3, l1},
    {"smooth_l1_loss", Group::loss, 3, smooth_l1},
    {"huber_loss", Group::loss, 3, huber},
    {"bce_with_logits", Group::loss, 4, binary},
    {"soft_margin_loss", Group::loss, 1, soft_margin},
    {"poisson_nll_loss", Group::loss, 6, poisson},
    {"cross_entropy", Group::loss, 6, cross_entropy},
    {"kl_div", Group::loss, 3, divergence},
    {"cosine_similarity", Group::loss, 3, cosine},
    {"triplet_margin_loss", Group::loss, 2, triplet},
    {"mean_of_all", Group::loss, 4, mean_of_all},
};

}  // namespace

std::span<const Operator> losses() { return kLosses; }

}  // namespace tritonsmith::curriculum::zoo
