#include "gym/triton_ir/hints/axis_info.h"

#include <charconv>
#include <limits>
#include <numeric>

namespace tritonsmith::gym::triton_ir {
namespace {

constexpr const char* kHints[] = {"tt.contiguity", "tt.divisibility", "tt.constancy"};

// Parses "dense<[16, 1]> : tensor<2xi32>", "dense<8> : tensor<1xi32>" or "16 : i32". A single number
// holds for all dimensions. Returns nothing if the numbers do not fit.
std::vector<std::int64_t> numbers_in(std::string_view text, std::size_t rank) {
  text = text.substr(0, text.find(" : "));
  std::vector<std::int64_t> numbers;
  while (!text.empty()) {
    std::int64_t number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc{}) {
      text.remove_prefix(1);
      continue;
    }
    number = number < 0 ? -std::max(number, -kAnyDivisor) : std::min(number, kAnyDivisor);
    numbers.push_back(number == 0 ? kAnyDivisor : number);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  if (numbers.size() == 1) numbers.resize(rank, numbers[0]);
  if (numbers.size() != rank) numbers.clear();
  return numbers;
}

void apply(const Operation& operation, const char* hint, std::vector<std::int64_t>& known) {
  const auto found = operation.attributes.find(hint);
  if (found == operation.attributes.end()) return;
  std::vector<std::int64_t> claimed = numbers_in(found->second, known.size());
  if (!claimed.empty()) known = std::move(claimed);
}

}  // namespace

std::int64_t power_of_two_in(std::int64_t number) {
  if (number == 0 || number == std::numeric_limits<std::int64_t>::min()) return kAnyDivisor;
  return number & -number;
}

std::int64_t common_divisor(std::int64_t a, std::int64_t b) { return std::gcd(a, b); }

std::int64_t joint_divisibility(const AxisInfo& left, const AxisInfo& right,
                                std::size_t dimension) {
  const std::int64_t divisor =
      common_divisor(left.divisibility[dimension], right.divisibility[dimension]);
  const std::int64_t a = left.contiguity[dimension], b = right.contiguity[dimension];
  if (a == b || a == kAnyDivisor || b == kAnyDivisor) return divisor;
  // The groups become shorter, so others begin: 16, 17, 18, 19 and 0, 1, 4, 5 have pairs in common.
  return common_divisor(divisor, common_divisor(a, b));
}

AxisInfo join(const AxisInfo& left, const AxisInfo& right) {
  if (left.rank() == 0) return right;
  if (right.rank() == 0) return left;
  if (left.rank() != right.rank()) return unknown_axes(left.rank());
  AxisInfo joint = left;
  for (std::size_t d = 0; d < left.rank(); ++d) {
    joint.contiguity[d] = common_divisor(left.contiguity[d], right.contiguity[d]);
    joint.divisibility[d] = joint_divisibility(left, right, d);
    joint.constancy[d] = common_divisor(left.constancy[d], right.constancy[d]);
  }
  if (left.constant != right.constant) joint.constant.reset();
  return joint;
}

AxisInfo unknown_axes(std::size_t rank) {
  const std::vector<std::int64_t> ones(rank, 1);
  return {.contiguity = ones, .divisibility = ones, .constancy = ones, .constant = std::nullopt};
}

bool has_hints(const Operation& operation) {
  for (const char* hint : kHints)
    if (operation.attributes.contains(hint)) return true;
  return false;
}

void apply_hints(const Operation& operation, AxisInfo& info) {
  apply(operation, kHints[0], info.contiguity);
  apply(operation, kHints[1], info.divisibility);
  apply(operation, kHints[2], info.constancy);
}

}  // namespace tritonsmith::gym::triton_ir
