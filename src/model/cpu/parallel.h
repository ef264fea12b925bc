// Distributes work to a few threads of our own. A task writes only to its own elements, so the
// result does not depend on the thread that runs it. The caller also runs tasks. Unlike OpenMP, it
// never waits for a late helper, only for tasks that a helper has begun. The loop therefore stays
// fast beside other programs on few cores.
#pragma once

#include <cstdint>

namespace tritonsmith::model::cpu {

// Sets the number of threads that work on tasks, the caller included. The default is the machine's
// number of cores.
void set_threads(int count);
int threads();

// Smaller work runs on the caller alone, because waking other threads costs more. In multiply-adds.
constexpr std::int64_t kWorthSharing = 200'000;

using Task = void (*)(const void* context, std::int64_t index);
enum class Sharing { alone, all_threads };
void run_tasks(std::int64_t count, Sharing sharing, Task task, const void* context);

// Runs body(index) for each index below count, in any order, and returns when all are done. `work`
// is the approximate number of multiply-adds of all calls together. A call from within a task runs
// everything on that task's thread.
template <typename Body>
void parallel_for(std::int64_t count, std::int64_t work, const Body& body) {
  run_tasks(
      count, count > 1 && work > kWorthSharing ? Sharing::all_threads : Sharing::alone,
      [](const void* context, std::int64_t i) { (*static_cast<const Body*>(context))(i); }, &body);
}

}  // namespace tritonsmith::model::cpu
