// Writes the messages that ask a model for the kernel of a task. There are two kinds, as in
// KernelTune's data sets:
//   implementation  "write a kernel for this operation"; it shows the task's instruction and the
//                   shapes of its inputs
//   conversion      "turn this module into a Triton kernel"; it shows the module's source
// There are two styles:
//   full            explains the interface and the form of the answer
//   compact         shows only what differs between tasks; small models that are trained here learn
//                   the rest from examples
// The functions are pure: equal tasks and configs give equal prompts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/config.h"
#include "data/task.h"
#include "text/chat.h"

namespace tritonsmith::text {

// automatic: implementation if the task has an instruction, else conversion.
enum class PromptKind { automatic, implementation, conversion };
enum class PromptStyle { full, compact };

}  // namespace tritonsmith::text

template <>
inline constexpr auto tritonsmith::enum_names<tritonsmith::text::PromptKind> =
    tritonsmith::names<tritonsmith::text::PromptKind>(
        {{tritonsmith::text::PromptKind::automatic, "automatic"},
         {tritonsmith::text::PromptKind::implementation, "implementation"},
         {tritonsmith::text::PromptKind::conversion, "conversion"}});
template <>
inline constexpr auto tritonsmith::enum_names<tritonsmith::text::PromptStyle> =
    tritonsmith::names<tritonsmith::text::PromptStyle>(
        {{tritonsmith::text::PromptStyle::full, "full"},
         {tritonsmith::text::PromptStyle::compact, "compact"}});

namespace tritonsmith::text {

struct PromptConfig {
  PromptKind kind = PromptKind::automatic;
  PromptStyle style = PromptStyle::full;
  std::string system;  // empty: no system message
  static Fields<PromptConfig> fields();
  bool operator==(const PromptConfig&) const = default;
};

// Returns the messages for a task. A task without an instruction always gets a conversion prompt.
std::vector<Message> prompt_for(const Task& task, const PromptConfig& config);

// Returns get_inputs, get_init_inputs and the constants beside them. It finds them line by line and
// does not parse, because the source may be any text.
std::string input_facts(std::string_view source);
// Returns the source without imports, comments and empty lines.
std::string without_padding(std::string_view source);

}  // namespace tritonsmith::text
