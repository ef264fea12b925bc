// Generator: the interface of the rollout engine for training and evaluation. Requests go in, and
// completions come out in the order in which they finish. It works on tokens; the owner of the
// tokenizer makes the text. One thread calls submit, next and cancel, and the work happens inside
// next. A caller with other work asks for completions by a deadline, and asks again later.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/config.h"
#include "data/completion.h"

namespace tritonsmith::rollout {

struct SamplingParams {
  double temperature = 1.0;  // 0: greedy
  double top_p = 1.0;
  int top_k = 0;  // 0: no limit
  int max_new_tokens = 512;
  std::vector<TokenId> stop_tokens;  // the first sampled one of them ends the completion
  // A text with one of these strings also ends it. The owner of the tokenizer looks for them
  // (stop_strings.h).
  std::vector<std::string> stop;

  static Fields<SamplingParams> fields() {
    return {field("temperature", &SamplingParams::temperature,
                  "1 samples the model's own distribution, 0 is greedy", between(0.0, 100.0)),
            field("top_p", &SamplingParams::top_p,
                  "sample among the likeliest tokens that together reach this probability",
                  between(1e-6, 1.0)),
            field("top_k", &SamplingParams::top_k,
                  "sample among this many likeliest tokens; 0: all", at_least(0)),
            field("max_new_tokens", &SamplingParams::max_new_tokens,
                  "a longer completion is cut and counts as unfinished", at_least(1)),
            field("stop", &SamplingParams::stop,
                  "a completion ends with the first of these strings, which stays in it")};
  }
};

struct GenerationRequest {
  std::uint64_t id = 0;         // chosen by the caller; must differ between requests in flight
  std::vector<TokenId> prompt;  // at least one token
  SamplingParams sampling;
  std::uint64_t seed = 0;  // the draws depend on (seed, position) alone, not on the batch
  // Called after every token with the whole completion so far. A result of true ends it there, like
  // a stop token. The owner of the tokenizer finds stop strings in this way. Null: never.
  std::function<bool(std::span<const TokenId> tokens)> is_complete = nullptr;
};

// `completion.text` is empty. `completion.logprobs` are those of softmax(logits / temperature),
// before top-p and top-k. At temperature 0 they are those of softmax(logits).
struct Generated {
  std::uint64_t id = 0;
  Completion completion;
};

class Generator {
 public:
  virtual ~Generator() = default;
  // Fails, with the limit, if prompt and max_new_tokens can never fit.
  virtual Status submit(GenerationRequest request) = 0;
  // Decodes until a completion is finished. Returns nothing if no request is in flight.
  Result<std::optional<Generated>> next() { return next_by(Deadline::never()); }
  // The same, until one step after the deadline at most. Returns nothing also when the deadline has
  // passed.
  virtual Result<std::optional<Generated>> next_by(Deadline deadline) = 0;
  // Waits until the device has finished all launched work.
  virtual Status settle() { return ok(); }
  // Drops the request. Its completion will not be returned.
  virtual void cancel(std::uint64_t id) = 0;
};

}  // namespace tritonsmith::rollout
