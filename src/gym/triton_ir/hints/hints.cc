#include "gym/triton_ir/hints/hints.h"

#include <algorithm>
#include <bit>
#include <set>

#include "gym/triton_ir/hints/axis_analysis.h"

namespace tritonsmith::gym::triton_ir {
namespace {

constexpr std::int64_t kVectorBytes = 16;  // the widest access of a thread
// A thread computes at most so many neighbours, so no more of them count as equal.
constexpr std::int64_t kMostEqual = 16;

std::set<int> lines_with_hints(const Module& module) {
  std::set<int> lines;
  for (const Function& function : module.functions)
    for_each_operation(function.body, [&](const Operation& operation) {
      if (has_hints(operation))
        lines.insert(module.locations[static_cast<std::size_t>(operation.location)].line);
    });
  return lines;
}

std::string in_words(const std::set<int>& lines) {
  std::string text = lines.size() > 1 ? "lines " : "line ";
  std::size_t left = lines.size();
  for (const int line : lines) {
    text += std::to_string(line);
    --left;
    text += left > 1 ? ", " : left == 1 ? " and " : "";
  }
  return text;
}

std::int64_t floor_to_power_of_two(std::int64_t number) {
  return number < 1 ? 1
                    : static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(number)));
}

// Triton's compiler gives a thread neighbours along the dimension that is contiguous for longest. Of
// two such dimensions it takes the later one.
std::size_t fastest_dimension(const AxisInfo& pointers) {
  std::size_t fastest = 0;
  for (std::size_t d = 0; d < pointers.rank(); ++d)
    if (pointers.contiguity[d] >= pointers.contiguity[fastest]) fastest = d;
  return fastest;
}

std::int64_t width_of(const AxisInfo& pointers, const AxisInfo* mask, const ValueType& type,
                      std::size_t dimension) {
  if (pointers.rank() != type.shape.size()) return 1;
  const auto bytes = static_cast<std::int64_t>(memory_bytes(type.pointee));
  std::int64_t width =
      std::min({std::max<std::int64_t>(pointers.divisibility[dimension] / bytes, 1),
                pointers.contiguity[dimension], kVectorBytes / bytes, type.shape[dimension]});
  if (mask != nullptr)
    width = std::min(width, mask->rank() == pointers.rank() ? mask->constancy[dimension] : 1);
  return floor_to_power_of_two(width);
}

}  // namespace

std::unique_ptr<const Hints> Hints::of(const Module& module) {
  const std::set<int> lines = lines_with_hints(module);
  if (lines.empty()) return nullptr;
  auto claimed = analyse_axes(module, HintsCount::yes);
  auto proven = analyse_axes(module, HintsCount::no);
  if (!claimed || !proven) return nullptr;
  auto hints = std::make_unique<Hints>();
  hints->claimed_ = *std::move(claimed);
  hints->proven_ = *std::move(proven);
  hints->where_ = in_words(lines);
  return hints;
}

VectorAccess Hints::access(ValueId pointers, ValueId mask, const ValueType& type) const {
  const auto at = static_cast<std::size_t>(pointers), mask_at = static_cast<std::size_t>(mask);
  if (!type.is_tensor || claimed_[at].rank() != type.shape.size()) return {};
  const std::size_t dimension = fastest_dimension(claimed_[at]);
  const auto width = [&](const std::vector<AxisInfo>& known) {
    return width_of(known[at], mask < 0 ? nullptr : &known[mask_at], type, dimension);
  };
  const std::int64_t claimed = width(claimed_);
  return {.dimension = dimension, .width = claimed > width(proven_) ? claimed : 1};
}

std::vector<std::int64_t> Hints::equal_elements(ValueId value, const ValueType& type) const {
  const auto at = static_cast<std::size_t>(value);
  const AxisInfo &claimed = claimed_[at], &proven = proven_[at];
  if (!type.is_tensor || claimed.rank() != type.shape.size() || proven.rank() != claimed.rank())
    return {};
  std::vector<std::int64_t> groups;
  bool any = false;
  for (std::size_t d = 0; d < claimed.rank(); ++d) {
    const std::int64_t most = std::min(kMostEqual, type.shape[d]);
    const std::int64_t group = floor_to_power_of_two(std::min(claimed.constancy[d], most));
    groups.push_back(group);
    any |= group > floor_to_power_of_two(std::min(proven.constancy[d], most));
  }
  if (!any) groups.clear();
  return groups;
}

}  // namespace tritonsmith::gym::triton_ir
