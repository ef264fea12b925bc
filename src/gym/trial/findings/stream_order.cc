#include "gym/trial/findings/stream_order.h"

#include <algorithm>
#include <map>
#include <set>

#include "gym/language/registry/languages.h"
#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::trial {
namespace {

using plan::StreamOrder;

// Stream -> the time before which all its work has finished. A vector clock (Mattern, Virtual Time and
// Global States of Distributed Systems, 1989).
using Clock = std::map<int, int>;

// The time of a step, of what happens to streams before it, and of the caller's work before both.
int time_of(int step) { return 3 * step + 2; }
int time_before(int step) { return 3 * step + 1; }
int time_of_caller(int step) { return 3 * step; }

void merge(Clock& into, const Clock& from) {
  for (const auto& [stream, time] : from) into[stream] = std::max(into[stream], time);
}

struct Accesses {
  std::set<int> reads, writes;  // storages
};

// A step's access to a storage, or the caller's. The caller's has no step, which is then -1.
struct Access {
  int stream = 0;
  int time = 0;
  int step = -1;
};

class StreamClocks {
 public:
  void obey(const StreamOrder& order) {
    switch (order.kind) {
      case StreamOrder::Kind::use:
        current_ = order.stream;
        return;
      case StreamOrder::Kind::record: {
        Clock& event = events_[order.event];
        event = clocks_[order.stream];
        event[order.stream] = time_before(order.before);
        merge(event, host_);
        return;
      }
      case StreamOrder::Kind::wait:
        if (const auto event = events_.find(order.event); event != events_.end())
          merge(order.stream == StreamOrder::kHost ? host_ : clocks_[order.stream], event->second);
        return;
      case StreamOrder::Kind::finish:
        finish(time_before(order.before));
        return;
    }
  }

  void finish(int time) {
    for (auto& [stream, clock] : clocks_) host_[stream] = time;
    host_[current_] = time;
  }

  // A step begins on the current stream: it comes after all that Python has waited for.
  void begin_step() { merge(clocks_[current_], host_); }

  int current() const { return current_; }
  const Clock& now() { return clocks_[current_]; }
  bool has_finished(const Access& access) {
    if (access.stream == current_) return true;
    const Clock& clock = clocks_[current_];
    const auto known = clock.find(access.stream);
    return known != clock.end() && known->second > access.time;
  }

 private:
  int current_ = 0;
  std::map<int, Clock> clocks_, events_;
  Clock host_;
};

class RaceFinder {
 public:
  explicit RaceFinder(const plan::Plan& plan) : plan_(plan) {
    for (std::size_t k = 0; k < plan.steps.size(); ++k)
      if (const auto* call = std::get_if<plan::AtenCall>(&plan.steps[k].action))
        for (const int output : call->outputs) makers_.try_emplace(output, static_cast<int>(k));
  }

  StreamRaces find() {
    const int steps = static_cast<int>(plan_.steps.size());
    auto order = plan_.orders.begin();
    for (int k = 0; k < steps && !races_.certain; ++k) {
      const plan::PlanStep& step = plan_.steps[static_cast<std::size_t>(k)];
      const auto obey_until = [&](plan::Phase phase) {
        for (; order != plan_.orders.end() && order->before == k && order->phase <= phase; ++order)
          clocks_.obey(*order);
      };
      if (step.phase != phase_) {
        obey_until(phase_);
        begin_phase(step.phase, k);
      }
      obey_until(step.phase);
      clocks_.begin_step();
      known_.push_back(clocks_.now());
      streams_.push_back(clocks_.current());
      take(k, accesses_of(step));
    }
    for (; order != plan_.orders.end(); ++order) clocks_.obey(*order);
    clocks_.begin_step();
    if (!races_.certain) check_the_end();
    return std::move(races_);
  }

 private:
  void begin_phase(plan::Phase phase, int step) {
    if (phase_ == plan::Phase::init) clocks_.finish(time_of_caller(step));
    phase_ = phase;
    phase_begin_ = step;
    const bool is_first = phase == plan::Phase::first_call && plan_.first_call.has_value();
    for (const int storage : storages_of(is_first ? plan_.first_call->inputs : plan_.inputs))
      writes_[storage] = {{clocks_.current(), {clocks_.current(), time_of_caller(step)}}};
  }

  void take(int k, const Accesses& accesses) {
    for (const int storage : accesses.reads) check_after_write(storage, k);
    for (const int storage : accesses.writes) {
      check_after_write(storage, k);
      for (const auto& [stream, step] : reads_[storage])
        if (!clocks_.has_finished({stream, time_of(step), step}))
          note(k, step, "writes what", "reads");
    }
    for (const int storage : accesses.reads) reads_[storage][clocks_.current()] = k;
    for (const int storage : accesses.writes) {
      std::erase_if(writes_[storage],
                    [&](const auto& each) { return clocks_.has_finished(each.second); });
      writes_[storage][clocks_.current()] = {clocks_.current(), time_of(k), k};
      reads_.erase(storage);
    }
  }

  void check_after_write(int storage, int k) {
    for (const auto& [stream, write] : writes_[storage])
      if (!clocks_.has_finished(write)) note(k, write.step, "uses what", "writes");
  }

  void check_the_end() {
    std::set<int> storages = storages_of({plan_.outputs});
    storages.merge(storages_of(plan_.inputs));
    for (const plan::PlanParameter& parameter : plan_.parameters)
      storages.insert(storage_of(parameter.tensor));
    for (const int storage : storages)
      for (const auto& [stream, write] : writes_[storage])
        if (!clocks_.has_finished(write) && !races_.certain)
          races_.certain = {
              .error_class = ErrorClass::race,
              .message =
                  "forward returns while another stream may still write to its result: the "
                  "current stream waits for no event after that work",
              .line = line_of(write.step)};
  }

  void note(int later, int earlier, std::string_view does, std::string_view did) {
    if (races_.certain) return;
    const int line = line_of(earlier);
    const std::string before =
        line > 0 ? fmt::format("line {} {} on another stream", line, did)
                 : std::string("the caller or an earlier call gives on another stream");
    VerdictError error{.error_class = ErrorClass::race,
                       .message = fmt::format("it {} {}, and its own stream waits for no event "
                                              "after that work",
                                              does, before),
                       .line = line_of(later)};
    const std::set<int> first = needed_before(later);
    if (earlier < phase_begin_ || first.contains(earlier)) {
      races_.certain = std::move(error);
      return;
    }
    SuspectedRace race{std::move(error), order_with(first, later)};
    const bool is_known = std::ranges::any_of(
        races_.suspected, [&](const SuspectedRace& known) { return known.order == race.order; });
    if (!is_known && races_.suspected.size() < kMostSuspects)
      races_.suspected.push_back(std::move(race));
  }

  // The steps of this phase that come before a step in every order: those that its stream has waited
  // for, those that make its tensors, and all that these need.
  std::set<int> needed_before(int step) const {
    std::set<int> needed;
    std::vector<int> open = {step};
    const auto add = [&](int k) {
      if (k >= phase_begin_ && k != step && needed.insert(k).second) open.push_back(k);
    };
    while (!open.empty()) {
      const int k = open.back();
      open.pop_back();
      const auto at = static_cast<std::size_t>(k);
      for (int before = phase_begin_; before < k; ++before) {
        const int stream = streams_[static_cast<std::size_t>(before)];
        const auto known = known_[at].find(stream);
        if (stream == streams_[at] ||
            (known != known_[at].end() && known->second > time_of(before)))
          add(before);
      }
      for (const int tensor : tensors_of(plan_.steps[at]))
        if (const auto maker = makers_.find(tensor); maker != makers_.end() && maker->second < k)
          add(maker->second);
    }
    return needed;
  }

  std::vector<int> order_with(const std::set<int>& first, int step) const {
    std::vector<int> order;
    const int steps = static_cast<int>(plan_.steps.size());
    for (int k = 0; k < phase_begin_; ++k) order.push_back(k);
    order.insert(order.end(), first.begin(), first.end());
    order.push_back(step);
    for (int k = phase_begin_; k < steps; ++k)
      if (k != step && !first.contains(k)) order.push_back(k);
    return order;
  }

  static std::vector<int> tensors_of(const plan::PlanStep& step) {
    std::vector<int> tensors;
    if (const auto* call = std::get_if<plan::AtenCall>(&step.action)) {
      for (const plan::Value& value : call->args) plan::append_tensors(value, tensors);
      for (const auto& [name, value] : call->kwargs) plan::append_tensors(value, tensors);
    } else if (const auto* launch = std::get_if<plan::LaunchStep>(&step.action)) {
      for (const plan::LaunchChoice& choice : launch->choices)
        for (const plan::Value& value : choice.arguments) plan::append_tensors(value, tensors);
    }
    return tensors;
  }

  int line_of(int step) const {
    if (step < 0 || static_cast<std::size_t>(step) >= plan_.steps.size()) return 0;
    const plan::PlanStep& which = plan_.steps[static_cast<std::size_t>(step)];
    return which.phase == plan::Phase::init ? 0 : which.line;
  }

  int storage_of(int tensor) const {
    return plan_.tensors.at(static_cast<std::size_t>(tensor)).storage;
  }

  std::set<int> storages_of(const std::vector<plan::Value>& values) const {
    std::vector<int> tensors;
    for (const plan::Value& value : values) plan::append_tensors(value, tensors);
    std::set<int> storages;
    for (const int tensor : tensors) storages.insert(storage_of(tensor));
    return storages;
  }

  Accesses accesses_of(const plan::PlanStep& step) const {
    if (const auto* call = std::get_if<plan::AtenCall>(&step.action)) return accesses_of(*call);
    Accesses accesses;
    if (const auto* launch = std::get_if<plan::LaunchStep>(&step.action))
      for (const plan::LaunchChoice& choice : launch->choices) add(choice, accesses);
    if (const auto* constant = std::get_if<plan::ConstantStep>(&step.action))
      accesses.writes.insert(storage_of(constant->output));
    return accesses;
  }

  // An operator that only takes a view, or only allocates, touches no memory.
  Accesses accesses_of(const plan::AtenCall& call) const {
    if (plan::operators::leaves_unwritten(call.op)) return {};
    Accesses accesses{.reads = storages_of(call.args)};
    bool writes_a_given_one = plan::operators::writes_in_place(call.op);
    for (const auto& [name, value] : call.kwargs) {
      accesses.reads.merge(storages_of({value}));
      writes_a_given_one |= name == "out";
    }
    for (const int output : call.outputs)
      if (output >= 0 && (writes_a_given_one || !accesses.reads.contains(storage_of(output))))
        accesses.writes.insert(storage_of(output));
    if (accesses.writes.empty()) return {};
    return accesses;
  }

  void add(const plan::LaunchChoice& launch, Accesses& accesses) const {
    const plan::PlanKernel& kernel = plan_.kernels.at(static_cast<std::size_t>(launch.kernel));
    const language::Language& language = language::language_of(kernel);
    add(language.loaded_arguments(kernel.code), launch, accesses.reads);
    add(language.stored_arguments(kernel.code), launch, accesses.writes);
  }

  void add(const std::vector<int>& indices, const plan::LaunchChoice& launch,
           std::set<int>& storages) const {
    for (const int index : indices)
      if (index < std::ssize(launch.arguments))
        storages.merge(storages_of({launch.arguments[static_cast<std::size_t>(index)]}));
  }

  const plan::Plan& plan_;
  StreamRaces races_;
  StreamClocks clocks_;
  std::map<int, int> makers_;  // tensor -> the first step that returns it
  std::vector<Clock> known_;   // step -> what its stream has waited for
  std::vector<int> streams_;   // step -> its stream
  // storage -> stream -> its last write, of those that no later write has waited for
  std::map<int, std::map<int, Access>> writes_;
  std::map<int, std::map<int, int>> reads_;  // storage -> stream -> its last read since
  plan::Phase phase_ = plan::Phase::init;
  int phase_begin_ = 0;
};

}  // namespace

StreamRaces find_stream_races(const plan::Plan& candidate) {
  if (candidate.orders.empty()) return {};
  return RaceFinder(candidate).find();
}

plan::Plan in_step_order(plan::Plan candidate, const std::vector<int>& order) {
  CHECK(order.size() == candidate.steps.size(), "an order names each step once");
  std::vector<plan::PlanStep> steps;
  for (const int step : order) steps.push_back(candidate.steps.at(static_cast<std::size_t>(step)));
  candidate.steps = std::move(steps);
  candidate.orders.clear();
  return candidate;
}

}  // namespace tritonsmith::gym::trial
