#include "curate/curate.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_set>

#include "base/hash.h"
#include "base/rng.h"
#include "curate/example_text.h"
#include "curate/normal_form.h"

namespace tritonsmith::curate {
namespace {

using datasets::Example;

// An accepted answer, and what goes with it.
struct Candidate {
  const Conversation* conversation = nullptr;
  std::size_t turn = 0;
  const Answer* worse = nullptr;  // of faster and preferences
  const Answer& answer() const { return conversation->answers[turn]; }
  std::size_t task() const { return conversation->task; }
  double speed() const { return answer().speedup.value_or(0); }
};

enum class Difficulty { easy, medium, hard };

// By the share of conversations whose first answer was accepted.
std::vector<Difficulty> difficulties(const Material& material) {
  std::vector<std::pair<double, double>> counts(material.tasks.size());  // accepted, all
  for (const Conversation& each : material.conversations) {
    if (each.answers.empty()) continue;
    counts[each.task].first += each.answers.front().is_accepted ? 1 : 0;
    counts[each.task].second += 1;
  }
  std::vector<Difficulty> all;
  for (const auto& [accepted, asked] : counts) {
    const double share = asked > 0 ? accepted / asked : 0;
    all.push_back(share >= 2.0 / 3   ? Difficulty::easy
                  : share >= 1.0 / 3 ? Difficulty::medium
                                     : Difficulty::hard);
  }
  return all;
}

class Curation {
 public:
  Curation(const Material& material, const Query& query, const Plans& plans)
      : material_(material), query_(query), plans_(plans) {}

  Result<Curated> run(const Contamination& contamination) {
    TRY(check_shares());
    begin();
    leave_out_measured(contamination);
    fit_query();
    leave_out_copies();
    find_worse();
    choose();
    share_out();
    for (const Candidate& each : candidates_) result_.examples.push_back(example_of(each));
    return std::move(result_);
  }

 private:
  Status check_shares() const {
    const double sum = query_.easy + query_.medium + query_.hard;
    if (sum == 0 || std::abs(sum - 1) < 1e-6) return ok();
    return fail("easy, medium and hard sum to {:.3f}: shares of the whole set sum to 1", sum);
  }

  void note_step(const std::string& name) {
    FunnelStep step{.name = name, .answers = candidates_.size()};
    std::set<std::size_t> tasks;
    for (const Candidate& each : candidates_) {
      tasks.insert(each.task());
      step.tokens += each.answer().tokens;
    }
    step.tasks = tasks.size();
    result_.funnel.push_back(step);
  }

  void begin() {
    for (const Conversation& each : material_.conversations)
      for (std::size_t i = 0; i < each.answers.size(); ++i)
        candidates_.push_back({.conversation = &each, .turn = i});
    note_step("judged");
    for (const Candidate& each : candidates_)
      if (!each.answer().is_accepted) ++result_.failures[each.answer().failure];
    std::erase_if(candidates_, [](const Candidate& each) { return !each.answer().is_accepted; });
    note_step("accepted");
  }

  void leave_out_measured(const Contamination& contamination) {
    if (contamination.is_empty()) return;
    std::vector<bool> is_measured(material_.tasks.size());
    for (std::size_t i = 0; i < material_.tasks.size(); ++i)
      if (const auto found = contamination.find(material_.tasks[i], plans_.of_task)) {
        is_measured[i] = true;
        result_.removed.push_back({.task = material_.tasks[i].id, .found = *found});
      }
    std::erase_if(candidates_, [&](const Candidate& each) { return is_measured[each.task()]; });
    note_step("of no measuring suite");
  }

  void fit_query() {
    std::erase_if(candidates_, [&](const Candidate& each) {
      const Answer& answer = each.answer();
      const bool is_slow = query_.min_speedup > 0 && each.speed() < query_.min_speedup;
      const bool is_long =
          query_.max_reasoning > 0 &&
          static_cast<std::int64_t>(reasoning_of(answer).size()) > query_.max_reasoning;
      return is_slow || is_long;
    });
    if (query_.min_speedup > 0 || query_.max_reasoning > 0) note_step("fast and brief enough");
  }

  // The fastest copy stays. Copies are sought within a task: two tasks may share a kernel.
  void leave_out_copies() {
    order_by_worth();
    std::unordered_set<std::string> seen;
    std::erase_if(candidates_, [&](const Candidate& each) {
      const std::string task = fmt::format("{} ", each.task());
      const std::string& kernel = each.answer().kernel;
      const Task& its_task = material_.tasks[each.task()];
      const auto plan = plans_.of_kernel ? plans_.of_kernel(its_task, kernel) : std::nullopt;
      const std::pair<const char*, std::string> keys[] = {
          {"source", task + content_key(kernel)},
          {"syntax", task + content_key(normal_form(kernel, Numbers::keep))},
          {"plan", plan ? task + *plan : ""}};
      const char* copy = nullptr;
      for (const auto& [name, key] : keys)
        if (!key.empty() && !seen.insert(key).second && copy == nullptr) copy = name;
      if (copy != nullptr) ++result_.copies[copy];
      return copy != nullptr;
    });
    note_step("no copies");
  }

  void order_by_worth() {
    std::ranges::stable_sort(candidates_, [](const Candidate& a, const Candidate& b) {
      if (a.task() != b.task()) return a.task() < b.task();
      if (a.speed() != b.speed()) return a.speed() > b.speed();
      return a.answer().kernel.size() < b.answer().kernel.size();
    });
  }

  // Keeps the candidates that have a worse answer beside them, where the query asks for one.
  void find_worse() {
    if (query_.want == Want::repairs) {
      std::erase_if(candidates_, [](const Candidate& each) {
        return each.turn == 0 || each.conversation->answers[each.turn - 1].is_accepted ||
               each.conversation->answers[each.turn - 1].feedback.empty();
      });
      note_step("after a wrong answer");
    }
    if (query_.want == Want::faster || query_.want == Want::preferences) {
      std::vector<std::vector<const Answer*>> answers(material_.tasks.size());
      for (const Conversation& each : material_.conversations)
        for (const Answer& answer : each.answers) answers[each.task].push_back(&answer);
      for (Candidate& each : candidates_) each.worse = worse_than(each, answers[each.task()]);
      std::erase_if(candidates_, [](const Candidate& each) { return each.worse == nullptr; });
      note_step(query_.want == Want::faster ? "faster than another" : "better than another");
    }
  }

  // The best of those that are clearly worse: a hard task, and no trivial one.
  const Answer* worse_than(const Candidate& candidate,
                           const std::vector<const Answer*>& answers) const {
    const Answer* best = nullptr;
    const auto worth = [](const Answer& answer) {
      return answer.is_accepted ? 1 + answer.speedup.value_or(0) : answer.stage / 2;
    };
    for (const Answer* each : answers) {
      const bool is_slower = each->is_accepted && each->speedup.value_or(0) > 0 &&
                             candidate.speed() >= query_.faster_by * *each->speedup;
      const bool is_wrong =
          query_.want == Want::preferences && !each->is_accepted && !each->kernel.empty();
      if (!is_slower && !is_wrong) continue;
      if (best == nullptr || worth(*each) > worth(*best)) best = each;
    }
    return best;
  }

  int per_task() const {
    if (query_.want == Want::best) return 1;
    if (query_.per_task > 0) return query_.per_task;
    constexpr int kDiverse = 4;
    return query_.want == Want::brief ? 1 : query_.want == Want::diverse ? kDiverse : 0;
  }

  void choose() {
    if (query_.want == Want::brief)
      std::ranges::stable_sort(candidates_, [](const Candidate& a, const Candidate& b) {
        if (a.task() != b.task()) return a.task() < b.task();
        return reasoning_of(a.answer()).size() < reasoning_of(b.answer()).size();
      });
    const auto most = static_cast<std::size_t>(per_task());
    if (most == 0) return;
    std::vector<std::vector<Structure>> chosen(material_.tasks.size());
    std::erase_if(candidates_, [&](const Candidate& each) {
      auto& others = chosen[each.task()];
      if (others.size() >= most) return true;
      Structure structure;
      if (query_.want == Want::diverse) {
        structure = structure_of(each.answer().kernel);
        for (const Structure& other : others)
          if (likeness(structure, other) > query_.likeness) return true;
      }
      others.push_back(std::move(structure));
      return false;
    });
    note_step(fmt::format("{} a task", most));
  }

  // Draws so many of each difficulty that the shares hold, and no more than the limit.
  void share_out() {
    if (query_.limit == 0 && query_.easy + query_.medium + query_.hard == 0) return;
    Rng rng(query_.seed, "curate", 0);
    rng.shuffle(candidates_);
    std::size_t total = candidates_.size();
    if (query_.limit > 0) total = std::min(total, static_cast<std::size_t>(query_.limit));
    if (query_.easy + query_.medium + query_.hard > 0) keep_shares(total);
    if (candidates_.size() > total) candidates_.resize(total);
    order_by_worth();
    note_step("in the shares wanted");
  }

  void keep_shares(std::size_t& total) {
    const std::vector<Difficulty> of_task = difficulties(material_);
    const double shares[] = {query_.easy, query_.medium, query_.hard};
    std::size_t there[3] = {};
    for (const Candidate& each : candidates_)
      ++there[static_cast<std::size_t>(of_task[each.task()])];
    for (std::size_t i = 0; i < 3; ++i)
      if (shares[i] > 0)
        total =
            std::min(total, static_cast<std::size_t>(static_cast<double>(there[i]) / shares[i]));
    std::size_t room[3];
    for (std::size_t i = 0; i < 3; ++i)
      room[i] = static_cast<std::size_t>(std::llround(shares[i] * static_cast<double>(total)));
    std::erase_if(candidates_, [&](const Candidate& each) {
      std::size_t& left = room[static_cast<std::size_t>(of_task[each.task()])];
      return left == 0 || left-- == 0;
    });
  }

  Example example_of(const Candidate& candidate) const {
    const Task& task = material_.tasks[candidate.task()];
    const Conversation& conversation = *candidate.conversation;
    Example example{.task = task.id,
                    .prompt = first_prompt(task, conversation, query_),
                    .completion = completion_text(candidate.answer(), query_.reasoning),
                    .source = task.source,
                    .kernel = candidate.answer().kernel,
                    .speedup = candidate.answer().speedup,
                    .asked = prompt_record(query_, conversation),
                    .origin = task.origin.value_or(Origin{.dataset = task.suite, .row = task.id})};
    if (query_.want == Want::repairs)
      for (std::size_t i = 0; i < candidate.turn; ++i)
        add_turn(conversation.answers[i], query_.reasoning, example.prompt);
    if (query_.want == Want::faster) {
      example.prompt = improvement_prompt(task, *candidate.worse, query_.style);
      example.origin->parent = content_key(candidate.worse->kernel);
      example.asked.reset();
    }
    if (query_.want == Want::preferences)
      example.rejected = completion_text(*candidate.worse, query_.reasoning);
    return example;
  }

  const Material& material_;
  const Query& query_;
  const Plans& plans_;
  std::vector<Candidate> candidates_;
  Curated result_;
};

}  // namespace

Result<Curated> curate(const Material& material, const Query& query,
                       const Contamination& contamination, const Plans& plans) {
  return Curation(material, query, plans).run(contamination);
}

}  // namespace tritonsmith::curate
