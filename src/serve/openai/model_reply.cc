#include "serve/openai/model_reply.h"

#include <random>

#include "base/rng.h"
#include "generate/stop_strings.h"
#include "serve/openai/choice_stream.h"

namespace tritonsmith::serve::openai {
namespace {

class ModelReply : public ReplyStream {
 public:
  ModelReply(const ServedModel& served, ReplyKind kind, const Call& call)
      : call_(call),
        head_(make_head(kind, call.model)),
        client_(served.model.connect()),
        seed_(call.seed ? *call.seed : std::random_device{}()) {
    if (call_.sampling.max_new_tokens == 0) call_.sampling.max_new_tokens = served.default_tokens;
  }

  generate::SamplingParams sampling() const { return call_.sampling; }
  // The seed and the listener of the next choice.
  std::uint64_t next_seed() const { return Rng(seed_, "serve", choices_.size()).next_u64(); }
  std::function<void(std::string_view)> listener() const {
    if (!call_.is_streamed) return nullptr;
    return [](std::string_view) {};  // makes the pieces come
  }

  // Begins one more choice.
  template <typename Request>
  CallResult<std::uint64_t> begin(Request request) {
    request.id = choices_.size();
    const Status status = client_->submit(std::move(request));
    if (!status && status.error().kind == ErrorKind::input)
      return tl::unexpected(CallError{.message = status.error().message,
                                      .parameter = "max_tokens",
                                      .code = "context_length_exceeded"});
    if (!status) return tl::unexpected(CallError{.status = 503, .message = status.error().message});
    choices_.push_back({.index = static_cast<int>(choices_.size())});
    streams_.emplace_back(call_.sampling.stop);
    return choices_.size() - 1;
  }

  State next(std::string& out, Deadline deadline) override {
    if (call_.is_streamed && !std::exchange(has_begun_, true) && head_.kind == ReplyKind::chat)
      for (const Choice& each : choices_) out += event_text(first_part(head_, each.index));
    for (Deadline until = deadline; finished_ < choices_.size();
         until = Deadline::after(Milliseconds(0))) {
      const auto event = client_->next_event(until);
      if (!event) {
        const State broken = break_off(event.error().message);
        if (call_.is_streamed) out += event_text(to_json(error()));
        return broken;
      }
      if (!*event) return State::more;
      take(**event, out);
    }
    if (call_.is_streamed) {
      if (call_.has_usage) out += event_text(usage_part(head_, usage_));
      out += kStreamEnd;
    } else {
      out += to_line(whole_reply(head_, choices_, usage_));
    }
    return State::done;
  }

 private:
  void take(const ModelEvent& event, std::string& out) {
    Choice& choice = choices_.at(event.id);
    ChoiceStream& stream = streams_.at(event.id);
    if (!event.written) return show(choice, stream.push(event.piece, event.tokens), out);
    const std::vector<TokenText> tokens = token_texts(*event.written);
    const Completion& completion = event.written->completion;
    choice.text = generate::before_any_of(completion.text, call_.sampling.stop);
    choice.reasoning = completion.reasoning;
    choice.finish = completion.finish;
    count(completion.usage, choice);
    ++finished_;
    if (!call_.is_streamed) {
      if (call_.has_logprobs) choice.logprobs = logprobs_of(head_.kind, tokens);
      return;
    }
    show(choice, stream.finish(event.piece, tokens), out);
    if (!choice.reasoning.empty())
      out += event_text(reasoning_part(head_, choice.index, choice.reasoning));
    out += event_text(last_part(head_, choice));
  }

  // Writes a part of the stream, if there is anything in it for this call.
  void show(const Choice& choice, const StreamPart& part, std::string& out) const {
    const bool has_tokens = call_.has_logprobs && !part.tokens.empty();
    if (!call_.is_streamed || (part.text.empty() && !has_tokens)) return;
    Json logprobs;
    if (has_tokens) logprobs = logprobs_of(head_.kind, part.tokens, part.offset);
    out += event_text(text_part(head_, choice.index, part.text, std::move(logprobs)));
  }

  void count(const Usage& used, const Choice& choice) {
    if (choice.index % call_.choices == 0) {  // a prompt counts once for all of its choices
      usage_.prompt_tokens += used.prompt_tokens;
      usage_.cached_prompt_tokens += used.cached_prompt_tokens;
    }
    usage_.completion_tokens += used.completion_tokens;
    usage_.reasoning_tokens += used.reasoning_tokens;
  }

  Call call_;
  ReplyHead head_;
  std::unique_ptr<ModelClient> client_;
  std::uint64_t seed_;
  std::vector<Choice> choices_;
  std::vector<ChoiceStream> streams_;
  std::size_t finished_ = 0;
  Usage usage_;
  bool has_begun_ = false;
};

}  // namespace

CallResult<std::unique_ptr<ReplyStream>> answer_chat(const ServedModel& served, ChatCall call) {
  if (call.has_logprobs && !served.model.takes_tokens())
    return tl::unexpected(CallError{
        .message =
            fmt::format("'{}' is a model behind another server; its tokens are not known, so leave "
                        "'logprobs' out",
                        served.name),
        .parameter = "logprobs"});
  auto reply = std::make_unique<ModelReply>(served, ReplyKind::chat, call);
  for (int i = 0; i < call.choices; ++i) {
    const auto begun = reply->begin(generate::WriteRequest{.messages = call.messages,
                                                           .sampling = reply->sampling(),
                                                           .seed = reply->next_seed(),
                                                           .on_text = reply->listener()});
    if (!begun) return tl::unexpected(begun.error());
  }
  return reply;
}

CallResult<std::unique_ptr<ReplyStream>> answer_completion(const ServedModel& served,
                                                           CompletionCall call) {
  if (!served.model.takes_tokens())
    return tl::unexpected(CallError{.status = 404,
                                    .message = fmt::format("'{}' is a model behind another server; "
                                                           "ask /v1/chat/completions",
                                                           served.name),
                                    .code = "unsupported_endpoint"});
  auto reply = std::make_unique<ModelReply>(served, ReplyKind::completion, call);
  for (const Prompt& prompt : call.prompts) {
    std::vector<TokenId> ids;
    if (const auto* text = std::get_if<std::string>(&prompt))
      ids = served.tokenizer->encode(*text);
    else
      ids = std::get<std::vector<TokenId>>(prompt);
    for (const TokenId id : ids)
      if (static_cast<std::size_t>(id) >= served.tokenizer->id_limit())
        return tl::unexpected(CallError{
            .message = fmt::format("the prompt has the token {}, and the model's last one is {}",
                                   id, served.tokenizer->id_limit() - 1),
            .parameter = "prompt"});
    for (int i = 0; i < call.choices; ++i) {
      const auto begun = reply->begin(generate::TokenRequest{.prompt = ids,
                                                             .sampling = reply->sampling(),
                                                             .seed = reply->next_seed(),
                                                             .on_text = reply->listener()});
      if (!begun) return tl::unexpected(begun.error());
    }
  }
  return reply;
}

}  // namespace tritonsmith::serve::openai
