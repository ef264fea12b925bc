#include "curriculum/zoo/operators/operators.h"

#include <vector>

namespace tritonsmith::curriculum::zoo {

std::span<const Operator> all_operators() {
  static const std::vector<Operator> all = [] {
    std::vector<Operator> found;
    for (const auto& table : {products(), convolutions(), pools(), norms(), activations(),
                              arithmetic(), reductions(), views(), losses()})
      found.insert(found.end(), table.begin(), table.end());
    return found;
  }();
  return all;
}

}  // namespace tritonsmith::curriculum::zoo
