// Coordinator: the one thread that owns all jobs of a LocalJudge. Everything that happens reaches
// it as an event: a submission, a finished capture, a compiled kernel, a referee's report. It never
// waits for anything else. A job passes these stages, and ends at the first stage that decides its
// verdict:
//
//   submitted -> verdict store -> inspected -> task captured -> candidate captured
//                                              (once a task)
//
//   on a CPU:  candidate captured -+-> every kernel compiled -+-> verdict
//                                  +-> refereed --------------+
//
//   on a GPU:  candidate captured ---> every kernel compiled ---> refereed ---> verdict
//
// On a GPU the referee runs the compiled kernels, so it waits for the compilers. A kernel that does
// not compile decides the verdict, so the job's later kernels are not compiled. In addition, a
// referee of the same kind looks at each captured task once (task_lints.h). Verdicts wait for the
// findings about their task.
//
// Retries. A job that runs out of time is retried once, alone: no new job starts, the running jobs
// finish, and then it runs by itself. This delays all other jobs. So there is no such retry if
// other jobs cannot have been the reason, as for a guest that had a core to itself. A job whose
// guest was killed is retried beside the others, and alone if its guest is killed again. A job with
// an infrastructure fault is retried once beside the others.
//
// Equal jobs in flight are judged once.
#pragma once

#include <atomic>
#include <string>
#include <thread>
#include <variant>

#include "base/bounded_queue.h"
#include "gym/judge/job_schedule.h"
#include "gym/judge/judge_facts.h"
#include "gym/judge/referee_pool.h"
#include "gym/judge/task_lints.h"
#include "gym/judge/task_plans.h"
#include "gym/judge/verdict_delivery.h"

namespace tritonsmith::gym::judge {

class Coordinator {
 public:
  Coordinator(const LocalJudgeConfig& config, LocalJudgeParts parts, api::Outbox& outbox);
  ~Coordinator();

  void submit(api::JudgeJob job) { events_.push(Submitted{std::move(job)}); }
  void cancel(std::uint64_t id) { events_.push(Cancelled{id}); }
  // The versions are empty until the first job has arrived. Any thread may call it.
  JudgeVersions versions() const { return facts_.versions(); }
  std::vector<api::DeviceUse> devices() const { return referees_.devices(); }

 private:
  struct Submitted {
    api::JudgeJob job;
    TimePoint at = system_clock().now();
  };
  struct Cancelled {
    std::uint64_t id;
  };
  struct TaskCaptured {
    std::string task_key;
    capture::CaptureOutcome outcome;
  };
  struct Captured {
    std::uint64_t serial;
    capture::CaptureOutcome outcome;
  };
  struct Compiled {
    std::uint64_t serial;
    std::size_t unit;
    compile::CompileOutcome outcome;
  };
  using Event = std::variant<Submitted, Cancelled, TaskCaptured, Captured, Compiled, RefereeAnswer>;

  void run();
  // Starts all referees, on the CPU and on GPUs.
  void start_referees();
  void handle(Submitted& event);
  void handle(Cancelled& event);
  void handle(TaskCaptured& event);
  void handle(Captured& event);
  void handle(Compiled& event);
  void handle(RefereeAnswer& event);

  // The stages of a job, in their order.
  void start(JobProgress progress);
  void await_task(JobProgress& progress);
  void capture(JobProgress& progress, const TaskPlan& task);
  void compile_and_referee(JobProgress& progress);
  // Counts one result, and goes on once none is missing.
  void advance(std::uint64_t serial);
  // Returns true if the job, fully compiled, was handed to a GPU.
  bool replay(JobProgress& progress);
  // Ends an attempt: with a verdict, or with another attempt.
  void conclude(std::uint64_t serial);
  // Gives the verdict once the findings about the task are known.
  void give_verdict(JobProgress progress);

  // Has a referee lint the job's task, unless a referee has done so already.
  void lint(JobProgress& progress);
  void hear_of_task(RefereeAnswer& event);
  // Drops the compilations of all units from `first` on that have no outcome yet.
  void stop_compiling(JobProgress& progress, std::size_t first);

  LocalJudgeConfig config_;
  LocalJudgeParts parts_;
  api::Outbox& outbox_;
  BoundedQueue<Event> events_;
  std::atomic<bool> stopping_ = false;
  std::uint64_t next_serial_ = 1;
  JobSchedule schedule_;
  TaskPlans tasks_;
  TaskLints lints_;
  JudgeFacts facts_;
  VerdictDelivery delivery_;
  RefereePool referees_;
  std::jthread thread_;
};

}  // namespace tritonsmith::gym::judge
