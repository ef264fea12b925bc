#include "train/gradient/partial_update.h"

#include <numeric>

#include "base/check.h"

namespace tritonsmith::train {
namespace {

template <typename Item>
void append_all(std::vector<Item>& items, std::vector<Item> more) {
  items.insert(items.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
}

std::vector<std::size_t> numbers(std::size_t begin, std::size_t end) {
  std::vector<std::size_t> all(end - begin);
  std::iota(all.begin(), all.end(), begin);
  return all;
}

}  // namespace

PartialUpdate::PartialUpdate(Learner& learner, PolicyGradientOptions options)
    : learner_(learner), options_(std::move(options)) {
  CHECK(learner.ranks().is_alone(), "a partial update needs a learner with one rank");
  learner_.zero_gradients();
}

double PartialUpdate::own_weight(std::size_t segment) const {
  const std::int64_t length = counted_length(batch_, segment);
  if (length == 0) return 0;
  const bool by_length = options_.aggregation == algorithm::Aggregation::sequence_mean;
  return by_length ? 1.0 / static_cast<double>(length) : 1.0;
}

void PartialUpdate::append(PolicyBatch more) {
  const std::size_t before = batch_.sequences.size();
  for (std::size_t& sequence : more.sequence_of) sequence += before;
  append_all(batch_.sequences, std::move(more.sequences));
  append_all(batch_.sequence_of, std::move(more.sequence_of));
  append_all(batch_.counts, std::move(more.counts));
  append_all(batch_.advantages, std::move(more.advantages));
  append_all(batch_.sampler, std::move(more.sampler));
  append_all(batch_.old, std::move(more.old));
  append_all(batch_.reference, std::move(more.reference));
  append_all(batch_.mismatch, std::move(more.mismatch));
  for (std::size_t g = weights_.size(); g < batch_.segments(); ++g)
    weights_.push_back(own_weight(g));
}

void PartialUpdate::pass(std::span<const std::size_t> members) {
  add_policy_gradient(learner_, batch_, {.members = members, .weights = weights_}, options_, sums_);
}

void PartialUpdate::add(PolicyBatch more) {
  const std::size_t before = batch_.sequences.size();
  append(std::move(more));
  // Cuts micro-batches as pack_in_order() does.
  for (const std::size_t member :
       needed_members(batch_, numbers(before, batch_.sequences.size()), options_)) {
    if (waiting_.add(batch_.sequences, member, options_.packing)) continue;
    pass(waiting_.members);
    waiting_ = {};
    waiting_.add(batch_.sequences, member, options_.packing);
  }
}

PolicyGradientReport PartialUpdate::finish() && {
  const auto all = numbers(0, batch_.sequences.size());
  // The report needs the measurements of at least one sequence.
  if (waiting_.members.empty() && sums_.tokens() == 0)
    waiting_.members = members_for_model(batch_, all, options_);
  if (!waiting_.members.empty()) pass(waiting_.members);
  const std::vector<double> divided = weights_of(batch_, all, options_);
  double share = 0;  // one factor for all tokens of the step
  for (std::size_t g = 0; g < divided.size() && share == 0; ++g)
    if (weights_[g] > 0) share = divided[g] / weights_[g];
  learner_.scale_gradients(share);
  PolicyGradientReport report = sums_.report();
  report.loss *= share;
  report.surrogate *= share;
  return report;
}

}  // namespace tritonsmith::train
