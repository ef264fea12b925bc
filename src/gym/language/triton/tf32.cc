#include "gym/language/triton/tf32.h"

#include <algorithm>

namespace tritonsmith::gym::language::triton {
namespace {

// Says whether the line is such a product:
//   %acc = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<16x16xf32> * tensor<...
bool is_tf32_product(std::string_view line) {
  const std::size_t precision = line.find("inputPrecision = tf32 :");
  if (line.find("tt.dot ") == std::string_view::npos || precision == std::string_view::npos)
    return false;
  const std::string_view types = line.substr(precision);
  return types.substr(0, types.find('*')).find("xf32>") != std::string_view::npos;
}

}  // namespace

bool multiplies_in_tf32(std::string_view ir) {
  while (!ir.empty()) {
    const std::size_t end = std::min(ir.find('\n'), ir.size());
    if (is_tf32_product(ir.substr(0, end))) return true;
    ir.remove_prefix(std::min(end + 1, ir.size()));
  }
  return false;
}

}  // namespace tritonsmith::gym::language::triton
