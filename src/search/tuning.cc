#include "search/tuning.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace tritonsmith::search {
namespace {

// A keyword argument whose value is a whole number, with the value's position in the source.
struct Constant {
  std::string name;
  std::size_t begin = 0, end = 0;
  int value = 0;
};

struct Launch {
  std::size_t end = 0;  // of the arguments: the position of the closing parenthesis
  std::vector<Constant> constants;
  bool has_arguments = false;
};

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The position behind a string or comment that begins at `at`, or `at` where none does.
std::size_t skip_text(std::string_view source, std::size_t at) {
  if (source[at] == '#') return std::min(source.find('\n', at), source.size());
  if (source[at] != '"' && source[at] != '\'') return at;
  const std::string triple(3, source[at]);
  if (source.substr(at).starts_with(triple)) {
    const std::size_t end = source.find(triple, at + 3);
    return end == std::string_view::npos ? source.size() : end + 3;
  }
  std::size_t end = at + 1;
  while (end < source.size() && source[end] != source[at] && source[end] != '\n')
    end += source[end] == '\\' ? 2 : 1;
  return std::min(end + 1, source.size());
}

std::optional<Constant> constant_at(std::string_view argument, std::size_t position) {
  const std::size_t equals = argument.find('=');
  if (equals == std::string_view::npos || argument.substr(equals).starts_with("=="))
    return std::nullopt;
  const std::string_view name = trimmed(argument.substr(0, equals));
  const std::string_view digits = trimmed(argument.substr(equals + 1));
  Constant constant{.name = std::string(name)};
  const auto [rest, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), constant.value);
  if (error != std::errc() || rest != digits.data() + digits.size()) return std::nullopt;
  constant.begin = position + static_cast<std::size_t>(digits.data() - argument.data());
  constant.end = constant.begin + digits.size();
  return constant;
}

// Reads the arguments of a launch, whose opening parenthesis is at `open`.
std::optional<Launch> launch_at(std::string_view source, std::size_t open) {
  Launch launch;
  int depth = 1;
  std::size_t begin = open + 1;
  for (std::size_t at = open + 1; at < source.size();) {
    if (const std::size_t behind = skip_text(source, at); behind != at) {
      at = behind;
      continue;
    }
    const char c = source[at];
    depth += c == '(' || c == '[' || c == '{' ? 1 : 0;
    depth -= c == ')' || c == ']' || c == '}' ? 1 : 0;
    if ((c == ',' && depth == 1) || depth == 0) {
      const std::string_view argument = source.substr(begin, at - begin);
      if (auto constant = constant_at(argument, begin)) launch.constants.push_back(*constant);
      launch.has_arguments = !trimmed(argument).empty();  // of the last one
      begin = at + 1;
    }
    if (depth == 0) {
      launch.end = at;
      return launch;
    }
    ++at;
  }
  return std::nullopt;
}

// A launch is a subscript that is called: kernel[grid](...).
std::vector<Launch> launches_in(std::string_view source) {
  std::vector<Launch> launches;
  std::vector<bool> is_subscript;  // for each open bracket
  for (std::size_t at = 0; at < source.size();) {
    if (const std::size_t behind = skip_text(source, at); behind != at) {
      at = behind;
      continue;
    }
    if (source[at] == '[')
      is_subscript.push_back(at > 0 && is_name(source[at - 1]));
    else if (source[at] == ']' && !is_subscript.empty()) {
      const bool is_call = is_subscript.back() && source.substr(at + 1).starts_with('(');
      is_subscript.pop_back();
      if (is_call)
        if (auto launch = launch_at(source, at + 1)) launches.push_back(*std::move(launch));
    }
    ++at;
  }
  return launches;
}

bool is_power_of_two(int value) { return value > 0 && (value & (value - 1)) == 0; }

bool is_upper(const std::string& name) {
  return std::ranges::none_of(name, [](unsigned char c) { return std::islower(c) != 0; }) &&
         std::ranges::any_of(name, [](unsigned char c) { return std::isupper(c) != 0; });
}

std::vector<int> other_values(const Constant& constant) {
  constexpr int most_warps = 32, most_stages = 5, least_block = 8, most_block = 65536;
  std::vector<int> values;
  const auto add = [&](int value, int least, int most) {
    if (value >= least && value <= most) values.push_back(value);
  };
  if (constant.name == "num_stages") {
    add(constant.value - 1, 1, most_stages);
    add(constant.value + 1, 1, most_stages);
  } else if (is_power_of_two(constant.value)) {
    const bool is_warps = constant.name == "num_warps";
    if (!is_warps && (!is_upper(constant.name) || constant.value < least_block)) return {};
    add(constant.value / 2, is_warps ? 1 : least_block, is_warps ? most_warps : most_block);
    add(constant.value * 2, is_warps ? 1 : least_block, is_warps ? most_warps : most_block);
  }
  return values;
}

}  // namespace

std::vector<std::string> variants_of(const std::string& kernel) {
  std::vector<std::string> variants;
  for (const Launch& launch : launches_in(kernel)) {
    for (const Constant& constant : launch.constants)
      for (const int value : other_values(constant))
        variants.push_back(kernel.substr(0, constant.begin) + std::to_string(value) +
                           kernel.substr(constant.end));
    if (std::ranges::find(launch.constants, "num_warps", &Constant::name) != launch.constants.end())
      continue;
    for (const int warps : {2, 8})  // Triton's own choice is 4
      variants.push_back(kernel.substr(0, launch.end) +
                         fmt::format("{}num_warps={}", launch.has_arguments ? ", " : "", warps) +
                         kernel.substr(launch.end));
  }
  return variants;
}

std::optional<Ask> next_variant(const SearchConfig& config, const History& history) {
  const auto best = history.best();
  if (!best || !history.attempt(*best)->verdict.speedup) return std::nullopt;
  const auto tried = std::ranges::count(history.asks(), AskKind::tune, &Ask::kind);
  if (tried >= config.tune) return std::nullopt;
  for (std::string& variant : variants_of(history.attempt(*best)->kernel)) {
    if (history.first_with(std::string(trimmed(variant)))) continue;
    const bool is_in_flight =
        std::ranges::any_of(history.asks(), [&](const Ask& ask) { return ask.kernel == variant; });
    if (is_in_flight) continue;
    return Ask{.number = static_cast<int>(history.asks().size()),
               .kind = AskKind::tune,
               .round = history.asks().back().round + 1,
               .parent = *best,
               .kernel = std::move(variant)};
  }
  return std::nullopt;
}

}  // namespace tritonsmith::search
