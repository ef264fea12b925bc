#include "gym/referee/adequacy/measure.h"

#include <algorithm>
#include <numeric>

#include "base/rng.h"
#include "gym/plan/analysis/eval_mode.h"
#include "gym/plan/faults/faults.h"
#include "gym/plan/faults/variants.h"
#include "gym/referee/adequacy/difference_search.h"
#include "gym/referee/adequacy/trial_set.h"

namespace tritonsmith::gym::referee {
namespace {

constexpr std::size_t kMostFaults = 160, kMostVariants = 12;
// A trial that tells a fault by less than this does not end the search for one that tells it better.
constexpr double kClearMargin = 2;
// A fault whose values come no nearer to what is allowed may differ by rounding only.
constexpr double kRounding = 0.25;
constexpr double kShareForFaults = 0.75;  // of the time

// How one secret's trials end for a candidate.
struct SecretAnswer {
  bool is_told = false, differs = false, does_not_run = false;
  std::optional<SetTrial> by;
  // In the trial that told it, or the largest in any trial; nothing if no number told it.
  std::optional<double> margin = 0;
  std::string message;
};

// Returns the least margin over the secrets that tell the fault, or the largest if none does.
std::optional<double> margin_of(const std::vector<SecretAnswer>& answers) {
  std::optional<double> least, most;
  for (const SecretAnswer& each : answers) {
    if (!each.margin) continue;
    if (each.is_told)
      least = std::min(least.value_or(*each.margin), *each.margin);
    else
      most = std::max(most.value_or(0), *each.margin);
  }
  return std::ranges::any_of(answers, &SecretAnswer::is_told) ? least : most;
}

bool is_clear(const SecretAnswer& answer) {
  return answer.is_told && (!answer.margin || *answer.margin >= kClearMargin);
}

class Measurement {
 public:
  Measurement(Equipment& equipment, const RefereeJob& job, const plan::Plan& task)
      : equipment_(equipment),
        job_(job),
        task_(task),
        faults_until_(Deadline::in_seconds(kShareForFaults * job.budget.seconds)),
        until_(Deadline::in_seconds(job.budget.seconds)) {}

  Adequacy measure() {
    for (int k = 0; k < std::max(1, job_.adequacy_secrets); ++k) {
      RefereeJob job = job_;
      job.secret += fmt::format("/{}", k);
      auto set = TrialSet::of_task(equipment_, std::move(job), task_, until_);
      if (!set) {
        adequacy_.why_not = "the task does not run: " + set.error();
        return std::move(adequacy_);
      }
      sets_.push_back(*std::move(set));
    }
    test_faults();
    test_variants();
    return std::move(adequacy_);
  }

 private:
  // If time runs out, the faults that were tried are a fair sample.
  void test_faults() {
    const std::vector<plan::faults::Fault> faults = plan::faults::faults_of(task_, kMostFaults);
    std::vector<std::size_t> order(faults.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    Rng rng(0, "faults", 0);
    rng.shuffle(order);
    std::vector<std::optional<FaultTest>> tests(faults.size());
    for (const std::size_t k : order) {
      if (!faults_until_.passed()) tests[k] = test(faults[k]);
      if (faults_until_.passed() && !tests[k]) ++adequacy_.untried;
    }
    for (std::optional<FaultTest>& each : tests)
      if (each) adequacy_.faults.push_back(*std::move(each));
    if (adequacy_.faults.empty() && adequacy_.untried == 0)
      adequacy_.why_not = "the catalogue has no fault for this task";
  }

  // Returns nothing if the fault is no candidate that runs, or if time ran out.
  std::optional<FaultTest> test(const plan::faults::Fault& fault) {
    const plan::Plan candidate = plan::faults::with_fault(task_, fault);
    if (!plan::check_plan(candidate)) return std::nullopt;
    FaultTest result{.what = fault.what, .kind = std::string(tritonsmith::name_of(fault.kind))};
    std::optional<SetTrial> first;
    std::vector<SecretAnswer> answers;
    for (TrialSet& set : sets_) {
      answers.push_back(tell(set, candidate, first));
      if (answers.back().does_not_run || until_.passed()) return std::nullopt;
      if (answers.back().by) first = answers.back().by;
    }
    if (first) result.trial = name_of(*first);
    result.margin = margin_of(answers);
    result.end = end_of(fault, candidate, answers);
    return result;
  }

  // In float64 a fault of precision has no effect.
  FaultEnd end_of(const plan::faults::Fault& fault, const plan::Plan& candidate,
                  const std::vector<SecretAnswer>& answers) {
    const auto times_told = std::ranges::count(answers, true, &SecretAnswer::is_told);
    if (times_told == std::ssize(answers)) return FaultEnd::told;
    if (times_told > 0) return FaultEnd::sometimes;
    const bool differs = std::ranges::any_of(answers, &SecretAnswer::differs);
    const bool is_rounding = fault.kind == plan::faults::FaultKind::precision;
    const FaultySides sides{
        sets_.front().job(), task_, candidate,
        is_rounding ? replay::Precision::as_written : replay::Precision::float64};
    const bool is_open = !differs || (!is_rounding && margin_of(answers).value_or(0) < kRounding);
    if (is_open && !differs_somewhere(equipment_, sides)) return FaultEnd::equivalent;
    return differs ? FaultEnd::within_tolerance : FaultEnd::no_difference;
  }

  // Runs a set's trials until one tells the candidate clearly. The trial that did so under another
  // secret goes first.
  static SecretAnswer tell(TrialSet& set, const plan::Plan& candidate,
                           const std::optional<SetTrial>& first) {
    std::vector<SetTrial> trials = set.trials();
    if (first) std::ranges::stable_partition(trials, [&](const auto& t) { return t == *first; });
    SecretAnswer told;
    std::set<trial::Perturbation> right;
    for (const SetTrial& each : trials) {
      if (set.is_skipped(each, right)) continue;
      const TrialAnswer answer = set.run(candidate, each);
      told.differs = told.differs || answer.differs;
      if (answer.kind == TrialAnswer::Kind::right) {
        right.insert(each.kind);
        if (!told.is_told)
          told.margin = std::max(told.margin.value_or(0), answer.worst_share.value_or(0));
      }
      if (answer.kind != TrialAnswer::Kind::wrong) continue;
      if (answer.does_not_run && each == set.trials().front()) return {.does_not_run = true};
      const bool is_better = !told.is_told || !answer.worst_share ||
                             (told.margin && *answer.worst_share > *told.margin);
      if (is_better) {
        told.margin = answer.worst_share;
        told.by = each;
        told.message = answer.error->message;
      }
      told.is_told = true;
      if (is_clear(told)) return told;
    }
    return told;
  }

  void test_variants() {
    std::vector<plan::faults::Variant> variants = plan::faults::variants_of(task_, kMostVariants);
    variants.insert(variants.begin(),
                    {.what = "the task's own plan", .plan = plan::faults::as_candidate(task_)});
    for (const plan::faults::Variant& each : variants) {
      if (until_.passed()) {
        ++adequacy_.untried;
        continue;
      }
      for (TrialSet& set : sets_) {
        const SecretAnswer told = tell(set, each.plan, std::nullopt);
        if (told.does_not_run || until_.passed()) break;
        if (&set == &sets_.front()) ++adequacy_.variants;
        if (!told.is_told) continue;
        adequacy_.refused.push_back(
            {.what = each.what, .trial = name_of(*told.by), .message = told.message});
        break;
      }
    }
  }

  Equipment& equipment_;
  const RefereeJob& job_;
  const plan::Plan& task_;
  Deadline faults_until_, until_;
  std::vector<TrialSet> sets_;
  Adequacy adequacy_;
};

}  // namespace

Adequacy measure_adequacy(Equipment& equipment, const RefereeJob& job, const plan::Plan& task) {
  Adequacy none;
  if (!task.unplanned.empty()) {
    none.why_not = "its forward has no plan";
    return none;
  }
  if (!plan::analysis::draws_in_forward(task)) return Measurement(equipment, job, task).measure();
  // As for a candidate: both sides get the same numbers.
  const plan::Plan calm = plan::analysis::with_draws_first(plan::analysis::in_eval_mode(task));
  if (!plan::analysis::draws_in_forward(calm)) return Measurement(equipment, job, calm).measure();
  none.why_not = "its forward draws random numbers that follow from tensors";
  return none;
}

}  // namespace tritonsmith::gym::referee
