// Asking: the form of the prompts of `eval` and `write`. The options decide first, then the model's
// prompt.json from its training. The default is the full prompt, with 2,048 tokens or half of the
// model's positions. A remote model, which may reason at length, gets 8,192 tokens.
#pragma once

#include <optional>
#include <string>

#include "cli/call/command.h"
#include "text/prompt_record.h"

namespace tritonsmith::cli {

struct Asking {
  std::string style = "auto";
  int max_tokens = 0;  // 0: the default above
};

void add_asking_options(CLI::App& command, Asking& asking);

// Said where no completion held code: `greedy` is the first one, and its beginning is logged.
// "none of 3 completions held code that can be judged; was the model ...?"
std::string without_code(std::size_t completions, std::string_view greedy);

// `model` is a directory or a remote model. The record's max_new_tokens may still be 0. Fails when
// the directory's prompt.json is damaged.
Result<text::PromptRecord> asked_as(const Asking& asking, const std::string& model);

// `positions` is the model's number of positions, where it is known.
int new_tokens(const text::PromptRecord& record, std::optional<std::int64_t> positions,
               const std::string& model);

}  // namespace tritonsmith::cli
