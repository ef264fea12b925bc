// Finds what holds of each value of a module. Values that loops carry get what holds of all that they
// may be. Pure.
#pragma once

#include <optional>
#include <vector>

#include "gym/triton_ir/hints/axis_info.h"

namespace tritonsmith::gym::triton_ir {

enum class HintsCount { no, yes };

// Returns an entry for each ValueId; those of which nothing is known have rank 0. Returns nothing if
// the answer does not settle.
std::optional<std::vector<AxisInfo>> analyse_axes(const Module& module, HintsCount hints);

// Calls visit(operation) for the operations of a region and of all loops and branches in it.
template <typename Visit>
void for_each_operation(const Region& region, Visit visit) {
  for (const Block& block : region.blocks)
    for (const Operation& operation : block.operations) {
      visit(operation);
      for (const Region& inner : operation.regions) for_each_operation(inner, visit);
    }
}

}  // namespace tritonsmith::gym::triton_ir
