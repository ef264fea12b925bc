// RemoteJudge: the Judge that is a `gym serve` somewhere else. One thread sends jobs, as many at a
// time as wait; another listens for verdicts. Both come back by themselves when the service was
// away: what has no verdict yet is sent again, which changes nothing for jobs the service knows, as
// they go by their content. Gives up, with one line, when the service does not let us in, or stays
// away for longer than `patience_seconds`.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "base/config.h"
#include "gym/api/outbox.h"
#include "gym/api/submission.h"

namespace tritonsmith::gym::remote {

struct RemoteJudgeConfig {
  std::string url;         // "http://host:8800"
  std::string token_file;  // empty: TRITONSMITH_GYM_TOKEN of the environment, if set
  api::Priority priority = api::Priority::normal;
  double patience_seconds = 600;
  int queue = 1024;  // unfinished jobs at most; submit waits beyond
  static Fields<RemoteJudgeConfig> fields();
};

class RemoteJudge : public api::Judge {
 public:
  // Fails when the service cannot be reached or does not let us in.
  static Result<std::unique_ptr<api::Judge>> open(const RemoteJudgeConfig& config);
  // Cancels what is unfinished, as far as the service can be reached.
  ~RemoteJudge() override;

  Status submit(api::JudgeJob job) override;
  Result<std::optional<api::Judged>> next(Deadline deadline) override;
  void cancel(std::uint64_t id) override;

 private:
  struct Connection;
  struct Waiting {
    api::Submission submission;
    std::string name;
  };
  RemoteJudge(RemoteJudgeConfig config, std::string token);

  void send(const std::stop_token& stop);
  void listen(const std::stop_token& stop);
  std::vector<std::uint64_t> wait_for_work(const std::stop_token& stop);
  // False when it is to be tried again.
  bool post(const std::vector<std::uint64_t>& ids);
  void take_event(const std::string& data);
  void send_again();
  // Waits a little, longer each time; gives up when patience is over.
  bool rest(const std::stop_token& stop, int attempt, double first_seconds);

  RemoteJudgeConfig config_;
  std::string client_;  // our name
  std::unique_ptr<Connection> sending_, listening_;
  api::Outbox outbox_;

  std::mutex mutex_;  // guards what is below
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
