#include "serve/assistant/search_run.h"

#include <algorithm>

#include "base/rng.h"
#include "eval/evaluate.h"

namespace tritonsmith::serve::assistant {
namespace {

constexpr Milliseconds kLook{100};

// Ends every wait soon after the search is stopped or its time is up.
class Stopper {
 public:
  Stopper(const RunEvents& events, double seconds)
      : events_(events), end_(Deadline::in_seconds(seconds)) {}
  bool is_over() const { return end_.passed() || events_.is_stopped(); }

  // Calls `wait` with short deadlines until it returns something. Fails when the search is over.
  template <typename Wait>
  auto in_steps(Deadline deadline, Wait wait) const -> decltype(wait(deadline)) {
    for (;;) {
      if (is_over()) return fail("the search is over");
      const Deadline step = Deadline::after(kLook);
      const Deadline until = deadline.at() < step.at() ? deadline : step;
      auto result = wait(until);
      if (!result || *result || deadline.passed() || !until.passed()) return result;
    }
  }

 private:
  const RunEvents& events_;
  Deadline end_;
};

class StoppableWriter : public generate::Writer {
 public:
  StoppableWriter(openai::SharedModel& model, const Stopper& stopper)
      : client_(model.connect()), stopper_(stopper) {}
  Status submit(generate::WriteRequest request) override {
    return client_->submit(std::move(request));
  }
  Result<std::optional<generate::Written>> next_by(Deadline deadline) override {
    return stopper_.in_steps(deadline, [this](Deadline until) { return client_->next_by(until); });
  }
  void cancel(std::uint64_t id) override { client_->cancel(id); }
  bool has_room(std::span<const text::Message> messages,
                const generate::SamplingParams& sampling) const override {
    return client_->has_room(messages, sampling);
  }

 private:
  std::unique_ptr<openai::ModelClient> client_;
  const Stopper& stopper_;
};

class StoppableJudge : public gym::api::Judge {
 public:
  StoppableJudge(SharedJudge& judge, const Stopper& stopper)
      : client_(judge.connect()), stopper_(stopper) {}
  Status submit(gym::api::JudgeJob job) override { return client_->submit(std::move(job)); }
  Result<std::optional<gym::api::Judged>> next(Deadline deadline) override {
    return stopper_.in_steps(deadline, [this](Deadline until) { return client_->next(until); });
  }
  void cancel(std::uint64_t id) override { client_->cancel(id); }

 private:
  std::unique_ptr<JudgeClient> client_;
  const Stopper& stopper_;
};

Task task_of(const SearchOrder& order) {
  return {.id = order.title.empty() ? "module" : order.title,
          .suite = "serve",
          .source = order.source,
          .scale = TaskScale::gpu};
}

Status judge_kernel(const SearchOrder& order, gym::api::Judge& judge, const RunEvents& events) {
  TRY(judge.submit({.task = task_of(order),
                    .kernel = order.kernel,
                    .policy = order.policy,
                    .backend = order.backend,
                    .trials = order.trials}));
  TRY_ASSIGN(auto judged, judge.next(Deadline::never()));
  if (!judged) return fail_by_fault("the gym lost the kernel");
  return events.on_attempt({.kernel = order.kernel, .verdict = std::move(judged->verdict)});
}

Status write_kernels(const SearchOrder& order, const ModelUse& use, episode::EpisodeParts parts,
                     const RunEvents& events) {
  const Task task = task_of(order);
  episode::Episodes episodes({.turns = {.limit = order.turns, .end_when = episode::EndWhen::fast},
                              .policy = order.policy,
                              .backend = order.backend,
                              .trials = order.trials,
                              .feedback = use.feedback},
                             std::move(parts));
  for (int i = 0; i < order.conversations; ++i) {
    const auto id = static_cast<std::uint64_t>(i);
    TRY(episodes.begin({.id = id,
                        .task = &task,
                        .messages = use.prompt(task),
                        .sampling = {.temperature = i == 0 ? 0 : order.temperature,
                                     .max_new_tokens = use.max_new_tokens},
                        .seed = Rng(order.seed, "write", id).next_u64()}));
  }
  for (;;) {
    TRY_ASSIGN(auto turn, episodes.next());
    if (!turn) return ok();
    const bool is_accepted = turn->verdict.accepted;
    TRY(events.on_attempt({.conversation = static_cast<int>(turn->episode),
                           .turn = turn->turn,
                           .text = std::move(turn->completion.text),
                           .kernel = std::move(turn->kernel.source),
                           .verdict = std::move(turn->verdict),
                           .tokens = turn->completion.usage.completion_tokens}));
    if (is_accepted && order.enough == Enough::first) return ok();
  }
}

}  // namespace

Status run_search(const SearchOrder& order, const ModelUse& use, SharedJudge& shared_judge,
                  const RunEvents& events) {
  const Stopper stopper(events, order.seconds);
  StoppableJudge judge(shared_judge, stopper);
  Status status;
  if (order.kind == SearchKind::judge) {
    status = judge_kernel(order, judge, events);
  } else {
    StoppableWriter writer(use.model, stopper);
    gym::api::FaultStreak faults(std::min(gym::api::kFaultsInARow, order.conversations));
    status = write_kernels(
        order, use,
        {.writer = writer,
         .judge = judge,
         .faults = faults,
         .score = [](const Kernel&, const Verdict& verdict) { return eval::worth_of(verdict); },
         .observe = [&](const episode::PhaseTime& phase) { events.on_phase(phase.phase); }},
        events);
  }
  if (!status && stopper.is_over()) return ok();
  return status;
}

}  // namespace tritonsmith::serve::assistant
