#include "serve/jobs/scoring.h"

#include <array>

#include "gym/api/missing_kernel.h"
#include "reward/terms.h"
#include "text/extract.h"

namespace tritonsmith::serve {
namespace {

// One completion, with its kernel as a job.
struct Extracted {
  Kernel kernel;
  LabelledJob labelled;
};

Result<Extracted> extract(const Completion& completion, const Suite& suite,
                          const gym::api::SubmissionLimits& limits) {
  Extracted extracted;
  TRY_ASSIGN(extracted.labelled, job_from_label(completion.label, suite, limits));
  Kernel& kernel = extracted.kernel = text::extract_kernel(completion.text);
  if (kernel.source.size() > limits.source_bytes) {
    kernel.findings.insert(
        kernel.findings.begin(),
        Finding{.rule = "kernel_too_long",
                .severity = Severity::reject,
                .message = fmt::format("the kernel has {} bytes, at most {} are judged",
                                       kernel.source.size(), limits.source_bytes)});
    kernel.source.clear();
  }
  extracted.labelled.submission.job.kernel = kernel.source;
  return extracted;
}

}  // namespace

Scored score_completions(const gym::service::RouteContext& context, const Suite& suite,
                         std::span<const Completion> completions, const Requester& requester) {
  std::vector<Extracted> all;
  std::vector<gym::api::Submission> submissions;
  for (std::size_t i = 0; i < completions.size(); ++i) {
    auto one = extract(completions[i], suite, context.limits);
    if (!one)
      return tl::unexpected(gym::service::error_reply(
          400, "bad_request", one.error().within(fmt::format("label {}", i)).message));
    if (!one->kernel.source.empty()) submissions.push_back(one->labelled.submission);
    all.push_back(*std::move(one));
  }
  auto verdicts = judge_all(context, submissions, requester.submitter, requester.deadline);
  if (!verdicts) return tl::unexpected(retry_later(verdicts.error()));
  std::vector<ScoredCompletion> scored;
  std::size_t judged = 0;
  for (const Extracted& one : all) {
    const gym::api::JudgeJob& job = one.labelled.submission.job;
    Verdict verdict = one.kernel.source.empty()
                          ? gym::api::missing_kernel_verdict(job.task, one.kernel, job.policy)
                          : std::move((*verdicts)[judged++]);
    auto reward =
        reward::score({.kernel = one.kernel, .verdict = verdict}, one.labelled.weights, {});
    CHECK(reward, "a verdict without a reward is no verdict here");
    scored.push_back({.reward = *std::move(reward), .verdict = std::move(verdict)});
  }
  return scored;
}

std::string_view without_end_tokens(std::string_view completion) {
  constexpr std::array<std::string_view, 5> plain = {"</s>", "<eos>", "<pad>", "<end_of_turn>",
                                                     "[PAD]"};
  const auto end_token = [&]() -> std::size_t {
    for (const std::string_view token : plain)
      if (completion.ends_with(token)) return token.size();
    if (!completion.ends_with("|>")) return 0;
    const std::size_t open = completion.rfind("<|");
    constexpr std::size_t longest = 40;
    if (open == std::string_view::npos || completion.size() - open > longest) return 0;
    return completion.size() - open;
  };
  while (true) {
    const std::size_t text_end = completion.find_last_not_of(" \t\r\n");
    if (text_end == std::string_view::npos) return completion;
    const std::string_view whole = completion;
    completion = completion.substr(0, text_end + 1);
    const std::size_t length = end_token();
    if (length == 0) return whole;
    completion.remove_suffix(length);
  }
}

}  // namespace tritonsmith::serve
