// PromptForm: how a teacher is asked for the kernel of a task. implementation and conversion are
// the two kinds of KernelTune's data, in full style (text/prompt.h). compact is our own compact
// style, for a teacher that was trained on it here. kernelllm is the form of KernelLLM: one solved
// example, then the module, and code alone as the answer. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/enum_names.h"
#include "data/task.h"
#include "text/chat.h"

namespace tritonsmith::distil {

enum class PromptForm { implementation, conversion, compact, kernelllm };

// Returns nothing for an implementation prompt if the task has no instruction.
std::optional<std::vector<text::Message>> teacher_prompt(const Task& task, PromptForm form,
                                                         const std::string& system);

}  // namespace tritonsmith::distil

template <>
inline constexpr auto tritonsmith::enum_names<tritonsmith::distil::PromptForm> =
    tritonsmith::names<tritonsmith::distil::PromptForm>(
        {{tritonsmith::distil::PromptForm::implementation, "implementation"},
         {tritonsmith::distil::PromptForm::conversion, "conversion"},
         {tritonsmith::distil::PromptForm::compact, "compact"},
         {tritonsmith::distil::PromptForm::kernelllm, "kernelllm"}});
