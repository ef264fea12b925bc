#include "gym/trial/jumps.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/counted.h"
#include "gym/plan/analysis/forward_facts.h"
#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::trial {
namespace {

// Says whether the call makes one product or sum of an input and a number.
bool is_exact_step(const plan::AtenCall& call, const std::set<int>& inputs) {
  using plan::operators::Trait;
  if (call.args.size() < 2 || !plan::operators::is(call.op, Trait::scales)) return false;
  const auto* operand = std::get_if<plan::TensorRef>(&call.args[0].data);
  return operand != nullptr && inputs.contains(operand->index) &&
         !std::holds_alternative<plan::TensorRef>(call.args[1].data);
}

// Says whether forward orders anything, or rounds or compares one product or sum of an input and a number.
bool jumps_exactly(const plan::Plan& task) {
  using plan::operators::Trait;
  std::set<int> exact;
  for (const int input : input_tensors(task)) exact.insert(input);
  const std::set<int> inputs = exact;
  for (const plan::PlanStep& step : task.steps) {
    const auto* call = std::get_if<plan::AtenCall>(&step.action);
    if (call == nullptr || step.phase != plan::Phase::forward) continue;
    if (plan::operators::is(call->op, Trait::orders)) return true;
    if (is_exact_step(*call, inputs))
      for (const int made : call->outputs) exact.insert(made);
    const auto* operand =
        call->args.empty() ? nullptr : std::get_if<plan::TensorRef>(&call->args[0].data);
    if (plan::operators::is(call->op, Trait::steps) && operand != nullptr &&
        exact.contains(operand->index))
      return true;
  }
  return false;
}

}  // namespace

bool rounding_may_decide(const TrialConfig& config) {
  if (row_of(config.kind).meets_jumps) return false;
  const plan::analysis::ForwardFacts facts = plan::analysis::forward_facts(config.task);
  // Rows that ask a truth value hold the numbers with which forward compares.
  const bool asks_truths = facts.asks_any_or_all || facts.asks_any_or_all_compared;
  return !facts.jumps_as_given && !facts.compares_inputs &&
         !(asks_truths && config.kind != Perturbation::plain) && !jumps_exactly(config.task);
}

JumpSearch::JumpSearch(std::vector<ElementValues> wanted, std::vector<ElementValues> first)
    : wanted_(std::move(wanted)), first_(std::move(first)), best_(first_) {
  for (ElementValues& each : best_) each.values = each.values.clone();
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> rows;
  for (std::size_t k = 0; k < wanted_.size() && k < first_.size(); ++k) {
    const ElementValues& each = wanted_[k];
    Groups& groups = groups_.emplace_back();
    const std::int64_t length = each.numel / each.rows;
    const auto* elements = each.elements.const_data_ptr<std::int64_t>();
    const double* values = first_[k].values.const_data_ptr<double>();
    for (std::int64_t n = 0; n < each.elements.numel(); ++n) {
      ranges_.emplace_back(values[n], values[n]);
      groups.push_back(count_);
      if (each.tolerance == 0)
        groups.back() = rows.try_emplace({each.rows, elements[n] / length}, count_).first->second;
      if (groups.back() == count_) ++count_;
      is_row_.resize(count_, each.tolerance == 0);
    }
  }
  found_.resize(count_, false);
  left_ = count_;
  rows_left_ = static_cast<std::size_t>(std::ranges::count(is_row_, true));
}

// Takes the reference's value at a wrong whole number. Says whether it is the candidate's.
bool JumpSearch::jumps(std::size_t output, std::size_t element, double now) {
  const double wanted = wanted_[output].values.const_data_ptr<double>()[element],
               first = first_[output].values.const_data_ptr<double>()[element];
  if (now != first && now != wanted) is_noise_ = true;
  return now == wanted;
}

// Takes the reference's value at a wrong floating number. Returns the value to adopt, if its range allows the
// candidate's.
std::optional<double> JumpSearch::in_range(std::size_t output, std::size_t element, double now,
                                           std::pair<double, double>& range) {
  const double wanted = wanted_[output].values.const_data_ptr<double>()[element];
  if (std::isfinite(now)) range = {std::min(range.first, now), std::max(range.second, now)};
  if (now == wanted || (std::isnan(now) && std::isnan(wanted))) return now;
  if (!std::isfinite(range.first) || !std::isfinite(range.second)) return std::nullopt;
  const double nearest = std::clamp(wanted, range.first, range.second);
  const bool is_near = std::abs(wanted - nearest) <= wanted_[output].allowed(wanted) / 2;
  return is_near ? std::optional(nearest) : std::nullopt;
}

void JumpSearch::add(const std::vector<ElementValues>& values) {
  if (values.size() != wanted_.size() || first_.size() != wanted_.size()) return;
  ++rounds_;
  std::vector<bool> jump(count_, true);
  std::size_t at = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double* now = values[k].values.const_data_ptr<double>();
    double* best = best_[k].values.mutable_data_ptr<double>();
    for (std::size_t n = 0; n < groups_[k].size(); ++n, ++at) {
      const std::size_t group = groups_[k][n];
      if (wanted_[k].tolerance == 0) {
        if (!jumps(k, n, now[n])) jump[group] = false;
      } else if (const auto nearest = in_range(k, n, now[n], ranges_[at])) {
        if (!found_[group]) best[n] = *nearest;
      } else {
        jump[group] = false;
      }
    }
  }
  for (std::size_t group = 0; group < count_; ++group) {
    if (!jump[group] || found_[group]) continue;
    found_[group] = true;
    --left_;
    if (is_row_[group]) --rows_left_;
  }
  adopt_rows();
}

// A row of whole numbers that was found has the candidate's values.
void JumpSearch::adopt_rows() {
  for (std::size_t k = 0; k < wanted_.size(); ++k) {
    if (wanted_[k].tolerance != 0) continue;
    double* best = best_[k].values.mutable_data_ptr<double>();
    const double* wanted = wanted_[k].values.const_data_ptr<double>();
    for (std::size_t n = 0; n < groups_[k].size(); ++n)
      if (found_[groups_[k][n]]) best[n] = wanted[n];
  }
}

bool JumpSearch::is_over() const {
  if (is_noise_ || (left_ == 0 && rounds_ >= kLeastJumpRounds)) return true;
  // An error of more than a few roundings meets so many bounds that no few runs show them all.
  if (rows_left_ > 0 && rounds_ >= kWholeJumpRounds) return true;
  const bool few_found = rows_left_ > 0 ? left_ == count_ : 2 * left_ > count_;
  return few_found && rounds_ >= kRoundsWithoutJump;
}

std::vector<ElementValues> JumpSearch::adopted() const {
  return left_ == 0 && !found_.empty() && !is_noise_ ? best_ : std::vector<ElementValues>();
}

std::vector<ElementValues> search_jumps(const std::vector<ElementValues>& wanted,
                                        const std::vector<ElementValues>& first,
                                        const AskReference& ask) {
  if (wanted.empty()) return {};
  try {
    for (const bool is_fine : {false, true}) {
      JumpSearch search(wanted, first);
      for (int round = 0; round < kJumpRounds && !search.is_over(); ++round) {
        const auto values = ask(jump_nudge(round, is_fine));
        if (!values) return {};
        search.add(*values);
      }
      if (!search.is_noise()) return search.adopted();
    }
  } catch (const c10::OutOfMemoryError&) {
  }
  return {};
}

std::vector<ElementValues> confirmed_by_exact(const std::vector<ElementValues>& wanted,
                                              const std::vector<ElementValues>& first,
                                              const std::vector<ElementValues>& exact) {
  if (wanted.empty() || exact.empty()) return {};
  JumpSearch search(wanted, first);
  search.add(exact);
  return search.adopted();
}

Finding jump_note(const std::vector<ElementValues>& adopted) {
  std::int64_t count = 0;
  for (const ElementValues& each : adopted) count += each.elements.numel();
  return {.rule = "reference_jumps",
          .severity = Severity::note,
          .message = fmt::format(
              "at {} of the outputs PyTorch's last bits decide about the value, and the "
              "kernel has another one that they allow",
              counted(count, "element"))};
}

}  // namespace tritonsmith::gym::trial
