#include "gym/plan/faults/variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>

#include "gym/plan/faults/faults.h"
#include "gym/plan/faults/float32_variant.h"
#include "gym/plan/faults/formula.h"
#include "gym/plan/operators/operator_table.h"

namespace tritonsmith::gym::plan::faults {
namespace {

constexpr double kLogOfE = std::numbers::log2e;

using Write = std::function<void(Formula&)>;

// A function of one value, by an equal formula.
struct Equal {
  std::string_view family, how;
  int (*write)(Formula& f, int x);
};

int sigmoid(Formula& f, int x) {
  return f.of("reciprocal", f.of("add.Tensor", f.of("exp", f.of("neg", x)), 1.0));
}
int softplus(Formula& f, int x) {
  const int small = f.of("log1p", f.of("exp", f.of("neg", f.of("abs", x))));
  return f.of("add.Tensor", f.of("relu", x), small);
}
int tanh(Formula& f, int x) {
  const int twice = f.of("mul.Tensor", sigmoid(f, f.of("mul.Tensor", x, 2.0)), 2.0);
  return f.of("sub.Tensor", twice, 1.0);
}
int exp2(Formula& f, int x) { return f.of("exp2", f.of("mul.Tensor", x, kLogOfE)); }

constexpr auto kEqual = std::to_array<Equal>({
    {"sigmoid", "1 / (1 + exp(-x))", sigmoid},
    {"silu", "x / (1 + exp(-x))",
     [](Formula& f, int x) { return f.of("mul.Tensor", x, sigmoid(f, x)); }},
    {"tanh", "2 sigmoid(2 x) - 1", tanh},
    {"softplus", "max(x, 0) + log(1 + exp(-|x|))", softplus},
    {"mish", "x tanh(softplus(x)) by exponentials",
     [](Formula& f, int x) { return f.of("mul.Tensor", x, tanh(f, softplus(f, x))); }},
    {"exp", "exp2(x log2(e))", exp2},
    {"rsqrt", "1 / sqrt(x)", [](Formula& f, int x) { return f.of("reciprocal", f.of("sqrt", x)); }},
    {"hardswish", "x clamp(x + 3, 0, 6) / 6",
     [](Formula& f, int x) {
       const int top = f.of("clamp_max", f.of("relu", f.of("add.Tensor", x, 3.0)), 6.0);
       return f.of("mul.Tensor", f.of("mul.Tensor", x, top), 1.0 / 6);
     }},
    {"relu", "(x + |x|) / 2",
     [](Formula& f, int x) {
       return f.of("mul.Tensor", f.of("add.Tensor", x, f.of("abs", x)), 0.5);
     }},
});

class StepVariants {
 public:
  StepVariants(const Plan& plan, std::size_t step, std::vector<Variant>& variants)
      : plan_(plan),
        step_(step),
        call_(std::get<AtenCall>(plan.steps[step].action)),
        family_(family_of(call_)),
        variants_(variants) {}

  void add_all() {
    const PlanTensor* x = tensor_argument(plan_, call_, 0);
    if (x == nullptr || !is_floating(x->dtype) || elements_of(*x) == 0) return;
    for (const Equal& each : kEqual)
      if (each.family == family_)
        add(std::string("as ") + std::string(each.how),
            [write = each.write](Formula& f) { f.becomes_result(write(f, f.argument(0))); });
    if (family_ == "gelu") add_gelu();
    if (family_ == "div") add_division();
    if (family_ == "sum" || family_ == "mean") add_sums(*x);
    if (family_ == "var") add_variance(*x);
    if (operators::has_trait(family_, operators::Trait::softmax)) add_softmax(*x);
    if (operators::has_trait(family_, operators::Trait::matrix_product)) add_products();
    if (family_ == "native_layer_norm") add_layer_norm(*x);
    if (family_ == "native_group_norm") add_group_norm(*x);
    if (family_.ends_with("batch_norm")) add_batch_norm(*x);
  }

 private:
  void add(const std::string& how, const Write& write) {
    PlanEditor editor(plan_, step_);
    Formula formula(editor);
    write(formula);
    const int line = plan_.steps[step_].line;
    variants_.push_back({.what = fmt::format("`{}`{}: {}", family_,
                                             line > 0 ? fmt::format(" of line {}", line) : "", how),
                         .plan = as_candidate(std::move(editor).finish())});
  }

  void add_gelu() {
    if (!call_.kwargs.empty() && call_.kwargs[0].second == Value{std::string("tanh")})
      return add("by a sigmoid", [](Formula& f) {
        const int x = f.argument(0);
        const int cube = f.of("mul.Tensor", f.of("mul.Tensor", x, x), x);
        const int inner = f.of("add.Tensor", x, f.of("mul.Tensor", cube, 0.044715));
        const int wide = f.of("mul.Tensor", inner, 2 * std::sqrt(2 / std::numbers::pi));
        f.becomes_result(f.of("mul.Tensor", x, sigmoid(f, wide)));
      });
    add("as x (1 + erf(x / sqrt(2))) / 2", [](Formula& f) {
      const int x = f.argument(0);
      const int e = f.of("erf", f.of("mul.Tensor", x, std::numbers::sqrt2 / 2));
      f.becomes_result(f.of("mul.Tensor", f.of("mul.Tensor", x, 0.5), f.of("add.Tensor", e, 1.0)));
    });
  }

  void add_division() {
    if (call_.args.size() < 2 || call_.kwargs.size() > 0) return;
    add("by the reciprocal", [](Formula& f) {
      const int x = f.argument(0), y = f.argument(1);
      if (y >= 0) return f.becomes_result(f.of("mul.Tensor", x, f.of("reciprocal", y)));
      const Value& given = f.editor().call().args[1];
      const auto* integer = std::get_if<std::int64_t>(&given.data);
      const double divisor =
          integer != nullptr ? static_cast<double>(*integer) : std::get<double>(given.data);
      f.becomes_result(f.of("mul.Tensor", x, 1 / divisor));
    });
  }

  // The dimensions that argument 1 names; all if it names none.
  std::vector<std::int64_t> dimensions(const PlanTensor& x) const {
    std::vector<std::int64_t> dims;
    const std::size_t n = x.shape.size();
    if (call_.args.size() > 1) {
      if (const auto* list = std::get_if<List>(&call_.args[1].data))
        for (const Value& item : list->items)
          if (const auto* d = std::get_if<std::int64_t>(&item.data))
            dims.push_back(from_front(*d, n));
      if (const auto* one = std::get_if<std::int64_t>(&call_.args[1].data))
        dims.push_back(from_front(*one, n));
    }
    if (dims.empty())
      for (std::size_t d = 0; d < n; ++d) dims.push_back(static_cast<std::int64_t>(d));
    return dims;
  }

  std::vector<std::int64_t> result_shape() const {
    return plan_.tensors.at(static_cast<std::size_t>(call_.outputs[0])).shape;
  }

  static double count_of(const PlanTensor& x, const std::vector<std::int64_t>& dims) {
    double count = 1;
    for (const std::int64_t d : dims)
      count *= static_cast<double>(x.shape.at(static_cast<std::size_t>(d)));
    return count;
  }

  void add_sums(const PlanTensor& x) {
    const std::vector<std::int64_t> dims = dimensions(x);
    if (dims.empty()) return;
    const double divisor = family_ == "mean" ? count_of(x, dims) : 1;
    const auto d = static_cast<std::size_t>(dims.back());
    const std::int64_t n = x.shape.at(d);
    const std::vector<std::int64_t> made = result_shape();
    add("summed from the last to the first", [=](Formula& f) {
      const int input = f.argument(0);
      const int flipped = f.apply("flip", {tensor_value(input), whole_list(dims)}, f.shape(input));
      const int sum = f.along("sum.dim_IntList", flipped, dims);
      f.becomes_result(f.of("mul.Tensor", f.reshaped(sum, made), 1 / divisor));
    });
    if (n < 4) return;
    add("summed in two tiles", [=](Formula& f) {
      const int input = f.argument(0);
      const int first = f.along("sum.dim_IntList", f.part(input, d, 0, n / 4), dims);
      const int second = f.along("sum.dim_IntList", f.part(input, d, n / 4, n), dims);
      const int sum = f.of("add.Tensor", first, second);
      f.becomes_result(f.of("mul.Tensor", f.reshaped(sum, made), 1 / divisor));
    });
  }

  void add_variance(const PlanTensor& x) {
    double correction = 1;
    for (const auto& [name, value] : call_.kwargs)
      if (name == "correction")
        if (const auto* given = std::get_if<std::int64_t>(&value.data))
          correction = static_cast<double>(*given);
    const std::vector<std::int64_t> dims = dimensions(x);
    const double n = count_of(x, dims);
    if (n <= correction) return;
    const std::vector<std::int64_t> made = result_shape();
    add("in one pass, as the mean square without the square of the mean", [=](Formula& f) {
      const int input = f.argument(0);
      const int mean = f.along("mean.dim", input, dims);
      const int square = f.along("mean.dim", f.of("mul.Tensor", input, input), dims);
      const int variance = f.of("sub.Tensor", square, f.of("mul.Tensor", mean, mean));
      f.becomes_result(f.of("mul.Tensor", f.reshaped(variance, made), n / (n - correction)));
    });
  }

  void add_softmax(const PlanTensor& x) {
    const auto* given =
        call_.args.size() > 1 ? std::get_if<std::int64_t>(&call_.args[1].data) : nullptr;
    if (given == nullptr || x.shape.empty()) return;
    const std::int64_t d = from_front(*given, x.shape.size());
    const bool is_log = family_.find("log") != std::string_view::npos;
    add("by exp2, in one pass over two tiles",
        [=, n = x.shape.at(static_cast<std::size_t>(d))](Formula& f) {
          const int input = f.argument(0);
          const auto at = static_cast<std::size_t>(d);
          const std::int64_t middle = std::max<std::int64_t>(n / 2, 1);
          int most = f.along("amax", f.part(input, at, 0, middle), {d});
          int sum = f.along("sum.dim_IntList",
                            exp2(f, f.of("sub.Tensor", f.part(input, at, 0, middle), most)), {d});
          if (middle < n) {
            const int tile = f.part(input, at, middle, n);
            const int more = f.of("maximum", most, f.along("amax", tile, {d}));
            sum = f.of("mul.Tensor", sum, exp2(f, f.of("sub.Tensor", most, more)));
            const int added =
                f.along("sum.dim_IntList", exp2(f, f.of("sub.Tensor", tile, more)), {d});
            sum = f.of("add.Tensor", sum, added);
            most = more;
          }
          const int low = f.of("sub.Tensor", input, most);
          f.becomes_result(is_log ? f.of("sub.Tensor", low, f.of("log", sum))
                                  : f.of("mul.Tensor", exp2(f, low), f.of("reciprocal", sum)));
        });
  }

  void add_products() {
    const bool adds = operators::has_trait(family_, operators::Trait::adds_to_product);
    const std::size_t left = adds ? 1 : 0;
    const PlanTensor* a = tensor_argument(plan_, call_, left);
    if (a == nullptr || a->shape.size() < 2 || !call_.kwargs.empty()) return;
    const std::size_t d = a->shape.size() - 1;
    const std::int64_t n = a->shape[d];
    if (n < 4) return;
    const std::string op = d == 2 ? "bmm" : "mm";
    add("summed in two tiles", [=, made = result_shape()](Formula& f) {
      const int one = f.argument(left), other = f.argument(left + 1);
      const auto product = [&](std::int64_t from, std::int64_t to) {
        return f.apply(
            op,
            {tensor_value(f.part(one, d, from, to)), tensor_value(f.part(other, d - 1, from, to))},
            made);
      };
      int sum = f.of("add.Tensor", product(0, n / 4), product(n / 4, n));
      if (left == 1) sum = f.of("add.Tensor", sum, f.argument(0));
      f.becomes_result(sum);
    });
  }

  struct Norm {
    std::vector<std::int64_t> shape, dims, back, affine;
    std::size_t weight_at = 1;
    double epsilon = 1e-5;
  };

  double epsilon_at(std::size_t position) const {
    const auto* value =
        position < call_.args.size() ? std::get_if<double>(&call_.args[position].data) : nullptr;
    return value == nullptr ? 1e-5 : *value;
  }

  void add_layer_norm(const PlanTensor& x) {
    const auto* normalized = std::get_if<List>(&call_.args.at(1).data);
    if (normalized == nullptr || normalized->items.size() > x.shape.size()) return;
    std::int64_t row = 1;
    for (std::size_t k = 0; k < normalized->items.size(); ++k)
      row *= x.shape[x.shape.size() - 1 - k];
    const std::vector<std::int64_t> shape = {elements_of(x) / row, row};
    add_norm({shape, {1}, shape, {1, row}, 2, epsilon_at(4)});
  }

  void add_group_norm(const PlanTensor& x) {
    const auto* groups = std::get_if<std::int64_t>(&call_.args.at(6).data);
    if (groups == nullptr || x.shape.size() < 2) return;
    const std::int64_t n = x.shape[0], c = x.shape[1], all = elements_of(x);
    add_norm({{n * *groups, all / (n * *groups)},
              {1},
              {n, c, all / (n * c)},
              {1, c, 1},
              1,
              epsilon_at(7)});
  }

  void add_batch_norm(const PlanTensor& x) {
    if (x.shape.size() < 2 || call_.args.size() < 8 || !(call_.args[5] == flag(true))) return;
    const std::int64_t n = x.shape[0], c = x.shape[1];
    const std::vector<std::int64_t> shape = {n, c, elements_of(x) / (n * c)};
    add_norm({shape, {0, 2}, shape, {1, c, 1}, 1, epsilon_at(7)});
  }

  void add_norm(const Norm& norm) {
    add("in two passes", [=](Formula& f) { normalise(f, norm, false); });
    add("with the variance in one pass", [=](Formula& f) { normalise(f, norm, true); });
  }

  static void normalise(Formula& f, const Norm& norm, bool is_one_pass) {
    const int input = f.argument(0);
    const std::vector<std::int64_t> given = f.shape(input);
    const int x = f.reshaped(input, norm.shape);
    const int mean = f.along("mean.dim", x, norm.dims);
    const int centred = f.of("sub.Tensor", x, mean);
    const int squares = is_one_pass ? f.of("mul.Tensor", x, x) : f.of("square", centred);
    int variance = f.along("mean.dim", squares, norm.dims);
    if (is_one_pass) variance = f.of("sub.Tensor", variance, f.of("mul.Tensor", mean, mean));
    const int scale = f.of("rsqrt", f.of("add.Tensor", variance, norm.epsilon));
    int y = f.reshaped(f.of("mul.Tensor", centred, scale), norm.back);
    const int weight = f.argument(norm.weight_at), bias = f.argument(norm.weight_at + 1);
    if (weight >= 0) y = f.of("mul.Tensor", y, f.reshaped(weight, norm.affine));
    if (bias >= 0) y = f.of("add.Tensor", y, f.reshaped(bias, norm.affine));
    f.becomes_result(f.reshaped(y, given));
  }

  const Plan& plan_;
  std::size_t step_;
  const AtenCall& call_;
  std::string_view family_;
  std::vector<Variant>& variants_;
};

}  // namespace

std::vector<Variant> variants_of(const Plan& task, std::size_t most) {
  std::vector<Variant> all;
  if (auto wide = in_float32(task))
    all.push_back({"everything between in float32, rounded once", as_candidate(*std::move(wide))});
  for (std::size_t k = 0; k < task.steps.size(); ++k) {
    const auto* call = std::get_if<AtenCall>(&task.steps[k].action);
    if (call != nullptr && task.steps[k].phase == Phase::forward && !call->outputs.empty() &&
        call->outputs[0] >= 0)
      StepVariants(task, k, all).add_all();
  }
  if (all.size() <= most) return all;
  std::vector<Variant> chosen;
  for (std::size_t k = 0; k < most; ++k) chosen.push_back(std::move(all[k * all.size() / most]));
  return chosen;
}

}  // namespace tritonsmith::gym::plan::faults
