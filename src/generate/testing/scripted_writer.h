// ScriptedWriter: a Writer without tokens, whose texts a test's function writes. It stands for a
// remote model. The requests are answered in the order in which they came.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <utility>

#include "generate/writer.h"

namespace tritonsmith::generate {

class ScriptedWriter : public Writer {
 public:
  using Write = std::function<std::string(const WriteRequest&)>;
  explicit ScriptedWriter(Write write) : write_(std::move(write)) {}

  Status submit(WriteRequest request) override {
    requests_.push_back(std::move(request));
    return ok();
  }

  Result<std::optional<Written>> next_by(Deadline) override {
    if (requests_.empty()) return std::optional<Written>();
    const WriteRequest request = std::move(requests_.front());
    requests_.pop_front();
    Written written{.id = request.id, .prompt = text::to_text(request.messages)};
    written.completion.text = write_(request);
    // Words instead of tokens.
    const auto words = [](const std::string& text) {
      return 1 + std::count(text.begin(), text.end(), ' ');
    };
    written.completion.usage = {.prompt_tokens = words(written.prompt),
                                .completion_tokens = words(written.completion.text)};
    if (request.on_text) request.on_text(written.completion.text);
    return std::optional(std::move(written));
  }

  void cancel(std::uint64_t id) override {
    std::erase_if(requests_, [id](const WriteRequest& request) { return request.id == id; });
  }

 private:
  Write write_;
  std::deque<WriteRequest> requests_;
};

}  // namespace tritonsmith::generate
