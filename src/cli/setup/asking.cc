#include "cli/setup/asking.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "cli/setup/remote_author.h"
#include "text/unicode.h"

namespace tritonsmith::cli {
namespace {

constexpr std::int64_t kOwnTokens = 2048, kRemoteTokens = 8192;  // of a completion

}  // namespace

void add_asking_options(CLI::App& command, Asking& asking) {
  command
      .add_option(
          "--max-tokens", asking.max_tokens,
          "The most tokens of a completion (default: as the model was trained, else up to 2048)")
      ->check(CLI::Range(1, 1 << 24));
  command
      .add_option("--prompt-style", asking.style,
                  "How the model is asked: auto (as it was trained to be), " +
                      all_names<text::PromptStyle>())
      ->check(CLI::IsMember({"auto", "full", "compact"}));
}

Result<text::PromptRecord> asked_as(const Asking& asking, const std::string& model) {
  text::PromptRecord record;
  if (!is_remote(model)) {
    TRY_ASSIGN(const auto learnt, text::read_prompt_record(model));
    record = learnt.value_or(record);
  }
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

int new_tokens(const text::PromptRecord& record, std::optional<std::int64_t> positions,
               const std::string& model) {
  if (record.max_new_tokens > 0) return record.max_new_tokens;
  const std::int64_t most = is_remote(model) ? kRemoteTokens : kOwnTokens;
  return static_cast<int>(positions ? std::clamp<std::int64_t>(*positions / 2, 1, most) : most);
}

}  // namespace tritonsmith::cli
