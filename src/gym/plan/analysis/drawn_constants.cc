#include "gym/plan/analysis/drawn_constants.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "gym/plan/analysis/constant_numbers.h"
#include "gym/plan/analysis/whole_inputs.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

constexpr std::size_t kLeast = 64;

struct Moments {
  double mean = 0, deviation = 0;
};

Moments moments_of(const std::vector<double>& numbers) {
  const auto count = static_cast<double>(numbers.size());
  Moments moments{.mean = std::accumulate(numbers.begin(), numbers.end(), 0.0) / count};
  for (const double number : numbers)
    moments.deviation += (number - moments.mean) * (number - moments.mean);
  moments.deviation = std::sqrt(moments.deviation / count);
  return moments;
}

bool has_doubles(std::vector<double> numbers) {
  constexpr std::size_t one_in = 32;
  std::ranges::sort(numbers);
  const auto [from, to] = std::ranges::unique(numbers);
  return static_cast<std::size_t>(to - from) * one_in > numbers.size();
}

// Says whether numbers follow from those that stand so far before them. Of independent numbers the
// correlation is about 1 / sqrt(count).
bool follows_neighbours(const std::vector<double>& numbers, std::size_t distance, Moments moments) {
  constexpr double chance = 4;
  if (distance == 0 || distance >= numbers.size()) return false;
  double sum = 0;
  for (std::size_t k = distance; k < numbers.size(); ++k)
    sum += (numbers[k] - moments.mean) * (numbers[k - distance] - moments.mean);
  const auto count = static_cast<double>(numbers.size() - distance);
  const double correlation = sum / count / (moments.deviation * moments.deviation);
  return std::abs(correlation) > chance / std::sqrt(count);
}

// Says whether a number of each row (its sum, its length) is the same in all rows.
bool rows_agree(const std::vector<double>& numbers, std::size_t length, double (*of)(double)) {
  constexpr double alike = 1e-3;
  if (length < 2 || numbers.size() < 2 * length) return false;
  double low = 0, high = 0;
  for (std::size_t row = 0; row < numbers.size() / length; ++row) {
    double sum = 0;
    for (std::size_t k = 0; k < length; ++k) sum += of(numbers[row * length + k]);
    low = row == 0 ? sum : std::min(low, sum);
    high = row == 0 ? sum : std::max(high, sum);
  }
  return high - low <= alike * std::max(std::abs(low), std::abs(high));
}

bool is_symmetric(const std::vector<double>& numbers, std::size_t length) {
  const std::size_t square = length * length;
  if (length < 2 || numbers.size() % square != 0) return false;
  std::size_t equal = 0, pairs = 0;
  for (std::size_t i = 0; i < length; ++i)
    for (std::size_t j = 0; j < i; ++j, ++pairs)
      equal += std::abs(std::abs(numbers[i * length + j]) - std::abs(numbers[j * length + i])) <=
               1e-6 * std::abs(numbers[i * length + j]);
  return 2 * equal > pairs;
}

bool has_structure(const std::vector<double>& numbers, std::size_t length, Moments moments) {
  return has_doubles(numbers) || follows_neighbours(numbers, 1, moments) ||
         follows_neighbours(numbers, length, moments) || is_symmetric(numbers, length) ||
         rows_agree(numbers, length, [](double x) { return x; }) ||
         rows_agree(numbers, length, [](double x) { return x * x; });
}

// Returns the generator that the numbers look drawn by, or nothing.
std::optional<std::string> generator_of(const std::vector<double>& numbers, std::size_t length) {
  if (numbers.size() < kLeast ||
      !std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); }))
    return std::nullopt;
  const Moments moments = moments_of(numbers);
  const auto [low, high] = std::ranges::minmax(numbers);
  // The mean of independent numbers is off by about deviation / sqrt(count).
  const double chance = 4 * moments.deviation / std::sqrt(static_cast<double>(numbers.size()));
  const bool is_normal = std::abs(moments.mean) < chance && moments.deviation > 0.5 &&
                         moments.deviation < 2 && low < -moments.deviation &&
                         high > moments.deviation && high - low > 4 * moments.deviation;
  const bool is_uniform = low >= 0 && high <= 1 && std::abs(moments.mean - 0.5) < chance &&
                          std::abs(moments.deviation - 0.289) < 0.06 && low < 0.1 && high > 0.9;
  if ((!is_normal && !is_uniform) || has_structure(numbers, length, moments)) return std::nullopt;
  return is_normal ? "aten::randn" : "aten::rand";
}

std::optional<AtenCall> draw_in_place_of(const ConstantStep& constant, const PlanTensor& tensor) {
  if (tensor.shape.empty()) return std::nullopt;
  std::vector<double> numbers;
  if (holds_real_numbers(tensor.dtype)) numbers = numbers_in(constant.bytes, tensor.dtype);
  const auto generator = generator_of(numbers, static_cast<std::size_t>(tensor.shape.back()));
  if (!generator) return std::nullopt;
  List shape;
  for (const std::int64_t size : tensor.shape) shape.items.push_back(Value{size});
  return AtenCall{.op = *generator,
                  .args = {Value{std::move(shape)}},
                  .kwargs = {{"dtype", Value{tensor.dtype}}},
                  .outputs = {constant.output}};
}

}  // namespace

Plan with_drawn_constants(Plan task) {
  if (!task.read_inputs.empty()) return task;  // its forward was captured for these very values
  for (PlanStep& step : task.steps) {
    const auto* constant = std::get_if<ConstantStep>(&step.action);
    if (constant == nullptr || step.phase != Phase::inputs) continue;
    const PlanTensor& tensor = task.tensors.at(static_cast<std::size_t>(constant->output));
    if (auto draw = draw_in_place_of(*constant, tensor)) step.action = *std::move(draw);
  }
  return task;
}

}  // namespace tritonsmith::gym::plan::analysis
