// ApiWriter: a Writer over a server of OpenAI's protocol. A thread for each request in flight asks,
// asks again when the server fails or is busy, and stores the answer before anybody sees it.
//
// It breaks, with one line, when the server refuses the key or the model, when it fails for too
// long, and when the cost reaches its limit. A conversation that does not fit into the model's
// context, or that the server will not answer, is an empty completion with that finish reason.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "generate/api/api_client.h"
#include "generate/api/request_store.h"
#include "generate/writer.h"

namespace tritonsmith::generate {

class ApiWriter : public Writer {
 public:
  // `store_file` may be empty: then answers are kept in memory. Fails if the server cannot be
  // reached, refuses the key, or lists models of which none is `model`.
  static Result<std::unique_ptr<ApiWriter>> open(const ApiConfig& config, const std::string& model,
                                                 const std::filesystem::path& store_file);
  ~ApiWriter() override;

  Status submit(WriteRequest request) override;
  Result<std::optional<Written>> next_by(Deadline deadline) override;
  void cancel(std::uint64_t id) override;
  bool recover() override;
  std::optional<std::int64_t> context_length() const override { return context_length_; }

  // Sums up all requests in the store, also those of earlier processes.
  Result<Spending> spending() const { return store_->spending(); }

 private:
  struct Job {
    WriteRequest request;
    bool is_cancelled = false;
    bool is_begun = false;  // pieces of its text were given away
  };
  struct Event {
    std::uint64_t id = 0;
    bool is_restart = false;  // the pieces so far count for nothing
    std::string piece;
    std::optional<Written> written;  // after its last piece
  };
  ApiWriter(ApiConfig config, std::string model, ApiAddress address, std::string key);

  Status check_models();
  void work(const std::stop_token& stop);
  std::shared_ptr<Job> wait_for_job(const std::stop_token& stop);
  void answer(const std::shared_ptr<Job>& job, ApiClient& client, const std::stop_token& stop);
  Result<std::optional<ApiReply>> ask(Job& job, const Json& body, ApiClient& client,
                                      const std::stop_token& stop);
  tl::expected<ApiReply, ApiFailure> ask_once(Job& job, const Json& body, ApiClient& client,
                                              const std::stop_token& stop);
  void rest(std::unique_lock<std::mutex>& lock, const Job& job, double seconds,
            const std::stop_token& stop);
  bool is_unwanted(const Job& job, const std::stop_token& stop) const;
  Status check_cost() const;
  void post(Event event);
  void deliver(const Job& job, ApiReply reply);
  void break_down(const Job& job, const Error& error);

  ApiConfig config_;
  std::string model_;
  ApiAddress address_;
  std::string key_;
  std::optional<std::int64_t> context_length_;
  std::unique_ptr<RequestStore> store_;

  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable_any changed_;
  std::map<std::uint64_t, std::shared_ptr<Job>> jobs_;  // in flight
  std::deque<std::shared_ptr<Job>> waiting_;
  std::deque<Event> events_;
  std::map<const Job*, ApiClient*> asking_;
  std::optional<Error> broken_;
  TimePoint last_answer_;
  int idle_ = 0;
  bool told_other_model_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace tritonsmith::generate
