// PatternGenerator: a Generator for tests. It answers with a complete, well-formed completion that
// contains a few letters sampled from the model. A model of random weights can thus be judged and
// rewarded, and its completions depend on its weights. Log-probabilities are exact.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <deque>
#include <string>

#include "base/rng.h"
#include "model/linear_logprob.h"
#include "model/transformer.h"
#include "rollout/generator.h"
#include "text/tokenizer.h"

namespace tritonsmith::train {

class PatternGenerator : public rollout::Generator {
 public:
  static constexpr const char* kBefore = "<thinking>p</thinking><answer>```python\n";
  static constexpr const char* kAfter = "\n```</answer>";
  static constexpr int kLetters = 2;

  PatternGenerator(const model::Transformer& model, const text::Tokenizer& tokenizer)
      : model_(model), tokenizer_(tokenizer) {}

  Status submit(rollout::GenerationRequest request) override {
    requests_.push_back(std::move(request));
    return ok();
  }

  Result<std::optional<rollout::Generated>> next_by(Deadline) override {
    if (requests_.empty()) return std::optional<rollout::Generated>();
    // The last request comes first, so that no test relies on the order.
    const rollout::GenerationRequest request = std::move(requests_.back());
    requests_.pop_back();
    rollout::Generated generated{.id = request.id};
    generated.completion.prompt = request.prompt;
    generated.completion.tokens = write(request);
    generated.completion.logprobs = logprobs(request.prompt, generated.completion.tokens);
    return std::optional(std::move(generated));
  }

  void cancel(std::uint64_t id) override {
    std::erase_if(requests_, [id](const auto& request) { return request.id == id; });
  }

 private:
  std::vector<TokenId> write(const rollout::GenerationRequest& request) const {
    Rng rng(request.seed, "pattern", 0);
    std::vector<TokenId> tokens = tokenizer_.encode(kBefore);
    for (int i = 0; i < kLetters; ++i) tokens.push_back(letter(request.prompt, tokens, rng));
    const auto after = tokenizer_.encode(kAfter);
    tokens.insert(tokens.end(), after.begin(), after.end());
    tokens.push_back(request.sampling.stop_tokens.at(0));
    return tokens;
  }

  TokenId letter(const std::vector<TokenId>& prompt, const std::vector<TokenId>& written,
                 Rng& rng) const {
    const auto letters = tokenizer_.encode("abcdefgh");
    const at::Tensor hidden = hidden_of(prompt, written);
    const at::Tensor logits = at::mv(model_.head_weight(), hidden[-1]);
    double total = 0;
    for (const TokenId id : letters) total += std::exp(logits[id].item<double>());
    double left = rng.uniform() * total;
    for (const TokenId id : letters)
      if ((left -= std::exp(logits[id].item<double>())) < 0) return id;
    return letters.back();
  }

  std::vector<float> logprobs(const std::vector<TokenId>& prompt,
                              const std::vector<TokenId>& tokens) const {
    const at::Tensor hidden = hidden_of(prompt, tokens);
    const auto begin = static_cast<std::int64_t>(prompt.size()) - 1;
    const auto count = static_cast<std::int64_t>(tokens.size());
    const std::vector<std::int64_t> targets(tokens.begin(), tokens.end());
    const at::Tensor values =
        model::linear_logprob(hidden.narrow(0, begin, count), model_.head_weight(),
                              at::tensor(targets, at::kLong))
            .logprob;
    const float* first = values.const_data_ptr<float>();
    return {first, first + count};
  }

  at::Tensor hidden_of(std::vector<TokenId> tokens, const std::vector<TokenId>& more) const {
    const at::NoGradGuard no_grad;
    tokens.insert(tokens.end(), more.begin(), more.end());
    const std::vector<std::vector<TokenId>> alone = {std::move(tokens)};
    return model_.forward(model::pack(alone, c10::kCPU));
  }

  const model::Transformer& model_;
  const text::Tokenizer& tokenizer_;
  std::deque<rollout::GenerationRequest> requests_;
};

}  // namespace tritonsmith::train
