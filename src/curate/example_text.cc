#include "curate/example_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "curate/normal_form.h"
#include "text/extract.h"

namespace tritonsmith::curate {
namespace {

using text::Message;
using text::Role;

text::PromptConfig own_prompt(const Query& query) {
  text::PromptConfig config{.style = query.style};
  if (query.prompt == PromptChoice::implementation) config.kind = text::PromptKind::implementation;
  if (query.prompt == PromptChoice::conversion) config.kind = text::PromptKind::conversion;
  return config;
}

bool is_as_asked(const Query& query, const Conversation& conversation) {
  return query.prompt == PromptChoice::asked && !conversation.messages.empty();
}

std::string in_block(const std::string& code) {
  return fmt::format("```python\n{}{}```\n", code, code.ends_with('\n') ? "" : "\n");
}

}  // namespace

std::string reasoning_of(const Answer& answer) {
  if (!answer.reasoning.empty()) return answer.reasoning;
  const Kernel kernel = text::extract_kernel(answer.text);
  return answer.text.substr(kernel.thinking_bytes.begin,
                            kernel.thinking_bytes.end - kernel.thinking_bytes.begin);
}

std::string completion_text(const Answer& answer, Reasoning reasoning) {
  if (reasoning == Reasoning::none)
    return answer.kernel.empty() ? answer.text
                                 : "<answer>\n" + in_block(answer.kernel) + "</answer>";
  if (reasoning == Reasoning::answer || answer.reasoning.empty()) return answer.text;
  return fmt::format("<thinking>\n{}\n</thinking>\n{}", answer.reasoning, answer.text);
}

std::vector<Message> first_prompt(const Task& task, const Conversation& conversation,
                                  const Query& query) {
  if (is_as_asked(query, conversation)) return conversation.messages;
  return text::prompt_for(task, own_prompt(query));
}

std::optional<text::PromptRecord> prompt_record(const Query& query,
                                                const Conversation& conversation) {
  if (is_as_asked(query, conversation)) return std::nullopt;
  return text::PromptRecord{.prompt = own_prompt(query)};
}

void add_turn(const Answer& answer, Reasoning reasoning, std::vector<Message>& messages) {
  messages.push_back({Role::assistant, completion_text(answer, reasoning)});
  messages.push_back({Role::user, answer.feedback});
}

std::vector<Message> improvement_prompt(const Task& task, const Answer& slower,
                                        text::PromptStyle style) {
  auto messages = text::prompt_for(task, {.kind = text::PromptKind::conversion, .style = style});
  const std::string speed =
      slower.speedup ? fmt::format(" It is {:.2f} times as fast as PyTorch.", *slower.speedup) : "";
  messages.back().content += fmt::format("\nThis kernel is correct.{} Write a faster one.\n\n{}",
                                         speed, in_block(slower.kernel));
  return messages;
}

Structure structure_of(const std::string& kernel) {
  constexpr std::size_t kRun = 5;
  const std::string form = normal_form(kernel, Numbers::ignore);
  std::vector<std::size_t> begins = {0};
  for (std::size_t i = 0; i < form.size(); ++i)
    if (form[i] == ' ') begins.push_back(i + 1);
  Structure structure;
  for (std::size_t i = 0; i + kRun < begins.size(); ++i)
    structure.insert(std::hash<std::string_view>()(
        std::string_view(form).substr(begins[i], begins[i + kRun] - begins[i])));
  return structure;
}

double likeness(const Structure& a, const Structure& b) {
  std::vector<std::size_t> common;
  std::ranges::set_intersection(a, b, std::back_inserter(common));
  const std::size_t all = a.size() + b.size() - common.size();
  return all == 0 ? 1 : static_cast<double>(common.size()) / static_cast<double>(all);
}

}  // namespace tritonsmith::curate
