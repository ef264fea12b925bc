#include "gym/referee/speed_floor.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <vector>

#include "gym/referee/convolution_work.h"
#include "gym/referee/operators.h"

namespace tritonsmith::gym {
namespace {

constexpr auto kElementwise = std::to_array<std::string_view>(
    {"abs",  "add", "atan", "cos",    "div",      "elu",  "erf",     "exp",  "gelu",       "log",
     "mish", "mul", "neg",  "pow",    "relu",     "rsub", "sigmoid", "silu", "leaky_relu", "sin",
     "sqrt", "sub", "tanh", "square", "softplus", "exp2", "expm1",   "log1p"});
// Of these a product may be taken before them: (x w + b) v = x (w v) + b v.
constexpr auto kLinear =
    std::to_array<std::string_view>({"add", "sub", "rsub", "mul", "div", "neg"});
constexpr auto kRearranging = std::to_array<std::string_view>(
    {"t", "transpose", "view", "_unsafe_view", "reshape", "permute", "contiguous", "clone", "alias",
     "detach", "unsqueeze", "squeeze", "_to_copy"});
constexpr auto kProducts = std::to_array<std::string_view>({"mm", "addmm", "bmm", "baddbmm"});
constexpr auto kDrawing = std::to_array<std::string_view>(
    {"rand", "randn", "rand_like", "randn_like", "normal", "normal_", "uniform", "uniform_",
     "empty", "empty_like", "new_empty", "alias", "detach"});

bool among(const auto& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

class Walk {
 public:
  explicit Walk(const Plan& task) : task_(task) {}

  LeastWork measure() {
    find_outputs();
    if (!writes_in_place()) {
      find_drawn();
      for (std::size_t k = 0; k < task_.steps.size(); ++k) follow(k);
      for (std::size_t k = task_.steps.size(); k-- > 0;) demand(k);
      for (const int tensor : read_)
        if (drawn_.contains(tensor)) count_bytes(tensor);
    }
    return work_;
  }

 private:
  const PlanTensor& facts(int tensor) const {
    return task_.tensors.at(static_cast<std::size_t>(tensor));
  }
  const AtenCall* forward_call(std::size_t step) const {
    const PlanStep& at = task_.steps[step];
    return at.phase == Phase::forward ? std::get_if<AtenCall>(&at.action) : nullptr;
  }

  // Each memory once.
  void count_bytes(int tensor) {
    const PlanTensor& what = facts(tensor);
    if (!counted_.insert(what.storage).second) return;
    work_.bytes +=
        static_cast<double>(std::min(elements_of(what) * bytes_of(what.dtype), what.storage_bytes));
  }

  void find_outputs() {
    std::set<int> made, outside;
    for (const PlanStep& step : task_.steps)
      if (const auto* call = std::get_if<AtenCall>(&step.action))
        for (const int output : call->outputs)
          if (output >= 0)
            (step.phase == Phase::forward ? made : outside).insert(facts(output).storage);
    std::vector<int> outputs;
    append_tensors(task_.outputs, outputs);
    for (const int output : outputs) {
      needed_.insert(output);
      const int storage = facts(output).storage;
      if (made.contains(storage) && !outside.contains(storage)) count_bytes(output);
    }
  }

  // Then a tensor means one thing now and another later, which is not followed here.
  bool writes_in_place() const {
    for (std::size_t k = 0; k < task_.steps.size(); ++k)
      if (const AtenCall* call = forward_call(k); call != nullptr)
        if (aten_base_name(call->op).ends_with('_')) return true;
    return false;
  }

  // Tensors whose memory nothing but a random generator ever wrote.
  void find_drawn() {
    std::set<int> random, other;
    for (const PlanStep& step : task_.steps) {
      if (step.phase == Phase::forward) continue;
      const auto* call = std::get_if<AtenCall>(&step.action);
      const std::string_view name = call != nullptr ? aten_base_name(call->op) : "";
      const bool draws =
          name.starts_with("rand") || name.starts_with("normal") || name.starts_with("uniform");
      std::vector<int> written;
      if (call != nullptr) written = call->outputs;
      if (const auto* constant = std::get_if<ConstantStep>(&step.action))
        written.push_back(constant->output);
      for (const int output : written) {
        if (output < 0) continue;
        if (draws) random.insert(facts(output).storage);
        if (!among(kDrawing, name)) other.insert(facts(output).storage);
      }
    }
    for (std::size_t k = 0; k < task_.tensors.size(); ++k)
      if (const int storage = task_.tensors[k].storage;
          random.contains(storage) && !other.contains(storage)) {
        drawn_.insert(static_cast<int>(k));
        generic_.insert(static_cast<int>(k));
      }
  }

  static std::vector<int> tensors_of(const AtenCall& call) {
    std::vector<int> tensors;
    for (const Value& value : call.args) append_tensors(value, tensors);
    for (const auto& [name, value] : call.kwargs) append_tensors(value, tensors);
    return tensors;
  }

  static bool has_a_zero(const AtenCall& call) {
    return std::ranges::any_of(call.args, [](const Value& value) {
      const auto* whole = std::get_if<std::int64_t>(&value.data);
      const auto* real = std::get_if<double>(&value.data);
      return (whole != nullptr && *whole == 0) || (real != nullptr && *real == 0);
    });
  }

  // Whether what the step makes has no structure that a kernel might use: numbers that come from a
  // generator, or are computed of such.
  void follow(std::size_t step) {
    const AtenCall* call = forward_call(step);
    if (call == nullptr || call->outputs.empty() || call->outputs.front() < 0) return;
    const std::string_view name = aten_base_name(call->op);
    const std::vector<int> tensors = tensors_of(*call);
    const bool all = !tensors.empty() && std::ranges::all_of(tensors, [&](int tensor) {
      return generic_.contains(tensor);
    });
    const bool is_convolution = name == "convolution" && work_of_convolution(task_, *call);
    const bool multiplies = among(kProducts, name) || is_convolution;
    const bool of_a_product =
        std::ranges::any_of(tensors, [&](int tensor) { return products_.contains(tensor); });
    if (multiplies || (of_a_product && (among(kLinear, name) || among(kRearranging, name))))
      products_.insert(call->outputs.front());
    const bool same_size = !tensors.empty() && elements_of(facts(tensors.front())) ==
                                                   elements_of(facts(call->outputs.front()));
    const bool scales_away = (name == "mul" || name == "pow") && has_a_zero(*call);
    if (all && ((among(kElementwise, name) && !scales_away) ||
                (among(kRearranging, name) && same_size) || (multiplies && !of_a_product)))
      generic_.insert(call->outputs.front());
  }

  // From a tensor all of whose elements are needed to those that it is made of.
  void demand(std::size_t step) {
    const AtenCall* call = forward_call(step);
    if (call == nullptr || call->outputs.empty()) return;
    const int output = call->outputs.front();
    if (output < 0 || !needed_.contains(output) || !generic_.contains(output)) return;
    if (aten_base_name(call->op) == "convolution") return demand_of_convolution(*call);
    const std::vector<int> tensors = tensors_of(*call);
    const bool is_product = among(kProducts, aten_base_name(call->op));
    for (const int tensor : tensors)
      if (is_product || elements_of(facts(tensor)) == elements_of(facts(output))) {
        needed_.insert(tensor);
        read_.insert(tensor);
      }
    if (is_product && tensors.size() >= 2) {
      const PlanTensor& left = facts(tensors[tensors.size() - 2]);
      work_.flops += 2.0 * static_cast<double>(elements_of(facts(output))) *
                     static_cast<double>(left.shape.empty() ? 1 : left.shape.back());
    }
  }

  void demand_of_convolution(const AtenCall& call) {
    const auto work = work_of_convolution(task_, call);
    if (!work) return;
    work_.flops += work->flops;
    const std::vector<int> tensors = tensors_of(call);  // input, weight, and the bias if any
    const auto needs = [&](int tensor) {
      needed_.insert(tensor);
      read_.insert(tensor);
    };
    if (work->needs_input) needs(tensors[0]);
    if (work->needs_weight) needs(tensors[1]);
  }

  const Plan& task_;
  LeastWork work_;
  std::set<int> counted_;                          // storages
  std::set<int> drawn_, generic_, needed_, read_;  // tensors
  std::set<int> products_;                         // likewise: what is linear in a product
};

}  // namespace

LeastWork least_work(const Plan& task) { return Walk(task).measure(); }

std::optional<Finding> find_impossible_speed(const LeastWork& work, const gpu::GpuFacts& gpu,
                                             double milliseconds) {
  const auto finding = [&](std::string rule, double floor_ms, const std::string& what) {
    return Finding{.rule = std::move(rule),
                   .severity = Severity::reject,
                   .message = fmt::format("{:.4f} ms are less than the {:.4f} ms that {} takes",
                                          milliseconds, floor_ms, what)};
  };
  // What may stay in the cache need not cross the bus before the clock stops.
  const double bytes = work.bytes - static_cast<double>(gpu.cache_bytes);
  const double bus_ms = gpu.bytes_per_second > 0 ? 1e3 * bytes / gpu.bytes_per_second : 0;
  if (milliseconds < bus_ms)
    return finding("faster_than_memory", bus_ms,
                   fmt::format("moving {:.3f} GB to and from the memory", work.bytes / 1e9));
  // Strassen's way saves an eighth a level, and nobody goes beyond a few.
  constexpr double no_algorithm_saves = 0.5;
  const double arithmetic_ms =
      gpu.flops_per_second > 0 ? 1e3 * no_algorithm_saves * work.flops / gpu.flops_per_second : 0;
  if (milliseconds < arithmetic_ms)
    return finding("faster_than_arithmetic", arithmetic_ms,
                   fmt::format("half of {:.1f} GFLOP", work.flops / 1e9));
  return std::nullopt;
}

}  // namespace tritonsmith::gym
