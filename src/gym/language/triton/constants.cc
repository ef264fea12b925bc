#include "gym/language/triton/constants.h"

namespace tritonsmith::gym::language::triton {

std::vector<std::string_view> constants(std::string_view ir) {
  constexpr std::string_view name = "arith.constant ", dense = "dense<";
  std::vector<std::string_view> found;
  for (std::size_t at = ir.find(name); at != std::string_view::npos; at = ir.find(name, at)) {
    at += name.size();
    std::string_view rest = ir.substr(at);
    if (rest.starts_with(dense)) rest.remove_prefix(dense.size());
    found.push_back(rest.substr(0, rest.find_first_of(" >:\n")));
  }
  return found;
}

}  // namespace tritonsmith::gym::language::triton
