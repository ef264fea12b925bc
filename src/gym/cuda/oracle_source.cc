#include "gym/cuda/oracle_source.h"

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <map>
#include <string_view>

#include "gym/cuda/device_code.h"

namespace tritonsmith::gym::cuda {
namespace {

constexpr std::size_t kMostSteps = 16, kMostLeaves = 6;

// LibTorch defines these for doubles in aten/src/ATen/native/cuda/Activation*.cu and *Kernels.cu.
// NaN passes through all of them. hardswish and hardsigmoid are missing, because LibTorch rounds
// their 1/6 to float32 even for doubles.
constexpr std::string_view kFunctions = R"cuda(
typedef double f64;
#define UNARY(name, value) __device__ __forceinline__ f64 name(f64 x) { return value; }
UNARY(same_, x)
UNARY(relu_, x <= 0 ? 0 : x)
UNARY(sigmoid_, 1 / (1 + exp(-x)))
UNARY(tanh_, tanh(x))
UNARY(silu_, x / (1 + exp(-x)))
UNARY(gelu_, 0.5 * x * (1 + erf(x * 0.70710678118654752440)))
UNARY(gelu_tanh_, 0.5 * x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x))))
UNARY(mish_, x * tanh(log1p(exp(x))))
UNARY(exp_, exp(x))
UNARY(expm1_, expm1(x))
UNARY(log_, log(x))
UNARY(log1p_, log1p(x))
UNARY(sqrt_, sqrt(x))
UNARY(rsqrt_, 1 / sqrt(x))
UNARY(reciprocal_, 1 / x)
UNARY(square_, x * x)
UNARY(abs_, fabs(x))
UNARY(neg_, -x)
UNARY(sin_, sin(x))
UNARY(cos_, cos(x))
UNARY(erf_, erf(x))
__device__ __forceinline__ f64 clamp_(f64 x, f64 low, f64 high) {
  return x != x ? x : fmin(fmax(x, low), high);
}
__device__ __forceinline__ f64 clamp_min_(f64 x, f64 low) { return x < low ? low : x; }
__device__ __forceinline__ f64 clamp_max_(f64 x, f64 high) { return x > high ? high : x; }
__device__ __forceinline__ f64 softplus_(f64 x, f64 beta, f64 threshold) {
  return x * beta > threshold ? x : log1p(exp(x * beta)) / beta;
}
__device__ __forceinline__ f64 leaky_relu_(f64 x, f64 slope) { return x > 0 ? x : x * slope; }
__device__ __forceinline__ f64 elu_(f64 x, f64 alpha, f64 scale, f64 input_scale) {
  return x <= 0 ? expm1(x * input_scale) * (alpha * scale) : x * scale;
}
__device__ __forceinline__ f64 pow_(f64 x, f64 p) { return p == 2 ? x * x : p == 3 ? x * x * x : pow(x, p); }
__device__ __forceinline__ f64 add_(f64 x, f64 y, f64 alpha) { return x + alpha * y; }
__device__ __forceinline__ f64 sub_(f64 x, f64 y, f64 alpha) { return x - alpha * y; }
__device__ __forceinline__ f64 rsub_(f64 x, f64 y, f64 alpha) { return y - alpha * x; }
__device__ __forceinline__ f64 mul_(f64 x, f64 y) { return x * y; }
__device__ __forceinline__ f64 div_(f64 x, f64 y) { return x / y; }
__device__ __forceinline__ f64 maximum_(f64 x, f64 y) { return x != x || y != y ? x + y : fmax(x, y); }
__device__ __forceinline__ f64 minimum_(f64 x, f64 y) { return x != x || y != y ? x + y : fmin(x, y); }
)cuda";

// The CUDA code of an operator. It belongs to the text above, while plan/operators says what an
// operator is. The operands come first. Numbers with defaults follow, and a keyword may set
// `alpha`.
struct Form {
  std::string function;
  std::size_t operands = 1;
  std::vector<double> numbers;
};

std::map<std::string, Form> make_forms() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::map<std::string, Form> forms = {
      {"aten::softplus", {.function = "softplus_", .numbers = {1, 20}}},
      {"aten::leaky_relu", {.function = "leaky_relu_", .numbers = {0.01}}},
      {"aten::elu", {.function = "elu_", .numbers = {1, 1, 1}}},
      {"aten::hardtanh", {.function = "clamp_", .numbers = {-1, 1}}},
      {"aten::clamp", {.function = "clamp_", .numbers = {-infinity, infinity}}},
      {"aten::clamp_min", {.function = "clamp_min_", .operands = 2, .numbers = {}}},
      {"aten::clamp_max", {.function = "clamp_max_", .operands = 2, .numbers = {}}},
      {"aten::pow.Tensor_Scalar", {.function = "pow_", .operands = 2, .numbers = {}}},
      {"aten::maximum", {.function = "maximum_", .operands = 2, .numbers = {}}},
      {"aten::minimum", {.function = "minimum_", .operands = 2, .numbers = {}}}};
  for (const char* name :
       {"relu", "sigmoid", "tanh", "silu", "gelu", "mish", "exp", "expm1", "log", "log1p", "sqrt",
        "rsqrt", "abs", "square", "reciprocal", "neg", "sin", "cos", "erf"})
    forms[fmt::format("aten::{}", name)] = {.function = fmt::format("{}_", name), .numbers = {}};
  for (const char* name : {"alias", "detach", "clone"})
    forms[fmt::format("aten::{}", name)] = {.function = "same_", .numbers = {}};
  for (const char* kind : {"Tensor", "Scalar"}) {
    for (const char* name : {"add", "sub", "rsub"})
      forms[fmt::format("aten::{}.{}", name, kind)] = {
          .function = fmt::format("{}_", name), .operands = 2, .numbers = {1}};
    for (const char* name : {"mul", "div"})
      forms[fmt::format("aten::{}.{}", name, kind)] = {
          .function = fmt::format("{}_", name), .operands = 2, .numbers = {}};
  }
  return forms;
}

std::optional<double> number_in(const plan::Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value.data))
    return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value.data)) return *real;
  return std::nullopt;
}

// Writes a number with all its bits, so infinities work too.
std::string literal(double number) {
  return fmt::format("__longlong_as_double({}ll)", std::bit_cast<std::int64_t>(number));
}

const char* type_of(plan::DType dtype) {
  switch (dtype) {
    case plan::DType::float64:
      return "double";
    case plan::DType::float32:
      return "float";
    case plan::DType::float16:
      return "Half";
    case plan::DType::bfloat16:
      return "BFloat";
    default:
      return nullptr;
  }
}

bool is_contiguous(const plan::PlanTensor& tensor) {
  std::int64_t stride = 1;
  for (std::size_t d = tensor.shape.size(); d-- > 0; stride *= tensor.shape[d])
    if (tensor.shape[d] != 1 && tensor.stride[d] != stride) return false;
  return true;
}

class Writer {
 public:
  explicit Writer(const plan::Plan& task) : task_(task) {}

  std::optional<OracleSource> write() {
    const auto* output = std::get_if<plan::TensorRef>(&task_.outputs.data);
    if (output == nullptr || !task_.unplanned.empty() || !task_.mutated_inputs.empty())
      return std::nullopt;
    shape_ = &tensor(output->index).shape;
    const char* type = type_of(tensor(output->index).dtype);
    if (type == nullptr || !is_contiguous(tensor(output->index))) return std::nullopt;
    for (const plan::PlanStep& step : task_.steps)
      if (step.phase == plan::Phase::forward && !add_step(step)) return std::nullopt;
    const auto result = operand(plan::Value{*output});
    if (!result || leaves_.empty() || steps_ == 0) return std::nullopt;
    return OracleSource{.source = text(type, *result), .leaves = leaves_};
  }

 private:
  const plan::PlanTensor& tensor(int index) const {
    return task_.tensors.at(static_cast<std::size_t>(index));
  }

  bool add_step(const plan::PlanStep& step) {
    static const std::map<std::string, Form> forms = make_forms();
    const auto* call = std::get_if<plan::AtenCall>(&step.action);
    if (call == nullptr || call->outputs.size() != 1 || ++steps_ > kMostSteps) return false;
    const auto form = forms.find(call->op);
    const int made = call->outputs.front();
    if (form == forms.end() || made < 0 || made_.contains(made)) return false;
    if (tensor(made).shape != *shape_ || type_of(tensor(made).dtype) == nullptr) return false;
    const auto value = expression(*call, form->second);
    if (!value) return false;
    body_ += fmt::format("    const f64 t{} = {};\n", steps_, *value);
    made_[made] = fmt::format("t{}", steps_);
    return true;
  }

  std::optional<std::string> expression(const plan::AtenCall& call, const Form& form) {
    if (call.args.size() < form.operands || call.args.size() > form.operands + form.numbers.size())
      return std::nullopt;
    std::string function = form.function, arguments;
    for (std::size_t k = 0; k < form.operands; ++k) {
      const auto value = operand(call.args[k]);
      if (!value) return std::nullopt;
      arguments += (k == 0 ? "" : ", ") + *value;
    }
    std::vector<double> numbers = form.numbers;
    for (std::size_t k = form.operands; k < call.args.size(); ++k) {
      if (std::holds_alternative<plan::None>(call.args[k].data)) continue;
      const auto number = number_in(call.args[k]);
      if (!number) return std::nullopt;
      numbers[k - form.operands] = *number;
    }
    for (const auto& [name, value] : call.kwargs)
      if (!take_keyword(name, value, function, numbers)) return std::nullopt;
    for (const double number : numbers) arguments += ", " + literal(number);
    return fmt::format("{}({})", function, arguments);
  }

  static bool take_keyword(const std::string& name, const plan::Value& value, std::string& function,
                           std::vector<double>& numbers) {
    const auto number = number_in(value);
    if (name == "alpha" && number && numbers.size() == 1) {
      numbers.front() = *number;
      return true;
    }
    const auto* word = std::get_if<std::string>(&value.data);
    if (name != "approximate" || word == nullptr || function != "gelu_") return false;
    if (*word == "tanh") function = "gelu_tanh_";
    return *word == "tanh" || *word == "none";
  }

  // Returns the text of a number, of an earlier step's result, or of a leaf. A leaf is an input or
  // a weight of the same shape.
  std::optional<std::string> operand(const plan::Value& value) {
    if (const auto number = number_in(value)) return literal(*number);
    const auto* reference = std::get_if<plan::TensorRef>(&value.data);
    if (reference == nullptr) return std::nullopt;
    const int index = reference->index;
    if (const auto made = made_.find(index); made != made_.end()) return made->second;
    const plan::PlanTensor& leaf = tensor(index);
    if (leaf.shape != *shape_ || !is_contiguous(leaf) || type_of(leaf.dtype) == nullptr ||
        leaves_.size() == kMostLeaves)
      return std::nullopt;
    const std::size_t k = leaves_.size();
    leaves_.push_back(index);
    const char* type = type_of(leaf.dtype);
    parameters_ += fmt::format("const {}* p{}, ", type, k);
    names_ += fmt::format("{}p{}", k == 0 ? "" : ", ", k);
    pointers_ += fmt::format("  const {}* p{};\n", type, k);
    values_ += fmt::format("{} v{}; ", type, k);
    loads_ += fmt::format("{}p{}[i]", k == 0 ? "" : ", ", k);
    return made_[index] = fmt::format("wide(v.v{})", k);
  }

  std::string text(const char* type, const std::string& result) const {
    return fmt::format(R"({}{}{}
struct Oracle {{
{}  struct Values {{ {}}};
  __device__ __forceinline__ Values load(u64 i) const {{ return {{{}}}; }}
  __device__ __forceinline__ f64 at(const Values& v) const {{
{}    return {};
  }}
}};
extern "C" __global__ void {}(const {}* got, const {}* expected, {}u64 count, f64 tolerance, Judged* judged) {{
  judge_all(got, expected, Oracle{{{}}}, count, tolerance, judged);
}}
)",
                       common_source(), judging_source(), kFunctions, pointers_, values_, loads_,
                       body_, result, kOracleKernel, type, type, parameters_, names_);
  }

  const plan::Plan& task_;
  const std::vector<std::int64_t>* shape_ = nullptr;
  std::size_t steps_ = 0;
  std::map<int, std::string> made_;  // the kernel's name for an element of each tensor
  std::vector<int> leaves_;
  std::string parameters_, names_, pointers_, values_, loads_, body_;
};

}  // namespace

std::optional<OracleSource> oracle_source(const plan::Plan& task) { return Writer(task).write(); }

}  // namespace tritonsmith::gym::cuda
