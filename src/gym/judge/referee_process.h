// RefereeProcess: a referee in a process of its own, so that a hostile plan harms only its own
// verdict. The judging thread starts it on first use, or earlier (`early`), and keeps it between
// jobs. Idle spares stand by. A spare replaces a referee that died or was given up, and another
// spare is started.
//
// The old referee is reaped before the next job, which would otherwise be timed beside a kernel
// that does not end. If a plan kills two referees in a row, its candidate is at fault; every other
// job just uses a fresh referee. A replacement must first show that it judges: it gets the probes
// that its predecessor judged right (RefereeJob::probe). After three in a row misjudged, nothing is
// judged any more.
#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/process.h"
#include "gym/judge/referee_client.h"

namespace tritonsmith::gym::judge {

class PythonReference;

struct RefereeProgram {
  std::vector<std::string> argv;  // talks in frames on fd 3; never empty
  double start_seconds = 60;
  bool early = false;         // starts at once, not for the first job; on a GPU it always does
  int spares = 0;             // how many stand by once the first referee has started
  std::optional<int> gpu;     // runs plans on this GPU
  std::string lease;          // the file of that GPU's lease; empty: it takes none
  double grace_seconds = 10;  // the time beyond a job's budget before its referee is killed
  std::int64_t memory_bytes =
      0;  // of the largest budget, where that is beyond most jobs' (serve.h)
};

class RefereeProcess : public RefereeClient {
 public:
  // `reference`, if given, answers the referee's questions during a job. It must outlive this object.
  explicit RefereeProcess(RefereeProgram program, PythonReference* reference = nullptr);

  RefereeOutcome judge(const referee::RefereeJob& job, const std::string& task_plan) override;
  Result<Calibration> calibrate() override;
  void interrupt() override;

  // Returns how many referees were started, including spares; for tests and reports.
  int starts() const { return starts_; }
  // Any thread may call it.
  bool is_live() const;
  int restarts() const override { return std::max(0, came_up_ - 1); }

 private:
  struct Live {
    Process process;
    Fd socket;
  };
  enum class Ending { crashed, timeout, infrastructure };
  struct Broken {
    Ending ending = Ending::infrastructure;
    std::string message;
  };
  template <typename T>
  using Answer = tl::expected<T, Broken>;

  // A plan with a known verdict.
  struct KnownJob {
    referee::RefereeJob job;
    std::string task_plan;
  };

  Answer<referee::RefereeReport> ask(const referee::RefereeJob& job, const std::string& task_plan);
  // Sends the job to the live referee.
  Answer<referee::RefereeReport> put(const referee::RefereeJob& job, const std::string& task_plan,
                                     Deadline deadline);
  // Makes sure that a live referee is there that judges correctly.
  Status ensure_live();
  enum class Showing { judges, misjudges };
  Answer<Showing> examine();
  void keep_probe(const referee::RefereeJob& job, const std::string& task_plan,
                  const referee::RefereeReport& report);
  struct Request {
    const referee::RefereeJob& job;
    const Json& head;
    const std::string& plan;
    const std::string& binaries;
    Deadline deadline;
  };
  Answer<Json> exchange(const Request& request);
  // Waits for the reply. Meanwhile it relays the referee's questions to the Python reference, which
  // has a time limit of its own.
  Answer<Json> await_reply(const Request& request);
  Result<Live> spawn();
  Status start();
  // Returns the next spare, or a new referee that is still starting.
  Result<Live> next_in_line();
  // Starts spares up to the wanted number, and drops those that died while they stood by.
  void replenish();
  // Gives up the referee. late: it answers no more, so this does not wait for it.
  enum class Loss { late, broken };
  Broken give_up(const std::string& what, Loss loss);
  // Returns false if a referee that was given up is still there after a while.
  bool reap();
  bool interrupted() const;

  RefereeProgram program_;
  PythonReference* python_reference_;
  mutable std::mutex mutex_;  // guards interrupted_, and live_ against an interrupt
  bool interrupted_ = false;
  std::optional<Live> live_;  // changed by the judging thread only
  std::deque<Live> spares_;   // starting, or waiting for the first job; the oldest first
  Deadline spares_from_ = Deadline::after(std::chrono::nanoseconds(0));
  std::deque<Process> given_up_;  // killed, but not reaped
  bool is_alone_ = true;          // all of those had ended when the last job began
  std::vector<KnownJob> probes_;
  std::string why_unfit_;  // why it may not judge; empty if it may
  int starts_ = 0;
  std::atomic<int> came_up_ = 0;  // referees that judged, one after the other
};

}  // namespace tritonsmith::gym::judge
