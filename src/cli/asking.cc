#include "cli/asking.h"

#include <algorithm>

namespace tritonsmith::cli {

void add_asking_options(CLI::App& command, Asking& asking) {
  command
      .add_option("--max-tokens", asking.max_tokens,
                  "Of a completion (default: as the model was trained, else up to 2048)")
      ->check(CLI::Range(1, 1 << 24));
  command
      .add_option("--prompt-style", asking.style,
                  "auto (as the model was trained), " + all_names<text::PromptStyle>())
      ->capture_default_str();
}

Result<text::PromptRecord> asked_as(const Asking& asking, const std::filesystem::path& model) {
  TRY_ASSIGN(const auto learnt, text::read_prompt_record(model));
  text::PromptRecord record = learnt.value_or(text::PromptRecord{});
  if (asking.style != "auto") {
    TRY_ASSIGN(record.prompt.style, enum_from_name<text::PromptStyle>(asking.style));
  }
  if (asking.max_tokens > 0) record.max_new_tokens = asking.max_tokens;
  return record;
}

int new_tokens(const text::PromptRecord& record, std::int64_t positions) {
  if (record.max_new_tokens > 0) return record.max_new_tokens;
  return static_cast<int>(std::clamp<std::int64_t>(positions / 2, 1, 2048));
}

}  // namespace tritonsmith::cli
