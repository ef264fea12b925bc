#include "model/cpu/parallel.h"

namespace tritonsmith::model::cpu {

void run_tasks(std::int64_t count, Sharing sharing, Task task, const void* context) {
#pragma omp parallel for schedule(dynamic, 1) if (sharing == Sharing::all_threads)
  for (std::int64_t i = 0; i < count; ++i) task(context, i);
}

}  // namespace tritonsmith::model::cpu
