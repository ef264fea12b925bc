// RemoteJudge: a Judge that sends its jobs to a `gym serve`. One thread sends the waiting jobs in
// batches, and another listens for verdicts. Both reconnect when the service was away. Jobs without
// a verdict are then sent again. This changes nothing for jobs that the service knows, because it
// names jobs by their content. The judge fails with one line when the service refuses the token, or
// stays away for longer than `patience_seconds`.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "base/config.h"
#include "gym/api/outbox.h"
#include "gym/api/submission.h"

namespace httplib {
class Client;
}

namespace tritonsmith::gym::remote {

struct RemoteJudgeConfig {
  std::string url;         // "http://host:8800"
  std::string token_file;  // empty: TRITONSMITH_GYM_TOKEN of the environment, if set
  // The class of devices of jobs that name none. Empty: any device. But if the service has several kinds
  // of GPUs, jobs that a GPU may judge ask for the most common kind, so that speed-ups compare.
  std::string device;
  api::Priority priority = api::Priority::normal;
  double patience_seconds = 600;
  int queue = 1024;  // unfinished jobs at most; submit blocks beyond
  static Fields<RemoteJudgeConfig> fields();
};

class RemoteJudge : public api::Judge {
 public:
  // Fails when the service cannot be reached, refuses the token, or has no worker with a device of
  // the class. A service without any worker may still get one.
  static Result<std::unique_ptr<api::Judge>> open(const RemoteJudgeConfig& config);
  // Cancels the unfinished jobs, as far as the service can be reached.
  ~RemoteJudge() override;

  Status submit(api::JudgeJob job) override;
  Result<std::optional<api::Judged>> next(Deadline deadline) override;
  void cancel(std::uint64_t id) override;

 private:
  using Client = std::shared_ptr<httplib::Client>;
  struct Waiting {
    api::Submission submission;
    std::string name;
  };
  RemoteJudge(RemoteJudgeConfig config, Client sending, Client listening);

  void send(const std::stop_token& stop);
  void listen(const std::stop_token& stop);
  std::vector<std::uint64_t> wait_for_work(const std::stop_token& stop);
  // Returns false when the request must be tried again.
  bool post(const std::vector<std::uint64_t>& ids);
  void take_event(const std::string& data);
  void send_again();
  // Waits longer after each attempt, 5 s at most. Returns false when it is stopped, or breaks the
  // judge and returns false after `patience_seconds` of silence.
  bool rest(const std::stop_token& stop, int attempt, double first_seconds);

  RemoteJudgeConfig config_;
  std::string client_;  // the name that this program gives itself
  std::string kind_;    // the kind of GPU that jobs ask for, if the service has several
  Client sending_, listening_;
  api::Outbox outbox_;

  std::mutex mutex_;  // guards the members below
  std::condition_variable_any changed_;
  std::map<std::uint64_t, Waiting> waiting_;
  std::vector<std::uint64_t> unsent_;
  std::multimap<std::string, std::uint64_t> by_name_;
  std::vector<std::string> unwanted_;
  TimePoint last_heard_;
  std::uint64_t marks_ = 0;

  std::jthread sender_, listener_;
};

}  // namespace tritonsmith::gym::remote
