// Faults of functions: a cheaper function for an exact one, an exponential without its maximum,
// equal values and repeated indices that are treated otherwise. And faults of precision.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "gym/plan/faults/faults.h"
#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::faults {
namespace {

// Another function of the same argument.
struct Stand {
  std::string_view family, how, op;
};
constexpr auto kStands = std::to_array<Stand>({
    {"silu", "replaced by hardswish", "aten::hardswish"},
    {"hardswish", "replaced by silu", "aten::silu"},
    {"mish", "replaced by silu", "aten::silu"},
    {"gelu", "replaced by silu", "aten::silu"},
    {"sigmoid", "replaced by hardsigmoid", "aten::hardsigmoid"},
    {"tanh", "replaced by hardtanh", "aten::hardtanh"},
    {"softplus", "replaced by relu", "aten::relu"},
    {"relu", "replaced by its absolute value", "aten::abs"},
    {"elu", "replaced by relu", "aten::relu"},
    {"leaky_relu", "replaced by relu", "aten::relu"},
    {"selu", "replaced by relu", "aten::relu"},
    {"floor", "rounded to zero instead of down", "aten::trunc"},
    {"ceil", "rounded to the nearest number instead of up", "aten::round"},
    {"log1p", "replaced by the logarithm", "aten::log"},
    {"expm1", "replaced by the exponential", "aten::exp"},
    {"index_add", "the last of equal indices counts", "aten::index_copy"},
    {"scatter_add", "the last of equal indices counts", "aten::scatter.src"},
});

// The same operator but for values that are equal.
struct Tie {
  std::string_view family, other;
};
constexpr auto kTies = std::to_array<Tie>({{"gt", "ge"}, {"ge", "gt"}, {"lt", "le"}, {"le", "lt"}});

class FunctionFaults {
 public:
  FunctionFaults(const Site& site, std::vector<Fault>& faults)
      : site_(site), call_(site.call()), family_(family_of(site.call())), faults_(faults) {}

  void add_all() {
    for (const Stand& each : kStands)
      if (each.family == family_) add_stand(each);
    for (const Tie& each : kTies)
      if (each.family == family_) add_tie(each);
    if (family_ == "gelu") add_gelu();
    if (family_ == "exp") add_cut_exponential();
    if (family_ == "erf") add_erf();
    if (operators::has_trait(family_, operators::Trait::softmax))
      add_plain_softmax(family_.find("log") != std::string_view::npos);
    if (family_ == "logsumexp") add_plain_logsumexp();
    if (family_ == "argmax" || family_ == "argmin") add_last_index();
    if (family_ == "round") add_half_up();
    if (family_ == "index_put") add_overwriting_index();
    add_small_counts();
  }

 private:
  void add(FaultKind kind, std::string_view how, std::function<void(PlanEditor&)> edit) {
    faults_.push_back({.kind = kind,
                       .what = fmt::format("{}: {}", site_.where, how),
                       .step = site_.step,
                       .edit = std::move(edit)});
  }

  void add_stand(const Stand& stand) {
    const bool takes_all = stand.family == "index_add" || stand.family == "scatter_add";
    add(takes_all ? FaultKind::special : FaultKind::cheaper, stand.how,
        [stand, takes_all](PlanEditor& editor) {
          std::vector<Value> args = {tensor_value(editor.argument(0))};
          for (std::size_t k = 1; takes_all && k < editor.call().args.size(); ++k)
            args.push_back(editor.call().args[k]);
          editor.overwrite_result(
              editor.after_like(editor.result(), std::string(stand.op), std::move(args)));
        });
  }

  void add_tie(const Tie& tie) {
    add(FaultKind::special, "equal values treated otherwise", [tie](PlanEditor& editor) {
      std::string& op = editor.call().op;
      const std::size_t at = op.find("::") + 2;
      op = op.substr(0, at) + std::string(tie.other) + op.substr(at + tie.family.size());
    });
  }

  void add_gelu() {
    const bool is_tanh = std::ranges::any_of(call_.kwargs, [](const auto& each) {
      return each.first == "approximate" && each.second == Value{std::string("tanh")};
    });
    add(FaultKind::cheaper,
        is_tanh ? "its exact form instead of the tanh form"
                : "its tanh form instead of the exact one",
        [is_tanh](PlanEditor& editor) {
          editor.call().kwargs = {{"approximate", Value{std::string(is_tanh ? "none" : "tanh")}}};
        });
    add(FaultKind::cheaper, "x sigmoid(1.702 x) instead", [](PlanEditor& editor) {
      const int x = editor.argument(0);
      int y = editor.after_like(x, "aten::mul.Tensor", {tensor_value(x), number(1.702)});
      y = editor.after_like(x, "aten::sigmoid", {tensor_value(y)});
      editor.overwrite_result(
          editor.after_like(x, "aten::mul.Tensor", {tensor_value(x), tensor_value(y)}));
    });
  }

  void add_cut_exponential() {
    add(FaultKind::cheaper, "its argument cut at 20", [](PlanEditor& editor) {
      const int x = editor.argument(0);
      const int least = editor.after_like(x, "aten::clamp_max", {tensor_value(x), whole(20)});
      editor.overwrite_result(editor.after_like(x, "aten::exp", {tensor_value(least)}));
    });
  }

  void add_erf() {
    add(FaultKind::cheaper, "tanh(1.203 x) instead", [](PlanEditor& editor) {
      const int x = editor.argument(0);
      const int wide = editor.after_like(x, "aten::mul.Tensor", {tensor_value(x), number(1.203)});
      editor.overwrite_result(editor.after_like(x, "aten::tanh", {tensor_value(wide)}));
    });
  }

  // Returns the sum of exponentials, in float32, without the maximum taken off.
  static int sum_of_exponentials(PlanEditor& editor, int exponentials, const Value& dims) {
    return editor.after("aten::sum.dim_IntList", {tensor_value(exponentials), dims, flag(true)},
                        editor.tensor(exponentials).shape, editor.tensor(exponentials).dtype);
  }

  void add_plain_softmax(bool is_log) {
    if (call_.args.size() < 2 || !std::holds_alternative<std::int64_t>(call_.args[1].data)) return;
    add(FaultKind::special, "the maximum is not taken off", [is_log](PlanEditor& editor) {
      const int x = editor.argument(0);
      const Value dims = whole_list({std::get<std::int64_t>(editor.call().args[1].data)});
      const int exponentials = editor.after_like(x, "aten::exp", {tensor_value(x)});
      int sum = sum_of_exponentials(editor, exponentials, dims);
      if (is_log) sum = editor.after_like(sum, "aten::log", {tensor_value(sum)});
      editor.overwrite_result(
          is_log ? editor.after_like(x, "aten::sub.Tensor", {tensor_value(x), tensor_value(sum)})
                 : editor.after_like(x, "aten::div.Tensor",
                                     {tensor_value(exponentials), tensor_value(sum)}));
    });
  }

  void add_plain_logsumexp() {
    add(FaultKind::special, "the maximum is not taken off", [](PlanEditor& editor) {
      const int x = editor.argument(0);
      std::vector<Value> args = editor.call().args;
      args[0] = tensor_value(editor.after_like(x, "aten::exp", {tensor_value(x)}));
      const int sum = editor.after_like(editor.result(), "aten::sum.dim_IntList", args);
      editor.overwrite_result(editor.after_like(sum, "aten::log", {tensor_value(sum)}));
    });
  }

  // The last of equal values, and not the first.
  void add_last_index() {
    const auto* given =
        call_.args.size() > 1 ? std::get_if<std::int64_t>(&call_.args[1].data) : nullptr;
    const PlanTensor* x = tensor_argument(site_.plan, call_, 0);
    if (given == nullptr || x == nullptr || x->shape.empty()) return;
    const std::int64_t d = from_front(*given, x->shape.size());
    add(FaultKind::special, "the last of equal values is taken",
        [d, n = x->shape.at(static_cast<std::size_t>(d))](PlanEditor& editor) {
          const int given_values = editor.argument(0);
          std::vector<Value> args = editor.call().args;
          args[0] = tensor_value(editor.after_like(given_values, "aten::flip",
                                                   {tensor_value(given_values), whole_list({d})}));
          const int indices = editor.after_like(editor.result(), editor.call().op, args);
          editor.overwrite_result(editor.after_like(indices, "aten::rsub.Scalar",
                                                    {tensor_value(indices), whole(n - 1)}));
        });
  }

  void add_half_up() {
    add(FaultKind::special, "halves rounded up instead of to even", [](PlanEditor& editor) {
      const int x = editor.argument(0);
      const int moved = editor.after_like(x, "aten::add.Tensor", {tensor_value(x), number(0.5)});
      editor.overwrite_result(editor.after_like(x, "aten::floor", {tensor_value(moved)}));
    });
  }

  void add_overwriting_index() {
    if (call_.args.size() < 4 || !(call_.args[3] == flag(true))) return;
    add(FaultKind::special, "the last of equal indices counts",
        [](PlanEditor& editor) { editor.call().args[3] = flag(false); });
  }

  void add_small_counts() {
    const PlanTensor& result = site_.plan.tensors.at(static_cast<std::size_t>(call_.outputs[0]));
    if (!operators::has_trait(family_, operators::Trait::counts) ||
        (result.dtype != DType::int64 && result.dtype != DType::int32))
      return;
    add(FaultKind::special, "counts cut off at 255", [](PlanEditor& editor) {
      editor.overwrite_result(editor.after_like(editor.result(), "aten::clamp_max",
                                                {tensor_value(editor.result()), whole(255)}));
    });
  }

  const Site& site_;
  const AtenCall& call_;
  std::string_view family_;
  std::vector<Fault>& faults_;
};

// Rounds a tensor to another type and back.
int rounded(PlanEditor& editor, int tensor, DType to, bool is_after) {
  const PlanTensor form = editor.tensor(tensor);
  const auto cast = [&](int from, DType dtype) {
    const Keywords keywords = {{"dtype", Value{dtype}}};
    return is_after
               ? editor.after("aten::_to_copy", {tensor_value(from)}, form.shape, dtype, keywords)
               : editor.before("aten::_to_copy", {tensor_value(from)}, form.shape, dtype, keywords);
  };
  return cast(cast(tensor, to), form.dtype);
}

}  // namespace

void add_function_faults(const Site& site, std::vector<Fault>& faults) {
  FunctionFaults(site, faults).add_all();
}

void add_precision_faults(const Site& site, std::vector<Fault>& faults) {
  const AtenCall& call = site.call();
  const PlanTensor& result = site.plan.tensors.at(static_cast<std::size_t>(call.outputs[0]));
  if (operators::only_arranges(call.op) || operators::only_allocates(call.op)) return;
  if (result.dtype != DType::float32 && result.dtype != DType::float64) return;
  const bool is_double = result.dtype == DType::float64;
  const auto add = [&](std::string how, std::function<void(PlanEditor&)> edit) {
    faults.push_back({.kind = FaultKind::precision,
                      .what = fmt::format("{}: {}", site.where, how),
                      .step = site.step,
                      .edit = std::move(edit)});
  };
  add(fmt::format("its result rounded to {}", is_double ? "float32" : "bfloat16"),
      [is_double](PlanEditor& editor) {
        editor.overwrite_result(
            rounded(editor, editor.result(), is_double ? DType::float32 : DType::bfloat16, true));
      });
  const std::string_view family = family_of(call);
  const bool multiplies = operators::has_trait(family, operators::Trait::matrix_product) ||
                          family == "linear" || family == "convolution";
  if (!multiplies || is_double) return;
  add("its factors rounded to 10 bits, as TF32 does",
      [first = operators::has_trait(family, operators::Trait::adds_to_product)
                   ? std::size_t{1}
                   : std::size_t{0}](PlanEditor& editor) {
        for (const std::size_t position : {first, first + 1})
          editor.call().args[position] =
              tensor_value(rounded(editor, editor.argument(position), DType::float16, false));
      });
}

}  // namespace tritonsmith::gym::plan::faults
