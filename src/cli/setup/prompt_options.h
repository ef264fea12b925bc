// PromptOptions: the form of the prompts of `eval` and `write`. The options decide first, then the
// model's prompt.json from its training. The default is the full prompt, with 2,048 tokens or half
// of the model's positions. A remote model, which may reason at length, gets 8,192 tokens.
#pragma once

#include <optional>
#include <string>

#include "cli/call/command.h"
#include "text/prompt_record.h"

namespace tritonsmith::cli {

struct PromptOptions {
  std::string style = "auto";
  int max_tokens = 0;  // 0: the default above
};

void add_prompt_options(CLI::App& command, PromptOptions& prompt_options);

// The answers of a model where none of them holds code.
struct CodelessAnswers {
  std::size_t count = 0;
  std::size_t cut_off = 0;  // at the limit of tokens
  std::string first;        // the text of the first answer
  std::string kept;         // the file that has them all; empty: none has
};

// Says what is wrong, what to do, how the first answer begins, and where all of them are.
std::string without_code(const CodelessAnswers& answers);

// `model` is a directory or a remote model. The record's max_new_tokens may still be 0. Fails when
// the directory's prompt.json is damaged.
Result<text::PromptRecord> prompt_record_of(const PromptOptions& prompt_options,
                                            const std::string& model);

// `positions` is the model's number of positions, where it is known.
int new_tokens(const text::PromptRecord& record, std::optional<std::int64_t> positions,
               const std::string& model);

}  // namespace tritonsmith::cli
