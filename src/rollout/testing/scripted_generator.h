// A Generator for tests: completions come from a function of the request, in order of submission.
#pragma once

#include <deque>
#include <functional>
#include <set>

#include "rollout/generator.h"

namespace tritonsmith::rollout::testing {

class ScriptedGenerator : public Generator {
 public:
  using Script = std::function<std::vector<TokenId>(const GenerationRequest&)>;
  explicit ScriptedGenerator(Script script) : script_(std::move(script)) {}

  Status submit(GenerationRequest request) override {
    waiting_.push_back(std::move(request));
    return ok();
  }

  // Every token gets the log-probability -1; a completion cut at max_new_tokens ends by length.
  Result<std::optional<Generated>> next() override {
    if (waiting_.empty()) return std::nullopt;
    const GenerationRequest request = std::move(waiting_.front());
    waiting_.pop_front();
    Generated generated{.id = request.id};
    Completion& completion = generated.completion;
    completion.prompt = request.prompt;
    if (cancelled_.erase(request.id) > 0) {
      completion.finish = FinishReason::cancelled;
      return generated;
    }
    completion.tokens = script_(request);
    const auto longest = static_cast<std::size_t>(request.sampling.max_new_tokens);
    if (completion.tokens.size() > longest) {
      completion.tokens.resize(longest);
      completion.finish = FinishReason::length;
    }
    completion.logprobs.assign(completion.tokens.size(), -1.0f);
    return generated;
  }

  void cancel(std::uint64_t id) override { cancelled_.insert(id); }

 private:
  Script script_;
  std::deque<GenerationRequest> waiting_;
  std::set<std::uint64_t> cancelled_;
};

}  // namespace tritonsmith::rollout::testing
