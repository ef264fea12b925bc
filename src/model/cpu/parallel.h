// Work shared by the threads of OpenMP, the same that LibTorch uses (at::set_num_threads sets their
// number). Tasks write to places of their own, so which thread runs which task changes no result.
#pragma once

#include <cstdint>
#include <type_traits>

namespace tritonsmith::model::cpu {

// Work too small to be worth waking the other threads for, in multiply-adds.
constexpr std::int64_t kWorthSharing = 200'000;

using Task = void (*)(const void* context, std::int64_t index);
enum class Sharing { alone, all_threads };
void run_tasks(std::int64_t count, Sharing sharing, Task task, const void* context);

// body(index) for each index below count, in any order, then returns. `work` is about how many
// multiply-adds all of them are together.
template <typename Body>
void parallel_for(std::int64_t count, std::int64_t work, const Body& body) {
  run_tasks(
      count, count > 1 && work > kWorthSharing ? Sharing::all_threads : Sharing::alone,
      [](const void* context, std::int64_t i) { (*static_cast<const Body*>(context))(i); }, &body);
}

}  // namespace tritonsmith::model::cpu
