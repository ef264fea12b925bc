#include "cli/setup/asking.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "text/unicode.h"

namespace tritonsmith::cli {

void add_asking_options(CLI::App& command, Asking& asking) {
  command
      .add_option("--max-tokens", asking.max_tokens,
                  "Of a completion (default: as the model was trained, else up to 2048)")
      ->check(CLI::Range(1, 1 << 24));
  command
      .add_option("--prompt-style", asking.style,
                  "How the model is asked: auto (as it was trained to be), " +
                      all_names<text::PromptStyle>())
      ->check(CLI::IsMember({"auto", "full", "compact"}));
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

std::string without_code(std::size_t completions, std::string_view greedy) {
  constexpr std::size_t kShown = 600;  // in bytes
  LOG("the greedy completion{}:\n{}", greedy.size() > kShown ? " begins" : "",
      text::repair_utf8(greedy.substr(0, kShown)));
  return fmt::format(
      "none of {} completions held code that can be judged; was the model trained on prompts of "
      "this kind (--prompt-style, --max-tokens; of `write` also --instruction)?",
      completions);
}

int new_tokens(const text::PromptRecord& record, std::int64_t positions) {
  if (record.max_new_tokens > 0) return record.max_new_tokens;
  return static_cast<int>(std::clamp<std::int64_t>(positions / 2, 1, 2048));
}

}  // namespace tritonsmith::cli
