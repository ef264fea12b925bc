// JobDispatcher: a worker of the job store. It takes jobs from the store, gives them to a judge,
// and stores the verdicts. Its one thread owns the judge. It hands over only as many jobs as the
// judge works on at a time, so that urgent jobs overtake those that wait. If a judge breaks down (a
// full disk), the dispatcher makes a new one, with growing pauses, and gives its jobs back to the
// store: none is lost, and none is judged twice for one event.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "gym/api/judge.h"
#include "gym/service/gpu_watch.h"
#include "gym/service/job_store.h"
#include "gym/service/service_health.h"
#include "gym/service/service_metrics.h"

namespace tritonsmith::gym::service {

// Makes a judge. This may take long, but must end soon after the stop is requested.
using MakeJudge = std::function<Result<std::unique_ptr<api::Judge>>(const std::stop_token&)>;

// Facts that a worker shows to the others that share its store.
struct WorkerSettings {
  int at_once = 1;                   // jobs that the judge has at a time
  std::string host;                  // the machine's name
  std::string role = "all";          // see WorkerView
  std::string version;               // see WorkerView
  std::vector<std::string> devices;  // see WorkerView
  // The UUIDs of all GPUs that the worker may judge on. The judge leaves out those in quarantine.
  std::vector<std::string> gpus = {};
  std::function<std::vector<GpuFault>()> take_gpu_faults = {};  // see WatchedGpus
  // True if no other worker shares the store. Then the worker also answers jobs for other devices.
  bool is_alone = true;
  Milliseconds lease = Lease{}.span;
};

class JobDispatcher {
 public:
  JobDispatcher(JobStore& job_store, MakeJudge make_judge, WorkerSettings settings,
                ServiceMetrics& metrics);
  ~JobDispatcher();

  // Takes no more jobs, and waits until those that it has are judged, or until the deadline. The
  // store then gives the remaining jobs to other workers.
  void drain(Deadline deadline);

  // The dispatcher must outlive it.
  ServiceHealth health() const;

  // Returns why no verdicts come, in one line; empty while they come.
  std::string trouble() const;
  // Returns why no jobs are taken, in one line; empty while a judge that passed its
  // self-test takes jobs.
  std::string why_not_ready() const;

 private:
  struct Running {
    std::string name;
    Stopwatch watch = Stopwatch();
  };

  static Lease lease_of(const WorkerSettings& settings);
  static WatchedGpus gpus_of(const WorkerSettings& settings);
  bool has_device(const api::JudgeJob& job) const;
  void run(const std::stop_token& stop);
  Status work(api::Judge& judge, const std::stop_token& stop);
  // Ends the judge when the quarantine of its GPUs changes. A new one has other GPUs.
  Status watch_gpus(api::Judge& judge);
  Status keep_lease();
  void note_drained();
  bool is_draining() const;
  Status hand_over(api::Judge& judge);
  Status give_to(api::Judge& judge, api::Submission submission);
  Status withdraw(api::Judge& judge);
  Status bring_back(api::Judge& judge);
  void notice(const Verdict& verdict);
  Status conclude(std::vector<ConcludedJob> concluded);
  void rest(const std::stop_token& stop, double seconds) const;
  void set_trouble(std::string why);
  void set_has_judge(bool has_judge);
  WorkerView describe() const;

  JobStore& job_store_;
  MakeJudge make_judge_;
  Lease lease_;
  WorkerSettings settings_;
  ServiceMetrics& metrics_;
  GpuWatch gpus_;
  std::vector<std::string> left_out_;  // the GPUs in quarantine when the judge was made

  std::uint64_t next_id_ = 1;
  std::map<std::uint64_t, Running> running_;
  int faults_in_a_row_ = 0;
  std::optional<Stopwatch> since_heartbeat_, since_look_, since_withdrawal_;

  mutable std::mutex mutex_;  // guards the members below
  mutable std::condition_variable drained_;
  std::string trouble_;
  std::string failed_start_;  // see ServiceHealth
  bool has_judge_ = false;
  bool is_draining_ = false;
  bool is_drained_ = false;  // it takes no more jobs, and has none
  std::jthread thread_;
};

}  // namespace tritonsmith::gym::service
