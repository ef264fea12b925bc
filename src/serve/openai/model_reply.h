// ModelReply: the answer of a SharedModel to one call, as bytes of OpenAI's protocol. The thread of
// the client's connection pulls it. Its end cancels what is still being written, so a client that
// leaves costs nothing more.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "serve/openai/call.h"
#include "serve/openai/reply.h"
#include "serve/openai/shared_model.h"

namespace tritonsmith::serve::openai {

// A body that comes in parts. A whole reply comes in one part, at its end.
class ReplyStream {
 public:
  // broken: no end will come, and what was sent is incomplete.
  enum class State { more, done, broken };
  virtual ~ReplyStream() = default;
  // Appends the bytes that are there by the deadline.
  virtual State next(std::string& out, Deadline deadline) = 0;
  // Says why the reply is broken. A stream has told this already, as its last event.
  const CallError& error() const { return error_; }

 protected:
  // Returns `broken`, and keeps the reason.
  State break_off(std::string reason) {
    error_.message = std::move(reason);
    return State::broken;
  }

 private:
  static constexpr int kUnavailable = 503;
  CallError error_{.status = kUnavailable, .message = "the reply broke off"};
};

struct ServedModel {
  std::string name;
  SharedModel& model;
  const text::Tokenizer* tokenizer = nullptr;  // where the model takes tokens
  int default_tokens = 2048;                   // of a completion whose call names no limit
};

// Fail where the model cannot serve the call, as with a prompt that is too long.
CallResult<std::unique_ptr<ReplyStream>> answer_chat(const ServedModel& served, ChatCall call);
CallResult<std::unique_ptr<ReplyStream>> answer_completion(const ServedModel& served,
                                                           CompletionCall call);

}  // namespace tritonsmith::serve::openai
