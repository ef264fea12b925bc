// Hints: what a kernel claims of its values by tl.multiple_of, tl.max_contiguous and
// tl.max_constancy, with all that follows. A GPU's compiler believes it: it accesses several elements
// at once and computes equal ones once. So a false hint gives wrong values or a fault there. The
// lowering asks what a compiler may do because of hints, and has the evaluator check it. Pure.
#pragma once

#include <memory>
#include <string>

#include "gym/triton_ir/hints/axis_info.h"

namespace tritonsmith::gym::triton_ir {

// An access of consecutive elements of one dimension at once.
struct VectorAccess {
  std::size_t dimension = 0;
  std::int64_t width = 1;  // elements; 1: hints change nothing
};

class Hints {
 public:
  // Returns null for a kernel without hints, or with loops in which no answer settles.
  static std::unique_ptr<const Hints> of(const Module& module);

  // Returns how many elements an access by these pointers may take at once because of hints. The mask
  // is -1 if there is none.
  VectorAccess access(ValueId pointers, ValueId mask, const ValueType& type) const;
  // Returns by dimension how many neighbours count as equal because of hints. Empty: none.
  std::vector<std::int64_t> equal_elements(ValueId value, const ValueType& type) const;
  // Says where the hints are, such as "line 7" or "lines 7 and 9".
  const std::string& where() const { return where_; }

 private:
  std::vector<AxisInfo> claimed_, proven_;  // by ValueId: with the hints, and without them
  std::string where_;
};

}  // namespace tritonsmith::gym::triton_ir
