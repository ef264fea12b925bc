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
// referee of the same kind lints each captured task once (task_lints.h). Verdicts wait for its
// findings.
//
// Retries. A job that hits a deadline is retried once, alone: no new job starts, the running jobs
// finish, then it runs by itself. That stops all other jobs. So there is no such retry if other
// jobs cannot have been the reason, as for a guest that had a core to itself. A job whose guest was
// killed is retried beside the others, and alone if its guest is killed again. An infrastructure
// fault is retried once beside the others.
//
// Equal jobs in flight are judged once.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "base/bounded_queue.h"
#include "gym/api/outbox.h"
#include "gym/judge/job_progress.h"
#include "gym/judge/local_judge.h"
#include "gym/judge/referee_queue.h"
#include "gym/judge/task_lints.h"

namespace tritonsmith::gym::judge {

class Coordinator {
 public:
  Coordinator(const LocalJudgeConfig& config, LocalJudgeParts parts, api::Outbox& outbox);
  ~Coordinator();

  void submit(api::JudgeJob job) { events_.push(Submitted{std::move(job)}); }
  void cancel(std::uint64_t id) { events_.push(Cancelled{id}); }
  // The versions are empty until the first job has arrived. Any thread may call it.
  JudgeVersions versions() const;
  std::vector<api::DeviceUse> devices() const;

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
  struct Refereed {
    RefereeWork work;
    RefereeOutcome outcome;
    std::string gpu;  // the UUID of the referee's GPU; empty: it has none
  };
  using Event = std::variant<Submitted, Cancelled, TaskCaptured, Captured, Compiled, Refereed>;

  // A task's plan, captured once, with the parts that the captures of its candidates need.
  struct TaskPlan {
    bool ready = false;
    std::string json, init_args, inputs, tensors, known;
    std::optional<VerdictError> failure;
    std::vector<std::uint64_t> waiting;  // serials of the jobs that wait for it
    std::uint64_t last_used = 0;         // the serial of the last job that used it
    std::size_t bytes() const {
      return json.size() + init_args.size() + inputs.size() + tensors.size() + known.size();
    }
  };

  void run();
  // Starts all referees, on the CPU and on GPUs.
  void start_referees();
  // Starts the referee with this number in its queue. It runs plans on `device`.
  void start_referee(std::unique_ptr<RefereeClient> referee, RefereeQueue& queue, int number,
                     api::DeviceUse device);
  // Does the work of a queue until it is closed. `place` is the index of the referee's client in
  // referees_, and of its device in devices_.
  void serve_queue(RefereeQueue& queue, int number, std::size_t place, const std::stop_token& stop);
  // Measures how fast the referee's GPU is now, and notes the result in devices_.
  void calibrate(std::size_t place, RefereeClient& referee);
  void hand_to_referee(const JobProgress& progress, referee::RefereeJob job, RefereeQueue& queue);
  void handle(Submitted& event);
  void handle(Cancelled& event);
  void handle(TaskCaptured& event);
  void handle(Captured& event);
  void handle(Compiled& event);
  void handle(Refereed& event);

  // Starts as many waiting jobs as may run.
  void admit();
  void start(JobProgress progress);
  void await_task(JobProgress& progress);
  // Keeps the plans that were used last, within the configured number and bytes.
  void forget_tasks();
  void capture(JobProgress& progress, const TaskPlan& task);
  void compile_and_referee(JobProgress& progress);
  // Drops the compilations of all units from `first` on that have no outcome yet.
  void stop_compiling(JobProgress& progress, std::size_t first);
  void lint(JobProgress& progress);
  void hear_of_task(Refereed& event);
  // Ends the job once the findings about its task are known.
  void give_verdict(JobProgress progress);
  RefereeQueue& work_for(Backend backend);
  // Returns true if the job, fully compiled, was handed to a GPU.
  bool replay(JobProgress& progress);
  void advance(std::uint64_t serial);
  void conclude(std::uint64_t serial);
  void finish(JobProgress progress, Verdict verdict);
  bool answered_by_store(JobProgress& progress);
  bool joined_an_equal_job(const JobProgress& progress);
  Status learn_versions();
  JobProgress* find(std::uint64_t serial);
  referee::RefereeJob referee_job(const JobProgress& progress) const;
  static void read_task_plan(const std::string& json, TaskPlan& task);

  LocalJudgeConfig config_;
  LocalJudgeParts parts_;
  api::Outbox& outbox_;
  BoundedQueue<Event> events_;
  RefereeQueue referee_work_;
  RefereeQueue replay_work_;  // for the referees on GPUs

  std::atomic<bool> stopping_ = false;
  std::uint64_t next_serial_ = 1;
  std::deque<JobProgress> backlog_, alone_;
  std::map<std::uint64_t, JobProgress> running_;
  std::map<std::string, TaskPlan> tasks_;  // by the content of the task's source
  TaskLints lints_;
  VerdictContext context_;
  // Other threads read versions_. Only the coordinator writes it.
  mutable std::mutex versions_mutex_;
  JudgeVersions versions_;

  std::vector<std::unique_ptr<RefereeClient>> referees_;
  mutable std::mutex devices_mutex_;
  std::vector<api::DeviceUse> devices_;  // one for each referee
  std::vector<std::jthread> referee_threads_;
  std::jthread thread_;
};

}  // namespace tritonsmith::gym::judge
