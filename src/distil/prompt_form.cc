#include "distil/prompt_form.h"

#include "text/example_prompt.h"
#include "text/prompt.h"

namespace tritonsmith::distil {

using text::Message;
using text::Role;

std::optional<std::vector<Message>> teacher_prompt(const Task& task, PromptForm form,
                                                   const std::string& system) {
  using enum text::PromptKind;
  switch (form) {
    case PromptForm::implementation:
      if (task.instruction.empty()) return std::nullopt;
      return text::prompt_for(task, {.kind = implementation, .system = system});
    case PromptForm::conversion:
      return text::prompt_for(task, {.kind = conversion, .system = system});
    case PromptForm::compact:
      return text::prompt_for(task, {.style = text::PromptStyle::compact, .system = system});
    case PromptForm::kernelllm:
      break;
  }
  std::vector<Message> messages;
  if (!system.empty()) messages.push_back({Role::system, system});
  messages.push_back({Role::user, text::prompt_with_example(task.source)});
  return messages;
}

}  // namespace tritonsmith::distil
