// Recognises the buffer in which a batch norm counts its calls. A candidate need not count: no
// output depends on the number, unless the norm has no momentum (Plan::first_call_only). A pure
// function.
#pragma once

#include <string_view>

namespace tritonsmith::gym::plan::analysis {

inline bool is_batch_counter(std::string_view name) {
  return name.ends_with("num_batches_tracked");
}

}  // namespace tritonsmith::gym::plan::analysis
