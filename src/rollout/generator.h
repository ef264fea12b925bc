// Generator: all that training and evaluation see of the rollout engine. Requests go in, finished
// completions come out in whatever order they finish. Token-level: text is made by who has the
// tokenizer. One thread calls submit, next and cancel; the work happens inside next. Who has other
// things to look after meanwhile asks for completions by a deadline, and asks again.
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
  double temperature = 1.0;  // 0 is greedy
  double top_p = 1.0;
  int top_k = 0;  // 0: no limit
  int max_new_tokens = 512;
  std::vector<TokenId> stop_tokens;  // the first of them to be sampled ends the completion
  // So does a text that holds one of these; looked for by who has the tokenizer (stop_strings.h).
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
  std::uint64_t id = 0;         // the caller's; must differ between requests in flight
  std::vector<TokenId> prompt;  // at least one token
  SamplingParams sampling;
  std::uint64_t seed = 0;  // the draws depend on (seed, position) alone, not on the batch
  // Asked after every token, with all of the completion so far: true ends it there, as a stop token
  // does. So stop strings are found by who has the tokenizer. Null: never.
  std::function<bool(std::span<const TokenId> tokens)> is_complete = nullptr;
};

// `completion.text` is empty; `completion.logprobs` are those of softmax(logits / temperature),
// before top-p and top-k cut it (temperature 0: of softmax(logits)).
struct Generated {
  std::uint64_t id = 0;
  Completion completion;
};

class Generator {
 public:
  virtual ~Generator() = default;
  // Fails, naming the limit, when prompt and max_new_tokens can never fit.
  virtual Status submit(GenerationRequest request) = 0;
  // Decodes until a completion is finished; nothing when no request is in flight.
  Result<std::optional<Generated>> next() { return next_by(Deadline::never()); }
  // Likewise, but no longer than a step beyond the deadline: nothing also when that has passed.
  virtual Result<std::optional<Generated>> next_by(Deadline deadline) = 0;
  // Waits until nothing that was launched is still at work on the device.
  virtual Status settle() { return ok(); }
  // The request's completion will not come.
  virtual void cancel(std::uint64_t id) = 0;
};

}  // namespace tritonsmith::rollout
