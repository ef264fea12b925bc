// Linear layers, products of matrices, gates and attention.
#include <fmt/format.h>

#include "curriculum/zoo/operators/operators.h"

namespace tritonsmith::curriculum::zoo {
namespace {

bool has_features_last(const Value& x) {
  return x.shape.size() >= 2 && !has_channels(x.layout) && x.shape.back() >= 2;
}

Value with_last(const Value& x, int size) {
  Value result{.shape = x.shape, .layout = x.layout, .range = Range::any};
  result.shape.back() = size;
  return result;
}

bool is_affordable_product(const Shape& out, int inner) {
  return elements(out) <= kMostElements && elements(out) * inner <= kMostProducts;
}

int draw_features(Sketch& s) {
  return s.sizes().draw(pick(s, {"hidden_size", "out_features", "hidden_dim", "output_size"}),
                        {16, 24, 32, 48, 64, 96, 128});
}

std::string linear_maker(Sketch& s, int in, int out) {
  return fmt::format("nn.Linear({}, {}{})", s.sizes().of(in), s.sizes().of(out),
                     chance(s, 0.25) ? ", bias=False" : "");
}

bool linear(Sketch& s) {
  const Value& x = s.x();
  if (!has_features_last(x)) return false;
  const int in = x.shape.back();
  const Value result = with_last(x, draw_features(s));
  if (!is_affordable_product(result.shape, in)) return false;
  s.become_layer(pick(s, {"fc", "linear", "proj", "fc1", "dense"}),
                 linear_maker(s, in, result.shape.back()), result);
  return true;
}

// A product with a weight of the module's own.
bool weight_product(Sketch& s) {
  const Value& x = s.x();
  if (!has_features_last(x) || x.shape.size() > 3) return false;
  const int in = x.shape.back();
  const Value result = with_last(x, draw_features(s));
  if (!is_affordable_product(result.shape, in)) return false;
  const bool transposed = chance(s, 0.4);
  const Shape shape = transposed ? Shape{result.shape.back(), in} : Shape{in, result.shape.back()};
  const std::string weight = s.parameter(pick(s, {"weight", "w", "kernel"}), shape, "0.1");
  if (transposed && chance(s, 0.5)) {
    s.become(fmt::format("F.linear({}, {})", s.operand(), weight), result);
  } else {
    const std::string right = weight + (transposed ? ".t()" : "");
    s.become(chance(s, 0.5) ? fmt::format("torch.matmul({}, {})", s.operand(), right)
                            : fmt::format("{} @ {}", s.receiver(), right),
             result);
  }
  return true;
}

// A product with a second input.
bool input_product(Sketch& s) {
  const Value& x = s.x();
  if (!has_features_last(x) || x.shape.size() > 3 || s.parts().inputs.size() > 2) return false;
  const int in = x.shape.back(), out = pick(s, {8, 16, 32, 40});
  const Value result = with_last(x, out);
  if (!is_affordable_product(result.shape, in)) return false;
  const bool batched = x.shape.size() == 3 && chance(s, 0.6);
  const Shape shape = batched ? Shape{x.shape[0], in, out} : Shape{in, out};
  const std::string other = s.input(pick(s, {"other", "b", "weight", "mat2"}), shape,
                                    fmt::format("torch.randn({})", s.sizes().of(shape)));
  s.become(fmt::format("{}({}, {})", batched && chance(s, 0.5) ? "torch.bmm" : "torch.matmul",
                       s.operand(), other),
           result);
  return true;
}

// The products of all pairs of a sequence's items.
bool similarity_matrix(Sketch& s) {
  const Value& x = s.x();
  if (x.layout != Layout::sequence && x.layout != Layout::rows) return false;
  Value result{.shape = x.shape, .layout = x.layout, .range = Range::large};
  result.shape.back() = x.shape[x.shape.size() - 2];
  if (result.shape.back() < 2 || !is_affordable_product(result.shape, x.shape.back())) return false;
  const std::string own = s.name();
  s.become(x.layout == Layout::rows ? fmt::format("{} @ {}.t()", own, own)
                                    : fmt::format("torch.bmm({}, {}.transpose(1, 2))", own, own),
           result);
  return true;
}

// x * sigmoid(linear(x)), and a bottleneck with a residual.
bool gate(Sketch& s) {
  const Value& x = s.x();
  if (!has_features_last(x)) return false;
  const int size = x.shape.back();
  if (!is_affordable_product(x.shape, size)) return false;
  const std::string layer = s.layer(pick(s, {"gate", "gate_proj"}), linear_maker(s, size, size));
  const std::string own = s.name();
  s.become(fmt::format("{} * torch.sigmoid({}({}))", own, layer, own),
           {.shape = x.shape, .layout = x.layout, .range = Range::any});
  return true;
}

bool bottleneck(Sketch& s) {
  const Value& x = s.x();
  if (!has_features_last(x) || x.shape.back() < 8) return false;
  const int size = x.shape.back(), inner = size / pick(s, {2, 4});
  if (!is_affordable_product(x.shape, inner)) return false;
  const std::string down =
      s.layer("down", fmt::format("nn.Linear({}, {})", s.sizes().of(size), inner));
  const std::string up = s.layer("up", fmt::format("nn.Linear({}, {})", inner, s.sizes().of(size)));
  const std::string own = s.name();
  s.become(
      fmt::format("{} + {}(F.{}({}({})))", own, up, pick(s, {"relu", "gelu", "silu"}), down, own),
      {.shape = x.shape, .layout = x.layout, .range = Range::any});
  return true;
}

bool squeeze_excite(Sketch& s) {
  const Value& x = s.x();
  if (x.layout != Layout::image || x.shape[1] < 4 || x.normalised) return false;
  const int channels = x.shape[1], inner = std::max(2, channels / pick(s, {2, 4}));
  const std::string fc1 =
      s.layer("fc1", fmt::format("nn.Linear({}, {})", s.sizes().of(channels), inner));
  const std::string fc2 =
      s.layer("fc2", fmt::format("nn.Linear({}, {})", inner, s.sizes().of(channels)));
  const std::string own = s.name();
  const std::string scale = s.variable(pick(s, {"scale", "w", "attn"}));
  s.line(fmt::format("{} = F.relu({}({}.mean(dim=(2, 3))))", scale, fc1, own));
  s.line(fmt::format("{} = torch.sigmoid({}({}))", scale, fc2, scale));
  s.become(fmt::format("{} * {}[:, :, None, None]", own, scale),
           {.shape = x.shape, .layout = x.layout, .range = Range::any});
  return true;
}

bool bilinear(Sketch& s) {
  const Value& x = s.x();
  if (x.layout != Layout::rows || s.parts().inputs.size() > 2) return false;
  const int left = x.shape[1], right = pick(s, {8, 12, 16}), out = pick(s, {4, 8, 16});
  if (std::int64_t{x.shape[0]} * left * right * out > kMostProducts) return false;
  const Shape shape = {x.shape[0], right};
  const std::string layer =
      s.layer("bilinear", fmt::format("nn.Bilinear({}, {}, {})", s.sizes().of(left), right, out));
  const std::string other = s.input(pick(s, {"y", "other", "context"}), shape,
                                    fmt::format("torch.randn({})", s.sizes().of(shape)));
  s.become(fmt::format("{}({}, {})", layer, s.operand(), other),
           {.shape = {x.shape[0], out}, .layout = Layout::rows, .range = Range::any});
  return true;
}

// Scaled products of queries and keys, softmax, and the values' weighted sum.
bool attention(Sketch& s) {
  const Value& x = s.x();
  if (x.layout != Layout::sequence || x.shape[1] > 64 || x.shape[2] < 8) return false;
  const int size = x.shape[2];
  if (!is_affordable_product(x.shape, size)) return false;
  const std::string dim = s.sizes().of(size);
  const std::string own = s.name();
  const bool joined = chance(s, 0.4), by_torch = chance(s, 0.35), causal = chance(s, 0.35);
  const std::string q = s.variable("q"), k = s.variable("k"), v = s.variable("v");
  if (joined) {
    const std::string qkv = s.layer("qkv", fmt::format("nn.Linear({}, 3 * {})", dim, dim));
    s.line(fmt::format("{}, {}, {} = {}({}).chunk(3, dim=-1)", q, k, v, qkv, own));
  } else {
    for (const auto& [short_name, long_name] : {std::pair{q, "query"}, {k, "key"}, {v, "value"}}) {
      const std::string layer = s.layer(long_name, fmt::format("nn.Linear({}, {})", dim, dim));
      s.line(fmt::format("{} = {}({})", short_name, layer, own));
    }
  }
  const Value result{.shape = x.shape, .layout = x.layout, .range = Range::any};
  if (by_torch) {
    s.become(fmt::format("F.scaled_dot_product_attention({}, {}, {}{})", q, k, v,
                         causal ? ", is_causal=True" : ""),
             result);
    return true;
  }
  const std::string scores = s.variable(pick(s, {"scores", "attn", "weights"}));
  s.line(
      fmt::format("{} = torch.matmul({}, {}.transpose(-2, -1)) / {} ** 0.5", scores, q, k, size));
  if (causal) {
    const std::string mask = s.variable("mask");
    s.line(fmt::format("{} = torch.triu(torch.ones({}, {}, device={}.device), diagonal=1).bool()",
                       mask, x.shape[1], x.shape[1], own));
    s.line(fmt::format("{} = {}.masked_fill({}, float('-inf'))", scores, scores, mask));
  }
  s.line(fmt::format("{} = F.softmax({}, dim=-1)", scores, scores));
  s.become(fmt::format("torch.matmul({}, {})", scores, v), result);
  return true;
}

// Heads as a dimension of their own: [B, H, T, D].
bool head_attention(Sketch& s) {
  const Value& x = s.x();
  const int heads = pick(s, {2, 4});
  if (x.layout != Layout::sequence || x.shape[1] > 48 || x.shape[2] % (8 * heads) != 0)
    return false;
  const int batch = x.shape[0], length = x.shape[1], size = x.shape[2];
  if (!is_affordable_product(x.shape, size)) return false;
  const std::string dim = s.sizes().of(size);
  const std::string own = s.name();
  const std::string split =
      fmt::format(".view({}, {}, {}, {}).transpose(1, 2)", batch, length, heads, size / heads);
  for (const char* name : {"q", "k", "v"}) {
    const std::string layer =
        s.layer(fmt::format("{}_proj", name), fmt::format("nn.Linear({}, {})", dim, dim));
    s.line(fmt::format("{} = {}({}){}", name, layer, own, split));
  }
  const std::string scores = s.variable(pick(s, {"scores", "attn"}));
  s.line(fmt::format("{} = (q @ k.transpose(-2, -1)) * {} ** -0.5", scores, size / heads));
  s.line(fmt::format("{} = {}.softmax(dim=-1)", scores, scores));
  const std::string context = s.variable(pick(s, {"context", "attended"}));
  s.line(fmt::format("{} = ({} @ v).transpose(1, 2).reshape({}, {}, {})", context, scores, batch,
                     length, size));
  const std::string out = s.layer("out_proj", fmt::format("nn.Linear({}, {})", dim, dim));
  s.become(fmt::format("{}({})", out, context),
           {.shape = x.shape, .layout = x.layout, .range = Range::any});
  return true;
}

constexpr Operator kProducts[] = {
    {"linear", Group::product, 22, linear},
    {"weight_product", Group::product, 5, weight_product},
    {"input_product", Group::product, 4, input_product},
    {"similarity_matrix", Group::product, 2, similarity_matrix},
    {"gate", Group::product, 3, gate},
    {"bottleneck", Group::product, 3, bottleneck},
    {"squeeze_excite", Group::product, 3, squeeze_excite},
    {"bilinear", Group::product, 2, bilinear},
    {"attention", Group::product, 5, attention},
    {"head_attention", Group::product, 3, head_attention},
};

}  // namespace

std::span<const Operator> products() { return kProducts; }

}  // namespace tritonsmith::curriculum::zoo
