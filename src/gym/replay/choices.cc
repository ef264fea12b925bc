#include "gym/replay/choices.h"

#include <fmt/format.h>

#include <algorithm>

namespace tritonsmith::gym::replay {

const plan::LaunchChoice& chosen_of(const plan::LaunchStep& launch, std::size_t step,
                                    const Choices& choices) {
  const auto at = choices.find(step);
  const auto wanted = static_cast<std::size_t>(at == choices.end() ? 0 : at->second);
  return launch.choices.at(std::min(wanted, launch.choices.size() - 1));
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
