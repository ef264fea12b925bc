#include "gym/replay/choices.h"

#include <fmt/format.h>

#include <algorithm>

namespace tritonsmith::gym::replay {

namespace {

std::size_t number_of_choice(const plan::LaunchStep& launch, std::size_t step,
                             const Choices& choices) {
  const auto at = choices.find(step);
  const auto wanted = static_cast<std::size_t>(at == choices.end() ? 0 : at->second);
  return std::min(wanted, launch.choices.size() - 1);
}

}  // namespace

const plan::LaunchChoice& chosen_of(const plan::LaunchStep& launch, std::size_t step,
                                    const Choices& choices) {
  return launch.choices.at(number_of_choice(launch, step, choices));
}

bool runs_step(const plan::Plan& plan, std::size_t step, const Choices& choices) {
  const std::vector<int>& wanted = plan.steps.at(step).choices;
  if (wanted.empty()) return true;
  const std::optional<std::size_t> launch = plan::next_launch(plan, step);
  if (!launch) return true;
  const auto number =
      number_of_choice(std::get<plan::LaunchStep>(plan.steps.at(*launch).action), *launch, choices);
  return std::ranges::find(wanted, static_cast<int>(number)) != wanted.end();
}

std::string text_of(const Choices& choices, const plan::Plan& plan) {
  std::string text;
  for (const auto& [step, choice] : choices) {
    const auto& launch = std::get<plan::LaunchStep>(plan.steps.at(step).action);
    const std::string& config = chosen_of(launch, step, choices).config;
    text +=
        fmt::format("{}config {}{} in line {}", text.empty() ? "" : ", ", choice + 1,
                    config.empty() ? "" : fmt::format(" ({})", config), plan.steps.at(step).line);
  }
  return text;
}

}  // namespace tritonsmith::gym::replay
