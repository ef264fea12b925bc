// SharedJudge: one judge for many callers at once. Its thread owns the judge, and each caller has a
// JudgeClient of its own. The judge has a limited number of jobs, and clients with further ones are
// served round-robin: a client with one job does not wait for all jobs of another. When the judge
// breaks, every client gets its error.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "gym/api/judge.h"

namespace tritonsmith::serve::assistant {

class JudgeClient;

class SharedJudge {
 public:
  // The judge must outlive this object. It gets so many jobs at a time.
  explicit SharedJudge(gym::api::Judge& judge, std::size_t in_flight = jobs_for_this_machine());
  ~SharedJudge();  // no client may be left
  // Enough jobs for each core to have one in each stage of judging.
  static std::size_t jobs_for_this_machine();
  std::unique_ptr<JudgeClient> connect();
  std::uint64_t judged() const;

 private:
  friend class JudgeClient;
  struct Mailbox;
  struct PendingJob {
    std::shared_ptr<Mailbox> mailbox;
    std::uint64_t id = 0;  // the client's
  };
  void loop(const std::stop_token& stop);
  void post(std::function<void()> task);
  void submit_round_robin();
  void break_down(const Error& error);

  gym::api::Judge& judge_;
  std::size_t in_flight_;
  std::deque<std::shared_ptr<Mailbox>> round_robin_;  // clients with jobs; of the loop's thread
  std::map<std::uint64_t, PendingJob> pending_;       // by the judge's id; of the loop's thread
  std::uint64_t next_id_ = 0;

  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> tasks_;
  std::uint64_t judged_ = 0;
  std::jthread thread_;
};

// A Judge over a SharedJudge. One thread uses it; its jobs end with it.
class JudgeClient : public gym::api::Judge {
 public:
  explicit JudgeClient(SharedJudge& judge);
  ~JudgeClient() override;
  Status submit(gym::api::JudgeJob job) override;
  Result<std::optional<gym::api::Judged>> next(Deadline deadline) override;
  void cancel(std::uint64_t id) override;

 private:
  SharedJudge& judge_;
  std::shared_ptr<SharedJudge::Mailbox> mailbox_;
  std::set<std::uint64_t> waiting_;
};

}  // namespace tritonsmith::serve::assistant
