// RefereeProcess: a referee in a process of its own, so that a hostile plan harms nothing but its
// own verdict. Started on first use by the thread that judges, or before (`early`), kept between
// jobs, started anew after it died. A referee on a GPU lends its place to a spare, started
// beforehand, when a plan broke its context. A plan that kills two referees in a row is its
// candidate's fault; every other job just sees a fresh referee.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/process.h"
#include "gym/schedule/referee_client.h"

namespace tritonsmith::gym {

class ReferenceShell;

struct RefereeProgram {
  std::vector<std::string> argv;  // speaks frames on fd 3; never empty
  double start_seconds = 60;
  bool early = false;         // comes up at once, not for the first job; a GPU's always does
  std::optional<int> gpu;     // runs plans there; a spare then stands ready
  std::string lease;          // the file of that GPU's lease; empty: it takes none
  double grace_seconds = 10;  // beyond a job's own budget, before its referee is killed
};

class RefereeProcess : public RefereeClient {
 public:
  // `shell`, where given, answers what the referee asks in mid-job; it outlives this.
  explicit RefereeProcess(RefereeProgram program, ReferenceShell* shell = nullptr);

  RefereeOutcome judge(const RefereeJob& job, const std::string& task_plan) override;
  void interrupt() override;

  // Times a referee was started; for tests and reports.
  int starts() const { return starts_; }
  // From any thread.
  bool is_live() const;

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

  Answer<RefereeReport> ask(const RefereeJob& job, const std::string& task_plan);
  struct Request {
    const RefereeJob& job;
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
  Broken bury(const std::string& what, bool timed_out);
  bool interrupted() const;

  RefereeProgram program_;
  ReferenceShell* shell_;
  mutable std::mutex mutex_;  // guards interrupted_, and live_ against an interrupt
  bool interrupted_ = false;
  std::optional<Live> live_;   // changed by the judging thread only
  std::optional<Live> spare_;  // on its way, or waiting to be greeted
  int starts_ = 0;
};

}  // namespace tritonsmith::gym
