// FakeGenerator: a Generator whose completions a test's function writes.
#pragma once

#include <deque>
#include <functional>
#include <utility>

#include "rollout/generator.h"

namespace tritonsmith::rollout {

class FakeGenerator : public Generator {
 public:
  using Write = std::function<std::vector<TokenId>(const GenerationRequest&)>;
  explicit FakeGenerator(Write write) : write_(std::move(write)) {}

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

 private:
  Write write_;
  std::deque<GenerationRequest> requests_;
};

}  // namespace tritonsmith::rollout
