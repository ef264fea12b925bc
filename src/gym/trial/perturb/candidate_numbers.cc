#include "gym/trial/perturb/candidate_numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "gym/language/registry/languages.h"

namespace tritonsmith::gym::trial {
namespace {

constexpr std::size_t kMost = 256;

template <typename Number>
void add_once(std::vector<Number>& numbers, Number number) {
  if (numbers.size() < kMost && std::ranges::find(numbers, number) == numbers.end())
    numbers.push_back(number);
}

void add_text(std::string_view text, CandidateNumbers& numbers) {
  const bool is_real =
      text.find_first_of(".eE") != std::string_view::npos && !text.starts_with("0x");
  if (is_real) {
    double number = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
    if (end.ec == std::errc() && std::isfinite(number)) add_once(numbers.real, number);
    return;
  }
  std::int64_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end.ec == std::errc() && end.ptr == text.data() + text.size() && number >= 0)
    add_once(numbers.whole, number);
}

}  // namespace

CandidateNumbers numbers_of(const plan::Plan& candidate) {
  CandidateNumbers numbers;
  for (const plan::PlanStep& step : candidate.steps) {
    if (const auto* call = std::get_if<plan::AtenCall>(&step.action))
      for (const plan::Value& argument : call->args)
        if (const auto* real = std::get_if<double>(&argument.data)) add_once(numbers.real, *real);
    if (const auto* launch = std::get_if<plan::LaunchStep>(&step.action))
      for (const plan::LaunchChoice& choice : launch->choices)
        for (const plan::Value& argument : choice.arguments) {
          if (const auto* whole = std::get_if<std::int64_t>(&argument.data); whole && *whole >= 0)
            add_once(numbers.whole, *whole);
          if (const auto* real = std::get_if<double>(&argument.data)) add_once(numbers.real, *real);
        }
  }
  for (const plan::PlanKernel& kernel : candidate.kernels)
    for (const std::string_view constant : language::language_of(kernel).constants(kernel.code))
      add_text(constant, numbers);
  return numbers;
}

}  // namespace tritonsmith::gym::trial
