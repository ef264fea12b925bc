// Generator: all that training, evaluation and the assistant see of a model that writes. Requests
// go in, completions come out as they finish, in any order. Engine (engine.h) is the real one,
// testing/scripted_generator.h serves tests. One thread calls submit, next and cancel.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/config.h"
#include "data/completion.h"

namespace tritonsmith::rollout {

struct SamplingParams {
  double temperature = 1.0;  // 0: greedy
  double top_p = 1.0;        // smallest set of likeliest tokens with at least this much probability
  int top_k = 0;             // 0: all
  int max_new_tokens = 256;
  std::vector<TokenId> stop_tokens;

  static Fields<SamplingParams> fields();
};

struct GenerationRequest {
  std::uint64_t id = 0;  // the caller's; must differ between requests in flight
  std::vector<TokenId>
      prompt;  // at least one token; requests with equal prompts share its computation
  SamplingParams sampling;
  // Draw t of this request is a hash of (seed, t): its tokens depend on prompt, weights, sampling
  // and seed, never on what else is in flight or on the order of submission.
  std::uint64_t seed = 0;
};

// `completion.logprobs[t]` is log softmax(logits / temperature)[token] over the whole vocabulary,
// before top-p and top-k cut it (temperature 1 where it is 0), so that it is what the trainer
// recomputes. `text` is left empty.
struct Generated {
  std::uint64_t id = 0;
  Completion completion;
};

class Generator {
 public:
  virtual ~Generator() = default;
  // Fails when the request cannot be served: empty prompt, unknown token, no room for one more
  // token.
  virtual Status submit(GenerationRequest request) = 0;
  // Works until a completion is finished, and gives it; nothing when none is in flight.
  virtual Result<std::optional<Generated>> next() = 0;
  // The completion ends as `cancelled` with what it has so far, and still comes out of next().
  virtual void cancel(std::uint64_t id) = 0;
};

// Submits all, and gives their completions in the order of the requests.
Result<std::vector<Completion>> generate_all(Generator& generator,
                                             std::span<const GenerationRequest> requests);

}  // namespace tritonsmith::rollout
