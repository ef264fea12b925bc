// Work shared by the threads of OpenMP, the same that LibTorch uses (at::set_num_threads sets their
// number). Tasks write to places of their own, so which thread runs which task changes no result.
#pragma once

#include <cstdint>
#include <type_traits>

namespace tritonsmith::model::cpu {

using Task = void (*)(const void* context, std::int64_t index);
void run_tasks(std::int64_t count, Task task, const void* context);

// body(index) for each index below count, in any order, then returns.
template <typename Body>
void parallel_for(std::int64_t count, const Body& body) {
  run_tasks(
      count, [](const void* context, std::int64_t i) { (*static_cast<const Body*>(context))(i); },
      &body);
}

}  // namespace tritonsmith::model::cpu
