#include "gym/judge/reduced_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

namespace tritonsmith::gym::judge {
namespace {

constexpr std::int64_t kLeast = 16, kLeastOfBatch = 4;

bool is_one_of(char c, std::string_view chars) { return chars.find(c) != std::string_view::npos; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A name, or several with commas between them.
bool are_names(std::string_view text) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || is_one_of(c, "_, ");
  };
  return !text.empty() && !is_one_of(text[0], " ,") && !is_digit(text[0]) &&
         std::ranges::all_of(text, is_allowed);
}

// Whole numbers, products of them, and lists and tuples of either.
bool are_sizes(std::string_view text) {
  return text.find("**") == std::string_view::npos && std::ranges::all_of(text, [](char c) {
           return is_digit(c) || is_one_of(c, " *,()[]\t\r");
         });
}

// Reads a product of whole numbers at the beginning of the text and takes it off. Nothing if the
// text begins otherwise, or the product is no number of 64 bits.
std::optional<std::int64_t> take_product(std::string_view& text) {
  std::int64_t product = 1;
  for (std::string_view rest = text;;) {
    std::int64_t factor = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), factor);
    if (error != std::errc() || __builtin_mul_overflow(product, factor, &product))
      return std::nullopt;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    text = rest;
    const std::size_t star = rest.find_first_not_of(' ');
    if (star == std::string_view::npos || rest[star] != '*') return product;
    rest.remove_prefix(star + 1);
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  }
}

std::int64_t divided(std::int64_t size, std::int64_t divisor, std::int64_t least) {
  if (size < 2 * least) return size;
  while (divisor > 1 && size / divisor < least) divisor /= 2;
  return size / divisor;
}

// Returns "N = 64" for "N = 512  # rows" and the divisor 8, "M, N = 64, (32,)" for
// "M, N = 512, (16 * 16,)", and any other line as it is.
std::string with_size_divided(std::string_view line, std::int64_t divisor) {
  const std::size_t equals = line.find(" = ");
  if (equals == std::string_view::npos) return std::string(line);
  const std::string_view names = line.substr(0, equals), rest = line.substr(equals + 3);
  std::string_view sizes = rest.substr(0, rest.find('#'));
  sizes = sizes.substr(0, sizes.find_last_not_of(" \t\r") + 1);
  if (!are_names(names) || !are_sizes(sizes)) return std::string(line);
  std::string result = fmt::format("{} = ", names);
  while (!sizes.empty()) {
    if (!is_digit(sizes[0])) {
      result += sizes[0];
      sizes.remove_prefix(1);
      continue;
    }
    const auto size = take_product(sizes);
    if (!size) return std::string(line);
    result += std::to_string(
        divided(*size, divisor, names.starts_with("batch") ? kLeastOfBatch : kLeast));
  }
  return result;
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
