// RefereeProcess: a referee in a process of its own, so that a hostile plan harms nothing but its
// own verdict. Started on first use by the thread that judges, or before (`early`), kept between
// jobs. Spares, started beforehand and idle, stand by: one takes the place of a referee that died
// or was given up, and another is started for it. What is left of the old one is reaped before the
// next job, which would else be timed beside a kernel that does not end. A plan that kills two
// referees in a row is its candidate's fault; every other job just sees a fresh referee. One that
// takes another's place first shows that it judges: the probes that its predecessor judged right
// (RefereeJob::probe) are put to it, and nothing is judged any more once three in a row misjudged.
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
  std::vector<std::string> argv;  // speaks frames on fd 3; never empty
  double start_seconds = 60;
  bool early = false;         // comes up at once, not for the first job; a GPU's always does
  int spares = 0;             // that stand by once the first has come up
  std::optional<int> gpu;     // runs plans there
  std::string lease;          // the file of that GPU's lease; empty: it takes none
  double grace_seconds = 10;  // beyond a job's own budget, before its referee is killed
  std::int64_t memory_bytes =
      0;  // of the largest budget, where that is beyond most jobs' (serve.h)
};

class RefereeProcess : public RefereeClient {
 public:
  // `shell`, where given, answers what the referee asks in mid-job; it outlives this.
  explicit RefereeProcess(RefereeProgram program, PythonReference* shell = nullptr);

  RefereeOutcome judge(const referee::RefereeJob& job, const std::string& task_plan) override;
  void interrupt() override;

  // Times a referee was started, spares included; for tests and reports.
  int starts() const { return starts_; }
  // From any thread.
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

  // A plan of which it is known beforehand whether it is right.
  struct KnownJob {
    referee::RefereeJob job;
    std::string task_plan;
  };

  Answer<referee::RefereeReport> ask(const referee::RefereeJob& job, const std::string& task_plan);
  // To the referee that is live.
  Answer<referee::RefereeReport> put(const referee::RefereeJob& job, const std::string& task_plan,
                                     Deadline deadline);
  // A referee that is live, and judges.
  Status take_place();
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
  // Relays what the referee asks of the shell meanwhile, on the shell's own time.
  Answer<Json> await_reply(const Request& request);
  Result<Live> spawn();
  Status start();
  // The next spare, or one that is yet to come up.
  Result<Live> next_in_line();
  // As many spares as are wanted, without those that died standing by.
  void replenish();
  // Gives up the referee. late: it is not waited for, since it answers no more.
  enum class Loss { late, broken };
  Broken give_up(const std::string& what, Loss loss);
  // False where one of those given up is still there after a while.
  bool reap();
  bool interrupted() const;

  RefereeProgram program_;
  PythonReference* shell_;
  mutable std::mutex mutex_;  // guards interrupted_, and live_ against an interrupt
  bool interrupted_ = false;
  std::optional<Live> live_;  // changed by the judging thread only
  std::deque<Live> spares_;   // on their way, or waiting to be greeted; the oldest first
  Deadline spares_from_ = Deadline::after(std::chrono::nanoseconds(0));
  std::deque<Process> given_up_;  // killed, not reaped
  bool is_alone_ = true;          // none of them was still there when the last job began
  std::vector<KnownJob> probes_;
  std::string why_unfit_;  // to judge anything; empty while it is not
  int starts_ = 0;
  std::atomic<int> came_up_ = 0;  // referees that judged, one after the other
};

}  // namespace tritonsmith::gym::judge
