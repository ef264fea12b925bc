// SteppingEngine: a TokenEngine that gives each request the same tokens, one a step, and tells their
// log-probabilities at once. The last token is the one that ends the completion.
#pragma once

#include <atomic>
#include <utility>
#include <vector>

#include "generate/token_engine.h"

namespace tritonsmith::serve::openai {

class SteppingEngine : public generate::TokenEngine {
 public:
  SteppingEngine(std::vector<TokenId> answer, std::atomic<int>& interruptions)
      : answer_(std::move(answer)), interruptions_(interruptions) {}
  Status submit(generate::GenerationRequest request) override {
    Completion completion{.prompt = request.prompt};
    pending_.push_back({.request = std::move(request), .completion = std::move(completion)});
    return ok();
  }
  Result<std::optional<generate::Generated>> next_by(Deadline) override {
    for (auto at = pending_.begin(); at != pending_.end(); ++at) {
      auto& tokens = at->completion.tokens;
      tokens.push_back(answer_[tokens.size()]);
      const float logprob = -0.25F * static_cast<float>(tokens.size());
      at->completion.logprobs.push_back(logprob);
      const auto& is_complete = at->request.is_complete;
      const bool is_last = tokens.size() == answer_.size();
      if (!is_last && at->request.on_logprob) at->request.on_logprob(logprob);
      if (!is_last && !(is_complete && is_complete(tokens))) continue;
      generate::Generated generated{.id = at->request.id, .completion = std::move(at->completion)};
      pending_.erase(at);
      return std::optional(std::move(generated));
    }
    return std::optional<generate::Generated>();
  }
  void cancel(std::uint64_t id) override {
    std::erase_if(pending_, [id](const PendingRequest& each) { return each.request.id == id; });
  }
  void interrupt() override { ++interruptions_; }
  std::int64_t max_length() const override { return 60; }

 private:
  struct PendingRequest {
    generate::GenerationRequest request;
    Completion completion = {};
  };
  std::vector<TokenId> answer_;
  std::atomic<int>& interruptions_;
  std::vector<PendingRequest> pending_;
};

}  // namespace tritonsmith::serve::openai
