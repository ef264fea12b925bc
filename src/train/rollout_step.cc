#include "train/rollout_step.h"

#include "base/rng.h"
#include "gym/client/missing_kernel.h"
#include "text/extract.h"
#include "text/stream_decoder.h"

namespace tritonsmith::train {
namespace {

std::span<const TokenId> without_stop_token(const Completion& completion) {
  const std::span<const TokenId> tokens = completion.tokens;
  const bool has_one = completion.finish == FinishReason::stop && !tokens.empty();
  return has_one ? tokens.first(tokens.size() - 1) : tokens;
}

class Rollout {
 public:
  Rollout(const std::vector<Prompted>& prompts, const RolloutOptions& options,
          const RolloutParts& parts)
      : prompts_(prompts), options_(options), parts_(parts) {
    experience_.samples.resize(prompts.size() * static_cast<std::size_t>(options.samples));
  }

  Result<Experience> run() {
    const Stopwatch watch;
    TRY(request_all());
    TRY(generate());
    experience_.generate_seconds = watch.seconds();
    TRY(await_verdicts());
    experience_.wait_seconds = watch.seconds() - experience_.generate_seconds;
    return std::move(experience_);
  }

 private:
  std::size_t total() const { return experience_.samples.size(); }
  // Ids differ between the steps of a run too: a late verdict of an earlier one is no confusion.
  std::uint64_t id_of(std::size_t number) const {
    return static_cast<std::uint64_t>(options_.step) * total() + number;
  }
  std::optional<std::size_t> number_of(std::uint64_t id) const {
    const std::uint64_t first = id_of(0);
    if (id < first || id >= first + total()) return std::nullopt;
    return static_cast<std::size_t>(id - first);
  }
  const Prompted& prompt_of(std::size_t number) const {
    return prompts_[number / static_cast<std::size_t>(options_.samples)];
  }

  Status request_all() {
    for (std::size_t number = 0; number < total(); ++number)
      TRY_WITHIN(prompt_of(number).task->id,
                 parts_.generator.submit(
                     {.id = id_of(number),
                      .prompt = prompt_of(number).tokens,
                      .sampling = options_.sampling,
                      .seed = Rng(options_.seed, "rollout", id_of(number)).next_u64()}));
    return ok();
  }

  Status generate() {
    for (;;) {
      TRY_ASSIGN(auto generated, parts_.generator.next());
      if (!generated) break;
      const auto number = number_of(generated->id);
      if (!number) continue;
      ++written_;
      TRY(take_completion(*number, std::move(generated->completion)));
      for (bool took = true; took;) {
        TRY_ASSIGN(took, take_verdict(Deadline::after(Milliseconds(0))));
      }
      show_progress();
    }
    if (written_ != total())
      return fail("the generator gave {} of {} completions", written_, total());
    return ok();
  }

  Status take_completion(std::size_t number, Completion completion) {
    auto decoded = text::decode_with_ends(parts_.tokenizer, without_stop_token(completion));
    const Task& task = *prompt_of(number).task;
    JudgedSample& judged = experience_.samples[number];
    judged.kernel = text::extract_kernel(decoded.text, decoded.token_ends);
    completion.text = std::move(decoded.text);
    judged.sample = {.step = options_.step,
                     .group = static_cast<int>(number) / options_.samples,
                     .member = static_cast<int>(number) % options_.samples,
                     .task_id = task.id,
                     .prompt = parts_.tokenizer.decode(completion.prompt),
                     .completion = std::move(completion),
                     .kernel = judged.kernel.source};
    if (judged.kernel.source.empty()) {
      judged.sample.verdict = gym::missing_kernel_verdict(task, judged.kernel, options_.policy);
      ++judged_;
      return ok();
    }
    return parts_.judge.submit({.id = id_of(number),
                                .task = task,
                                .kernel = judged.kernel.source,
                                .policy = options_.policy,
                                .backend = options_.backend,
                                .trials = options_.trials});
  }

  // False when the deadline passed without one.
  Result<bool> take_verdict(Deadline deadline) {
    TRY_ASSIGN(auto judged, parts_.judge.next(deadline));
    if (!judged) return false;
    const auto number = number_of(judged->id);
    if (!number) return true;  // of a job of an earlier step, or of somebody else
    TRY(parts_.faults.take(judged->verdict));
    experience_.samples[*number].sample.verdict = std::move(judged->verdict);
    ++judged_;
    return true;
  }

  Status await_verdicts() {
    while (judged_ < total()) {
      TRY_ASSIGN(const bool took, take_verdict(Deadline::after(options_.patience)));
      if (!took)
        return fail(
            "the gym gave no verdict for {} s while {} are missing; `tritonsmith doctor` "
            "may say why, judge.patience_seconds allows more",
            options_.patience.count(), total() - judged_);
      show_progress();
    }
    return ok();
  }

  void show_progress() const {
    if (parts_.on_progress) parts_.on_progress(written_, judged_);
  }

  const std::vector<Prompted>& prompts_;
  const RolloutOptions& options_;
  const RolloutParts& parts_;
  Experience experience_;
  std::size_t written_ = 0, judged_ = 0;
};

}  // namespace

Result<Experience> roll_out(const std::vector<Prompted>& prompts, const RolloutOptions& options,
                            const RolloutParts& parts) {
  return Rollout(prompts, options, parts).run();
}

}  // namespace tritonsmith::train
