// Violations: the list of a launch's violations, with one entry for each kind at each line. It counts
// further ones of the same kind and line, and holds only the first few kinds and lines.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "gym/triton_ir/program/code.h"

namespace tritonsmith::gym::triton_ir {

class Violations {
 public:
  explicit Violations(std::vector<Violation>& list) : list_(list) {}

  // Counts a violation. Returns its new entry, whose message the caller writes. Returns null if there
  // is an entry already, or if the list is full.
  Violation* add(ViolationKind kind, std::array<std::int64_t, 3> program, SourceLine at) {
    any_ = true;
    const auto known = std::ranges::find_if(list_, [&](const Violation& violation) {
      return violation.kind == kind && violation.at == at;
    });
    if (known != list_.end()) {
      ++known->times;
      return nullptr;
    }
    if (list_.size() >= kMost) return nullptr;
    list_.push_back({.kind = kind, .program = program, .at = at, .times = 1});
    return &list_.back();
  }
  bool any() const { return any_; }

 private:
  static constexpr std::size_t kMost = 8;
  std::vector<Violation>& list_;
  bool any_ = false;
};

}  // namespace tritonsmith::gym::triton_ir
