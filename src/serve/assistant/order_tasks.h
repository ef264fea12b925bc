// The tasks of an order: the module as it was pasted, or the class or function that the order names,
// once for each call of it. A kernel must be right for all of them. Any thread may call this.
#pragma once

#include "modules/module_task.h"
#include "serve/assistant/search_order.h"

namespace tritonsmith::serve::assistant {

// Returns at least one task. An error is one line for the person who ordered.
Result<modules::ModuleTasks> tasks_of_order(const SearchOrder& order);

}  // namespace tritonsmith::serve::assistant
