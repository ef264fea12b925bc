// Asking: how `eval` and `write` ask a model: as the options say; else as it was asked while it
// learnt (its prompt.json); else by the full prompt, for 2,048 tokens or half of its positions.
#pragma once

#include <filesystem>
#include <string>

#include "cli/command.h"
#include "text/prompt_record.h"

namespace tritonsmith::cli {

struct Asking {
  std::string style = "auto";
  int max_tokens = 0;  // 0: see above
};

void add_asking_options(CLI::App& command, Asking& asking);

// Said where no completion held code: `greedy` is the first one, and its beginning is logged.
// "none of 3 completions held code that can be judged; was the model ...?"
std::string without_code(std::size_t completions, std::string_view greedy);

// Its max_new_tokens may still be 0. Fails when the directory's prompt.json is damaged.
Result<text::PromptRecord> asked_as(const Asking& asking, const std::filesystem::path& model);

// `positions`: those that the model has.
int new_tokens(const text::PromptRecord& record, std::int64_t positions);

}  // namespace tritonsmith::cli
