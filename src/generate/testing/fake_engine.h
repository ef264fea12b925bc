// FakeEngine: a TokenEngine whose completions a test's function writes, one after the other.
#pragma once

#include <deque>
#include <functional>
#include <utility>

#include "generate/token_engine.h"

namespace tritonsmith::generate {

class FakeEngine : public TokenEngine {
 public:
  using Write = std::function<std::vector<TokenId>(const GenerationRequest&)>;
  explicit FakeEngine(Write write, std::int64_t max_length = 0)
      : write_(std::move(write)), max_length_(max_length) {}

  Status submit(GenerationRequest request) override {
    requests_.push_back(std::move(request));
    return ok();
  }

  Result<std::optional<Generated>> next_by(Deadline) override {
    if (requests_.empty()) return std::optional<Generated>();
    const GenerationRequest request = std::move(requests_.front());
    requests_.pop_front();
    Generated generated{.id = request.id};
    generated.completion.prompt = request.prompt;
    generated.completion.tokens = write_(request);
    generated.completion.logprobs.assign(generated.completion.tokens.size(), -0.5F);
    return std::optional(std::move(generated));
  }

  void cancel(std::uint64_t id) override {
    std::erase_if(requests_, [id](const GenerationRequest& r) { return r.id == id; });
  }
  std::int64_t max_length() const override { return max_length_; }

 private:
  Write write_;
  std::int64_t max_length_;
  std::deque<GenerationRequest> requests_;
};

}  // namespace tritonsmith::generate
