// Asks the questions about a kernel: it writes the prompt and reads the model's answer. The
// questions are those of TritonRL's functionality verifier (arXiv 2510.17891, section on verifiers
// and appendix H), in words of ours: does the kernel do the module's work itself, or does it only
// look so? Pure functions. The kernel and the answer are hostile text.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/task.h"
#include "data/verdict.h"
#include "text/chat.h"

namespace tritonsmith::verifier {

enum class Question { torch_work, hard_coded, trivial_kernel, missing_work };
inline constexpr std::size_t kQuestions = 4;

// The rule of the finding that a yes makes: "verifier_torch_work".
std::string rule_of(Question question);
// Says what a yes means: "PyTorch computes part of the module's work".
std::string_view claim_of(Question question);
// Says whether a verifier made the finding.
bool is_verifiers(const Finding& finding);

// Returns the question to the model. The kernel has no comments and docstrings, and stands between
// markers that it cannot know.
std::vector<text::Message> messages_about(const Task& task, const std::string& kernel,
                                          Policy policy);

struct Answer {
  std::array<bool, kQuestions> yes{};
  std::string reason;  // one line, shortened
};

// Reads the last JSON object of the text that answers all questions. Nothing if there is none.
std::optional<Answer> read_answer(std::string_view text);

}  // namespace tritonsmith::verifier

template <>
inline constexpr auto tritonsmith::enum_names<tritonsmith::verifier::Question> =
    tritonsmith::names<tritonsmith::verifier::Question>(
        {{tritonsmith::verifier::Question::torch_work, "torch_work"},
         {tritonsmith::verifier::Question::hard_coded, "hard_coded"},
         {tritonsmith::verifier::Question::trivial_kernel, "trivial_kernel"},
         {tritonsmith::verifier::Question::missing_work, "missing_work"}});
