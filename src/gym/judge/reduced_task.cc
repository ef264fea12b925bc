#include "gym/judge/reduced_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

namespace tritonsmith::gym::judge {
namespace {

constexpr std::int64_t kLeast = 16;

bool is_name(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
  };
  return !text.empty() && (text[0] < '0' || text[0] > '9') && std::ranges::all_of(text, is_letter);
}

// Returns "N = 64" for "N = 512  # rows" and the divisor 8, and any other line as it is.
std::string with_size_divided(std::string_view line, std::int64_t divisor) {
  const std::size_t equals = line.find(" = ");
  if (equals == std::string_view::npos || !is_name(line.substr(0, equals)))
    return std::string(line);
  const std::string_view rest = line.substr(equals + 3);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  const auto after = rest.substr(static_cast<std::size_t>(end - rest.data()));
  const std::size_t next = after.find_first_not_of(" \t\r");
  if (error != std::errc() || (next != std::string_view::npos && after[next] != '#') ||
      value < 2 * kLeast)
    return std::string(line);
  while (divisor > 1 && value / divisor < kLeast) divisor /= 2;
  return fmt::format("{} = {}", line.substr(0, equals), value / divisor);
}

std::vector<std::string_view> operators_of(const plan::Plan& plan) {
  std::vector<std::string_view> all;
  for (const plan::PlanStep& step : plan.steps)
    if (const auto* call = std::get_if<plan::AtenCall>(&step.action);
        call != nullptr && step.phase == plan::Phase::forward)
      all.push_back(call->op);
  return all;
}

}  // namespace

std::string with_sizes_divided(std::string_view source, std::int64_t divisor) {
  std::string result;
  while (!source.empty()) {
    const std::size_t end = std::min(source.find('\n'), source.size());
    result += with_size_divided(source.substr(0, end), divisor);
    if (end < source.size()) result += '\n';
    source.remove_prefix(std::min(end + 1, source.size()));
  }
  return result;
}

bool computes_alike(const plan::Plan& one, const plan::Plan& other) {
  return one.inputs.size() == other.inputs.size() &&
         one.parameters.size() == other.parameters.size() &&
         operators_of(one) == operators_of(other);
}

std::int64_t elements_in(const plan::Plan& plan) {
  std::int64_t all = 0;
  for (const plan::PlanTensor& tensor : plan.tensors) all += plan::elements_of(tensor);
  return all;
}

}  // namespace tritonsmith::gym::judge
