#include "verifier/verifier.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/hash.h"
#include "base/rng.h"

namespace tritonsmith::verifier {
namespace {

// More than half.
bool is_majority(int yes, int votes) { return 2 * yes > votes; }

std::uint64_t seed_of(int number) {
  return Rng(1, "verifier vote", static_cast<std::uint64_t>(number)).next_u64();
}

void add(const Usage& usage, Usage& sum) {
  sum.prompt_tokens += usage.prompt_tokens;
  sum.cached_prompt_tokens += usage.cached_prompt_tokens;
  sum.completion_tokens += usage.completion_tokens;
  sum.reasoning_tokens += usage.reasoning_tokens;
}

}  // namespace

bool Opinion::objects() const {
  return std::ranges::any_of(yes, [this](int each) { return is_majority(each, votes); });
}

std::string VerifierWork::to_text() const {
  std::string text =
      fmt::format("{} votes on {} kernels, {} requests: {} prompt tokens, {} completion tokens",
                  votes, kernels, asked, usage.prompt_tokens, usage.completion_tokens);
  if (cost > 0) text += fmt::format(", cost {:.4f}", cost);
  return text;
}

Result<std::unique_ptr<Verifier>> Verifier::open(const VerifierConfig& config,
                                                 VerifierParts parts) {
  TRY_ASSIGN(auto store, VoteStore::open(parts.store));
  return std::unique_ptr<Verifier>(new Verifier(config, std::move(parts), std::move(store)));
}

Status Verifier::submit(const Subject& subject) {
  const bool is_new = subjects_.emplace(subject.id, Open{.opinion = {.id = subject.id}}).second;
  CHECK(is_new, "two subjects {}", subject.id);
  ++work_.kernels;
  const auto messages = messages_about(*subject.task, subject.kernel, subject.policy);
  for (int number = 0; number < config_.votes; ++number) TRY(ask(subject.id, messages, number));
  return ok();
}

Status Verifier::ask(std::uint64_t subject, const std::vector<text::Message>& messages,
                     int number) {
  const generate::SamplingParams sampling{.temperature = config_.temperature,
                                          .max_new_tokens = config_.max_new_tokens};
  // Too long for the model: nothing is asked, and nothing is stored.
  if (!parts_.writer.has_room(messages, sampling)) {
    count(subject, "");
    return ok();
  }
  const std::string key =
      content_key(fmt::format("{}\n{}\n{}\n{}\n{}", parts_.model, config_.temperature,
                              config_.max_new_tokens, number, text::to_text(messages)));
  TRY_ASSIGN(const auto stored, store_->find(key));
  if (stored) {
    count(subject, stored->text);
    return ok();
  }
  if (const auto at = asked_.find(key); at != asked_.end()) {
    requests_.at(at->second).subjects.push_back(subject);
    return ok();
  }
  const std::uint64_t id = ++last_request_;
  asked_[key] = id;
  requests_[id] = {.key = key, .subjects = {subject}};
  return parts_.writer.submit(
      {.id = id, .messages = messages, .sampling = sampling, .seed = seed_of(number)});
}

Result<std::optional<Opinion>> Verifier::next(Deadline deadline) {
  while (complete_.empty()) {
    if (subjects_.empty()) return std::optional<Opinion>();
    TRY_ASSIGN(auto written, parts_.writer.next_by(deadline));
    if (written) {
      TRY(take(*std::move(written)));
    } else if (deadline.passed()) {
      return std::optional<Opinion>();
    } else {
      return fail_by_fault("the verifier's model lost {} answers", requests_.size());
    }
  }
  return std::optional(finish(*complete_.begin()));
}

Status Verifier::take(generate::Written written) {
  const auto at = requests_.find(written.id);
  if (at == requests_.end()) return ok();
  const Request request = std::move(at->second);
  requests_.erase(at);
  asked_.erase(request.key);
  const Completion& completion = written.completion;
  TRY(store_->put(request.key, {.text = completion.text, .usage = completion.usage}));
  ++work_.asked;
  add(completion.usage, work_.usage);
  if (parts_.cost) work_.cost += parts_.cost(completion.usage);
  for (const std::uint64_t subject : request.subjects) count(subject, completion.text);
  return ok();
}

void Verifier::count(std::uint64_t subject, const std::string& text) {
  const auto at = subjects_.find(subject);
  if (at == subjects_.end()) return;  // it was cancelled
  auto& [opinion, reasons] = at->second;
  ++opinion.votes;
  ++work_.votes;
  if (const auto answer = read_answer(text)) {
    for (std::size_t i = 0; i < kQuestions; ++i) {
      if (!answer->yes[i]) continue;
      if (++opinion.yes[i] == 1) reasons[i] = answer->reason;
    }
  } else {
    ++opinion.unreadable;
  }
  if (opinion.votes == config_.votes) complete_.insert(subject);
}

Opinion Verifier::finish(std::uint64_t subject) {
  Open open = std::move(subjects_.at(subject));
  subjects_.erase(subject);
  complete_.erase(subject);
  Opinion& opinion = open.opinion;
  const auto add_finding = [&](std::string rule, Severity severity, std::string message) {
    opinion.findings.push_back(
        {.rule = std::move(rule), .severity = severity, .message = std::move(message)});
  };
  for (const auto& [question, name] : enum_names<Question>) {
    const auto i = static_cast<std::size_t>(question);
    if (!is_majority(opinion.yes[i], opinion.votes)) continue;
    add_finding(rule_of(question), severity_of(config_.severity),
                fmt::format("{} of {} votes of {}: {}. {}", opinion.yes[i], opinion.votes,
                            parts_.model, claim_of(question), open.reasons[i]));
  }
  if (opinion.unreadable == opinion.votes)
    add_finding("verifier_silent", Severity::note,
                fmt::format("none of {} answers of {} can be read as votes; it may need more "
                            "max_new_tokens, or a longer context",
                            opinion.votes, parts_.model));
  return std::move(opinion);
}

void Verifier::cancel(std::uint64_t id) {
  subjects_.erase(id);
  complete_.erase(id);
}

Verdict without_opinion(Verdict verdict) {
  if (std::erase_if(verdict.findings, is_verifiers) == 0) return verdict;
  verdict.accepted = verdict.correct && !has_rejecting_finding(verdict);
  return verdict;
}

bool is_asked_about(const Verdict& verdict, Scope scope) {
  if (scope == Scope::accepted) return verdict.accepted;
  const bool is_about_kernel =
      !verdict.error || (verdict.error->error_class != ErrorClass::task_failed &&
                         verdict.error->error_class != ErrorClass::too_large_to_evaluate);
  return verdict.fault != Fault::infrastructure && verdict.stage >= Stage::parsed &&
         is_about_kernel;
}

void add_opinion(const Opinion& opinion, Verdict& verdict) {
  verdict = without_opinion(std::move(verdict));
  verdict.findings.insert(verdict.findings.end(), opinion.findings.begin(), opinion.findings.end());
  verdict.accepted = verdict.accepted && !has_rejecting_finding(verdict);
}

Result<std::vector<Opinion>> review_all(Verifier& verifier, std::vector<Subject> subjects,
                                        const std::function<void(std::size_t)>& tell) {
  std::vector<Opinion> opinions(subjects.size());
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    subjects[i].id = i;
    TRY(verifier.submit(subjects[i]));
  }
  for (std::size_t done = 0; done < opinions.size(); ++done) {
    TRY_ASSIGN(auto opinion, verifier.next(Deadline::never()));
    CHECK(opinion && opinion->id < opinions.size(), "the verifier lost a subject");
    const std::uint64_t id = opinion->id;
    opinions[id] = *std::move(opinion);
    if (tell) tell(done + 1);
  }
  return opinions;
}

}  // namespace tritonsmith::verifier
