#include "train/optimizer/flat_parameters.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "model/weights/flat_layout.h"

namespace tritonsmith::train {
namespace {

struct Interval {
  std::int64_t begin = 0, count = 0;
};
Interval overlap(const Interval& a, const Interval& b) {
  const std::int64_t begin = std::max(a.begin, b.begin);
  return {begin, std::max<std::int64_t>(std::min(a.begin + a.count, b.begin + b.count) - begin, 0)};
}

// Copies the elements that lie in both intervals of the whole. The copy may round them.
void copy_overlap(const at::Tensor& into, std::int64_t into_begin, const at::Tensor& from,
                  std::int64_t from_begin) {
  const Interval both = overlap({into_begin, into.numel()}, {from_begin, from.numel()});
  if (both.count == 0) return;
  into.narrow(0, both.begin - into_begin, both.count)
      .copy_(from.narrow(0, both.begin - from_begin, both.count));
}

bool is_among(const at::Tensor& tensor, const std::vector<at::Tensor>& tensors) {
  return std::ranges::any_of(tensors, [&](const at::Tensor& each) { return each.is_same(tensor); });
}

}  // namespace

std::int64_t FlatParameters::length_for(const std::vector<at::Tensor>& parameters, int shards) {
  const std::int64_t unit = model::FlatLayout::kRow * shards;
  return (model::flat_layout(parameters).total + unit - 1) / unit * unit;
}

FlatParameters::FlatParameters(const std::vector<at::Tensor>& parameters, int shards) {
  CHECK(!parameters.empty(), "a model without parameters");
  for (const at::Tensor& tensor : parameters)
    CHECK(tensor.scalar_type() == at::kFloat, "master weights are fp32");
  const model::FlatLayout layout = model::flat_layout(parameters);
  offsets_ = layout.offsets;
  decayed_ = layout.matrices;
  parameter_count_ = layout.parameter_count;
  saved_count_ = layout.total;
  total_ = length_for(parameters, shards);
  const at::NoGradGuard no_grad;
  values_ = at::zeros({total_}, parameters.front().options().requires_grad(false));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const at::Tensor& parameter = parameters[i];
    const at::Tensor part =
        values_.narrow(0, offsets_[i], parameter.numel()).view(parameter.sizes());
    part.copy_(parameter);
    parameter.set_data(part);
  }
  computed_ = parameters;
  add_gradients(parameters);
}

void FlatParameters::add_gradients(const std::vector<at::Tensor>& parameters) {
  gradients_ = at::zeros({total_}, values_.options());
  for (std::size_t i = 0; i < parameters.size(); ++i)
    parameters[i].mutable_grad() =
        gradients_.narrow(0, offsets_[i], parameters[i].numel()).view(parameters[i].sizes());
}

FlatParameters FlatParameters::sharded(const std::vector<at::Tensor>& parameters,
                                       const distributed::Ranks& ranks, ComputedCopy copy) {
  const at::NoGradGuard no_grad;
  if (!copy.flat.defined()) {  // the whole buffer is the copy
    FlatParameters made(parameters, ranks.size());
    const distributed::Shard own = ranks.shard_of(made.total_);
    made.copy_ = {.flat = made.values_, .parts = parameters, .whole = {}};
    made.values_ = made.copy_.flat.narrow(0, own.begin, own.count).clone();
    made.begin_ = own.begin;
    return made;
  }
  const model::FlatLayout layout = model::flat_layout(parameters);
  FlatParameters made;
  made.offsets_ = layout.offsets;
  made.decayed_ = layout.matrices;
  made.parameter_count_ = layout.parameter_count;
  made.saved_count_ = layout.total;
  made.total_ = length_for(parameters, ranks.size());
  CHECK(copy.flat.numel() == made.total_ && copy.parts.size() == parameters.size(),
        "a copy of {} elements for parameters of {}", copy.flat.numel(), made.total_);
  const distributed::Shard own = ranks.shard_of(made.total_);
  made.begin_ = own.begin;
  const auto options = parameters.front().options().requires_grad(false);
  made.values_ = at::zeros({own.count}, options);
  const at::Tensor nothing = at::full({1}, std::nan(""), options);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    at::Tensor parameter = parameters[i];
    CHECK(parameter.scalar_type() == at::kFloat, "master weights are fp32");
    copy_overlap(made.values_, made.begin_, parameter.detach().flatten(), layout.offsets[i]);
    const bool is_whole = is_among(parameter, copy.whole);
    // The loop frees each parameter's memory before it copies the next.
    if (!is_whole) parameter.set_data(nothing.expand(parameter.sizes()));
    made.computed_.push_back(is_whole ? parameter : copy.parts[i]);
  }
  made.copy_ = std::move(copy);
  made.add_gradients(parameters);
  return made;
}

FlatPart FlatParameters::part(std::int64_t begin, std::int64_t count) const {
  CHECK(begin >= begin_ && begin + count <= begin_ + values_.numel(),
        "masters from {} on, {} of them, are another rank's", begin, count);
  return {.values = values_.narrow(0, begin - begin_, count),
          .gradients = gradients_.narrow(0, begin, count),
          .decayed = std::clamp(decayed_ - begin, std::int64_t{0}, count)};
}

Status FlatParameters::gather(distributed::Ranks& ranks) const {
  const at::NoGradGuard no_grad;
  // 16-bit types are exchanged as bytes, because their type does not matter here.
  const bool is_wide = copy_.flat.scalar_type() == at::kFloat;
  TRY(ranks.gather_shards(is_wide ? copy_.flat : copy_.flat.view(at::kByte), "the new weights"));
  if (copy_.whole.empty()) return ok();
  // Each element belongs to one rank and is zero on the others, so a sum exchanges them. There are
  // many vectors, so they are summed together.
  const at::Tensor vectors = at::zeros({total_ - decayed_}, values_.options());
  copy_overlap(vectors, decayed_, values_, begin_);
  TRY(ranks.sum(vectors, "the new weights"));
  for (std::size_t i = 0; i < computed_.size(); ++i) {
    if (!is_among(computed_[i], copy_.whole)) continue;
    const at::Tensor flat = computed_[i].detach().view(-1);
    if (offsets_[i] >= decayed_) {
      flat.copy_(vectors.narrow(0, offsets_[i] - decayed_, flat.numel()));
      continue;
    }
    flat.zero_();
    copy_overlap(flat, offsets_[i], values_, begin_);
    TRY(ranks.sum(flat, "the new weights"));
  }
  return ok();
}

void FlatParameters::take_masters(std::int64_t begin, const at::Tensor& masters) const {
  const at::NoGradGuard no_grad;
  copy_overlap(values_, begin_, masters, begin);
  if (!is_sharded()) return;
  copy_overlap(copy_.flat, 0, masters, begin);
  for (std::size_t i = 0; i < computed_.size(); ++i)
    if (is_among(computed_[i], copy_.whole))
      copy_overlap(computed_[i].detach().view(-1), offsets_[i], masters, begin);
}

}  // namespace tritonsmith::train
