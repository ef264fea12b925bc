// Work shared by a few threads of our own. Tasks write to places of their own, so which thread runs
// which task changes no result. Unlike OpenMP's, a helper that is late is not waited for: the
// caller goes on taking tasks, and waits only for tasks that a helper has begun. So it stays fast
// beside other programs on few cores.
#pragma once

#include <cstdint>

namespace tritonsmith::model::cpu {

// Threads that work on tasks from now on, the caller among them. At first as many as the machine
// has cores.
void set_threads(int count);
int threads();

// Work too small to be worth waking the other threads for, in multiply-adds.
constexpr std::int64_t kWorthSharing = 200'000;

using Task = void (*)(const void* context, std::int64_t index);
enum class Sharing { alone, all_threads };
void run_tasks(std::int64_t count, Sharing sharing, Task task, const void* context);

// body(index) for each index below count, in any order, then returns. `work` is about how many
// multiply-adds all of them are together. Called from within a task, it runs all on that task's
// thread.
template <typename Body>
void parallel_for(std::int64_t count, std::int64_t work, const Body& body) {
  run_tasks(
      count, count > 1 && work > kWorthSharing ? Sharing::all_threads : Sharing::alone,
      [](const void* context, std::int64_t i) { (*static_cast<const Body*>(context))(i); }, &body);
}

}  // namespace tritonsmith::model::cpu
