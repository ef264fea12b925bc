#include "cli/setup/prompt_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/setup/remote_writer.h"
#include "text/feedback.h"

namespace tritonsmith::cli {
namespace {

constexpr std::int64_t kOwnTokens = 2048, kRemoteTokens = 8192;  // of a completion

}  // namespace

void add_prompt_options(CLI::App& command, PromptOptions& prompt_options) {
  command
      .add_option(
          "--max-tokens", prompt_options.max_tokens,
          "The most tokens of a completion (default: as the model was trained, else up to 2048)")
      ->check(CLI::Range(1, 1 << 24));
  command
      .add_option("--prompt-style", prompt_options.style,
                  "How the model is asked: auto (as it was trained to be), " +
                      all_names<text::PromptStyle>())
      ->check(CLI::IsMember({"auto", "full", "compact"}));
}

Result<text::PromptRecord> prompt_record_of(const PromptOptions& prompt_options,
                                            const std::string& model) {
  text::PromptRecord record;
  if (!is_remote(model)) {
    TRY_ASSIGN(const auto kept, text::read_prompt_record(model));
    record = kept.value_or(record);
  }
  if (prompt_options.style != "auto") {
    TRY_ASSIGN(record.prompt.style, enum_from_name<text::PromptStyle>(prompt_options.style));
  }
  if (prompt_options.max_tokens > 0) record.max_new_tokens = prompt_options.max_tokens;
  return record;
}

std::string without_code(const CodelessAnswers& answers) {
  constexpr std::size_t kShown = 80;  // in bytes
  const std::string all =
      answers.count == 1
          ? "the model's answer holds no code that can be judged"
          : fmt::format("none of {} answers holds code that can be judged", answers.count);
  const std::string cause =
      answers.cut_off > 0
          ? fmt::format(
                ", and {} cut off at the limit of tokens: raise --max-tokens, or "
                "ask as the model was trained (--prompt-style)",
                answers.cut_off == answers.count ? "each was"
                                                 : fmt::format("{} were", answers.cut_off))
          : ": take a model that writes code, or ask as it was trained (--prompt-style; `write` "
            "also has --instruction)";
  const std::string where = answers.kept.empty()
                                ? "--records DIR keeps the whole answers"
                                : fmt::format("{} has the whole answers", answers.kept);
  const std::string begins =
      answers.first.empty()
          ? "The first one is empty"
          : fmt::format("The first one begins \"{}\"", text::one_line(answers.first, kShown));
  return fmt::format("{}{}. {}; {}.", all, cause, begins, where);
}

int new_tokens(const text::PromptRecord& record, std::optional<std::int64_t> positions,
               const std::string& model) {
  if (record.max_new_tokens > 0) return record.max_new_tokens;
  const std::int64_t most = is_remote(model) ? kRemoteTokens : kOwnTokens;
  return static_cast<int>(positions ? std::clamp<std::int64_t>(*positions / 2, 1, most) : most);
}

}  // namespace tritonsmith::cli
