#include "gym/plan/operators/random_operators.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include "gym/plan/operators/operator_name.h"

namespace tritonsmith::gym::plan::operators {

bool is_random_operator(const std::string& full_name) {
  const auto handle = c10::Dispatcher::singleton().findSchema(operator_name(full_name));
  return handle && handle->hasTag(at::Tag::nondeterministic_seeded);
}

}  // namespace tritonsmith::gym::plan::operators
