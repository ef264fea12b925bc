#include "curriculum/split.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>

namespace tritonsmith::curriculum {
namespace {

// Hashes the words to a number in [0, 1) (FNV-1a, then SplitMix64's finaliser).
double share_of(std::string_view words) {
  std::uint64_t x = 0xcbf29ce484222325ULL;
  for (const char c : words) x = (x ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1.0p-53;
}

// About a quarter of all pairs of operators are reserved. Three operators are held out if all their
// pairs are reserved. Held-out compositions therefore cluster, and most pairs stay free for
// training.
constexpr double kReservedPairs = 0.27;
constexpr double kReservedLonger = 0.004;

bool is_reserved(const std::string& a, const std::string& b) {
  return share_of("pair/" + a + "/" + b) < kReservedPairs;
}

const std::vector<std::string>& all_classes() {
  static const std::vector<std::string> classes = [] {
    OperatorClasses found;
    for (const Operator& op : all_operators())
      if (op.kind != OpKind::leaf) found.emplace(op.op_class);
    return std::vector<std::string>(found.begin(), found.end());
  }();
  return classes;
}

// Tells whether the classes are held out, or are one class away from held-out ones.
bool touches_held_out(const OperatorClasses& classes) {
  if (is_held_out(classes)) return true;
  OperatorClasses changed = classes;
  for (const std::string& each : classes) {
    changed.erase(each);
    if (is_held_out(changed)) return true;
    changed.insert(each);
  }
  for (const std::string& each : all_classes()) {
    if (!changed.insert(each).second) continue;
    if (is_held_out(changed)) return true;
    changed.erase(each);
  }
  return false;
}

}  // namespace

bool is_held_out(const OperatorClasses& classes) {
  if (classes.size() < 3) return false;
  if (classes.size() > 3)
    return share_of(fmt::format("set/{}", fmt::join(classes, "/"))) < kReservedLonger;
  const std::vector<std::string> c(classes.begin(), classes.end());
  return is_reserved(c[0], c[1]) && is_reserved(c[0], c[2]) && is_reserved(c[1], c[2]);
}

std::optional<TaskSplit> split_of(const Expression& tree) {
  const OperatorClasses classes = operator_classes(tree);
  if (is_held_out(classes)) return TaskSplit::heldout;
  if (touches_held_out(classes)) return std::nullopt;
  return TaskSplit::train;
}

}  // namespace tritonsmith::curriculum
