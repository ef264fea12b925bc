#include "gym/triton_ir/syntax/atomic_scope.h"

#include <algorithm>

#include "gym/triton_ir/syntax/parser.h"

namespace tritonsmith::gym::triton_ir {
namespace {

bool is_anywhere_in(const Region& region) {
  return std::ranges::any_of(region.blocks, [](const Block& block) {
    return std::ranges::any_of(block.operations, [](const Operation& operation) {
      return (operation.name.starts_with("tt.atomic_") && is_of_one_program(operation)) ||
             std::ranges::any_of(operation.regions, is_anywhere_in);
    });
  });
}

}  // namespace

bool is_of_one_program(const Operation& atomic) {
  constexpr std::int64_t cta = 2;  // tt::MemSyncScope as a number
  return atomic.has_keyword("cta") || atomic.integer_attribute("scope") == cta;
}

bool has_atomics_of_one_program(std::string_view ttir) {
  if (ttir.find("cta") == ttir.npos && ttir.find("scope") == ttir.npos) return false;
  const auto module = parse_module(ttir);
  return !module || std::ranges::any_of(module->functions, [](const Function& function) {
    return is_anywhere_in(function.body);
  });
}

}  // namespace tritonsmith::gym::triton_ir
