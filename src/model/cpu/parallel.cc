#include "model/cpu/parallel.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace tritonsmith::model::cpu {
namespace {

struct Job {
  std::int64_t count;
  Task task;
  const void* context;
  std::atomic<std::int64_t> next = 0;

  void work() {
    for (;;) {
      const std::int64_t index = next.fetch_add(1, std::memory_order_relaxed);
      if (index >= count) return;
      task(context, index);
    }
  }
};

// Iterations of busy waiting before a helper sleeps. The next sweep of a layer arrives within that
// time.
constexpr int kLooks = 2000;

thread_local bool inside_task = false;

// The pool lives as long as the program and never joins its helpers. A forked child that exits thus
// does not wait for threads that it does not have.
class Pool {
 public:
  static Pool& instance() {
    static Pool* const pool = new Pool;
    return *pool;
  }

  void set_threads(int count) { wanted_ = std::max(count, 1); }
  int threads() const { return wanted_; }

  void run(Job& job) {
    const std::lock_guard one_caller(callers_);
    {
      const std::lock_guard lock(mutex_);
      for (; helpers_ < wanted_ - 1; ++helpers_)
        std::thread([this, number = helpers_] { help(number); }).detach();
      job_ = &job;
      generation_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    job.work();
    std::unique_lock lock(mutex_);
    job_ = nullptr;
    left_.wait(lock, [this] { return working_ == 0; });
  }

 private:
  void help(int number) {
    inside_task = true;
    std::uint64_t seen = 0;
    for (;;) {
      for (int look = 0; look < kLooks && generation_.load(std::memory_order_acquire) == seen;
           ++look)
        __builtin_ia32_pause();
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return generation_ != seen; });
      seen = generation_;
      if (job_ == nullptr || number >= wanted_ - 1) continue;
      Job& job = *job_;
      ++working_;
      lock.unlock();
      job.work();
      lock.lock();
      if (--working_ == 0) left_.notify_one();
    }
  }

  std::atomic<int> wanted_ = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  std::mutex callers_, mutex_;
  std::condition_variable wake_, left_;
  std::atomic<std::uint64_t> generation_ = 0;
  Job* job_ = nullptr;  // null if all its tasks are taken
  int helpers_ = 0;
  int working_ = 0;
};

}  // namespace

void set_threads(int count) { Pool::instance().set_threads(count); }
int threads() { return Pool::instance().threads(); }

void run_tasks(std::int64_t count, Sharing sharing, Task task, const void* context) {
  if (sharing == Sharing::alone || inside_task || Pool::instance().threads() == 1) {
    for (std::int64_t i = 0; i < count; ++i) task(context, i);
    return;
  }
  Job job{.count = count, .task = task, .context = context};
  inside_task = true;
  Pool::instance().run(job);
  inside_task = false;
}

}  // namespace tritonsmith::model::cpu
