// Writer: the source of completions as episodes, evaluation and the assistant see it. Messages go
// in; finished completions come out in the order in which they finish. Many requests may be in
// flight. A writer needs no tokenizer: a remote model is a Writer (generate/api). TokenWriter
// (generate/token_writer.h) is a Writer that also gives token ids and log-probabilities.
//
// One thread calls a writer. The work happens inside next_by(), or on threads of the writer's own.
// A caller that has other things to do passes a deadline, and asks again later.
//
// The calls fail when the writer is broken: damaged weights, a server that is gone or refuses the
// key. The error is one line that says what to do. A completion that is merely bad is data.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "data/completion.h"
#include "generate/sampling.h"
#include "text/chat.h"

namespace tritonsmith::generate {

struct WriteRequest {
  std::uint64_t id = 0;  // the caller chooses it; it differs between the requests in flight
  // The last message is not the assistant's: the writer continues the conversation. An assistant's
  // message that this writer wrote carries its tokens, so that nothing is tokenized again.
  std::vector<text::Message> messages;
  SamplingParams sampling;
  std::uint64_t seed = 0;  // decides what is drawn, as far as the writer can be seeded
  // Receives the text piece by piece while it is written, on the caller's thread, inside next_by().
  // It must not call the writer. The pieces together are the completion's text.
  std::function<void(std::string_view piece)> on_text = nullptr;
  // Called like on_text when a server broke off and the writer starts over. The caller must then
  // drop the pieces so far. Without on_restart, a writer that may have to start over gives the text
  // in one piece.
  std::function<void()> on_restart = nullptr;
};

struct Written {
  std::uint64_t id = 0;  // of the request
  std::string prompt;    // the messages as the model read them, for records and readers
  // The text, the finish reason and the usage are always there. A TokenWriter also fills in the
  // prompt's tokens, the completion's tokens and their log-probabilities.
  Completion completion;
  // Where each token's share of the text ends, in bytes; empty without tokens. The token that ended
  // the completion has no share of the text, and no entry.
  std::vector<std::size_t> token_ends;
};

class Writer {
 public:
  virtual ~Writer() = default;

  // Fails when the writer is broken, or when it knows that it can never serve the request. The
  // error then names the limit.
  virtual Status submit(WriteRequest request) = 0;
  // Waits until a completion is finished. Returns nothing when no request is in flight, or when the
  // deadline has passed; the call may end a decode step later than the deadline.
  virtual Result<std::optional<Written>> next_by(Deadline deadline) = 0;
  Result<std::optional<Written>> next() { return next_by(Deadline::never()); }
  // Gives up a request: its completion will not come. An unknown id is ignored.
  virtual void cancel(std::uint64_t id) = 0;

  // Tells whether the messages and max_new_tokens fit into the model's context. A writer that
  // cannot tell says yes.
  virtual bool has_room(std::span<const text::Message> /*messages*/,
                        const SamplingParams& /*sampling*/) const {
    return true;
  }
  // The number of tokens that prompt and completion may have together, where it is known.
  virtual std::optional<std::int64_t> context_length() const { return std::nullopt; }
};

}  // namespace tritonsmith::generate
