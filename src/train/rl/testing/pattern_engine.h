// PatternEngine: a TokenEngine for tests that answers with a whole, well-formed completion
// around a few letters sampled from the model itself, so that a model of random weights can already
// be judged and rewarded, and what it writes depends on its weights. Log-probabilities are exact.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <deque>
#include <string>

#include "base/rng.h"
#include "generate/token_engine.h"
#include "model/layers/linear_logprob.h"
#include "model/transformer/transformer.h"
#include "text/tokenizer.h"

namespace tritonsmith::train {

class PatternEngine : public generate::TokenEngine {
 public:
  static constexpr const char* kBefore = "<thinking>p</thinking><answer>```python\n";
  static constexpr const char* kAfter = "\n```</answer>";
  static constexpr int kLetters = 2;

  PatternEngine(const model::Transformer& model, const text::Tokenizer& tokenizer)
      : model_(model), tokenizer_(tokenizer) {}

  Status submit(generate::GenerationRequest request) override {
    requests_.push_back(std::move(request));
    return ok();
  }

  Result<std::optional<generate::Generated>> next_by(Deadline) override {
    if (requests_.empty()) return std::optional<generate::Generated>();
    // The last first: nobody may rely on the order.
    const generate::GenerationRequest request = std::move(requests_.back());
    requests_.pop_back();
    generate::Generated generated{.id = request.id};
    generated.completion.prompt = request.prompt;
    generated.completion.tokens = write(request);
    generated.completion.logprobs = logprobs(request.prompt, generated.completion.tokens);
    return std::optional(std::move(generated));
  }

  void cancel(std::uint64_t id) override {
    std::erase_if(requests_, [id](const auto& request) { return request.id == id; });
  }
  std::int64_t max_length() const override { return model_.config().max_position_embeddings; }

 private:
  std::vector<TokenId> write(const generate::GenerationRequest& request) const {
    Rng rng(request.seed, "pattern", 0);
    std::vector<TokenId> tokens = tokenizer_.encode(kBefore);
    for (int i = 0; i < kLetters; ++i) tokens.push_back(letter(request.prompt, tokens, rng));
    const auto after = tokenizer_.encode(kAfter);
    tokens.insert(tokens.end(), after.begin(), after.end());
    tokens.push_back(request.stop_tokens.at(0));
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
  std::deque<generate::GenerationRequest> requests_;
};

}  // namespace tritonsmith::train
