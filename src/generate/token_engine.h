// TokenEngine: the interface of an engine that completes prompts of token ids. It returns
// completions of token ids with their log-probabilities, in the order in which they finish. It
// knows neither text nor chat formats, which TokenWriter adds. Our engine (generate/engine) and the
// client of /v1/completions (generate/api) implement it.
//
// One thread calls submit, next_by and cancel. An engine works inside next_by. Any thread may call
// interrupt.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "data/completion.h"
#include "generate/sampling.h"

namespace tritonsmith::generate {

struct GenerationRequest {
  std::uint64_t id = 0;              // the caller chooses it; it differs between requests in flight
  std::vector<TokenId> prompt;       // at least one token
  SamplingParams sampling;           // the engine ignores `stop`, for which is_complete is there
  std::vector<TokenId> stop_tokens;  // sampling one of these ends the completion
  std::uint64_t seed = 0;            // the draws depend on (seed, position) alone, not on the batch
  // The engine calls this after every token but a stop token, with all tokens of the completion so
  // far. If it returns true, the completion ends there. Null: only stop tokens and lengths end it.
  std::function<bool(std::span<const TokenId> tokens)> is_complete = nullptr;
  // The engine calls this before is_complete, with the new token's log-probability. An engine that
  // learns them only at the end does not call it.
  std::function<void(float logprob)> on_logprob = nullptr;
};

// `completion.text` is empty. `completion.logprobs` are those of softmax(logits / temperature),
// before top-p and top-k cut it; at temperature 0, those of softmax(logits).
struct Generated {
  std::uint64_t id = 0;
  Completion completion;
};

class TokenEngine {
 public:
  virtual ~TokenEngine() = default;
  // Fails, and names the limit, when prompt and max_new_tokens can never fit.
  virtual Status submit(GenerationRequest request) = 0;
  // Waits until a completion is finished. Returns nothing when no request is in flight, or when the
  // deadline has passed; the call may end a decode step later than the deadline.
  virtual Result<std::optional<Generated>> next_by(Deadline deadline) = 0;
  Result<std::optional<Generated>> next() { return next_by(Deadline::never()); }
  // Gives up a request. Its completion will not come.
  virtual void cancel(std::uint64_t id) = 0;
  // Makes next_by return after its present decode step. If no next_by runs, the following one
  // returns so. An engine that cannot be interrupted returns at its deadline.
  virtual void interrupt() {}
  // Waits until the device has finished everything that was launched.
  virtual Status settle() { return ok(); }
  // Returns the number of tokens that prompt and completion may have together. 0: it is not known.
  virtual std::int64_t max_length() const { return 0; }
};

// Submits all requests, and returns their completions in the order of the requests. Nothing else
// may be in flight.
Result<std::vector<Completion>> generate_all(TokenEngine& engine,
                                             std::span<const GenerationRequest> requests);

}  // namespace tritonsmith::generate
