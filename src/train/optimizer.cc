#include "train/optimizer.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "model/checkpoint.h"

namespace tritonsmith::train {
namespace {

constexpr const char* kFirst = "exp_avg";
constexpr const char* kSecond = "exp_avg_sq";
constexpr const char* kUpdates = "updates";
// Elements of each shard that are exchanged at a time when the whole is put together.
constexpr std::int64_t kPiece = std::int64_t{1} << 24;

// The part of a whole tensor in the file that falls into the shard; what lies behind it is padding.
Status read_shard(const model::SafetensorsFile& file, const char* name, std::int64_t count,
                  const distributed::Shard& own, at::Tensor& into) {
  TRY_ASSIGN(const at::Tensor whole, file.view(name));
  if (whole.sizes() != at::IntArrayRef({count}) || whole.scalar_type() != at::kFloat)
    return fail("{}: '{}' does not belong to this model", file.path().string(), name);
  const std::int64_t end = std::min(own.begin + own.count, count);
  if (end <= own.begin) return ok();
  into.narrow(0, 0, end - own.begin).copy_(whole.narrow(0, own.begin, end - own.begin));
  return ok();
}

}  // namespace

Optimizer::Optimizer(const FlatParameters& parameters, distributed::Ranks& ranks) : ranks_(&ranks) {
  const distributed::Shard shard = own(parameters);
  state_ = AdamWState::zeros_like(parameters.part(shard.begin, shard.count));
}

distributed::Shard Optimizer::own(const FlatParameters& parameters) const {
  return ranks_->shard_of(parameters.values().numel());
}

std::size_t Optimizer::bytes() const {
  return (state_.first.nbytes() + state_.second.nbytes()) *
         static_cast<std::size_t>(ranks_->size());
}

Result<double> Optimizer::norm_over_ranks(const at::Tensor& own_gradients) const {
  const double norm = norm_of(own_gradients);
  if (ranks_->is_alone()) return norm;
  const at::Tensor square = at::full({1}, norm * norm, at::kDouble);
  TRY(ranks_->sum(square, "the norm of the gradients"));
  return std::sqrt(square.item<double>());
}

Result<UpdateReport> Optimizer::update(FlatParameters& parameters, const OptimizerSection& options,
                                       std::int64_t total_updates, const at::Tensor& half) {
  UpdateReport report{.learning_rate = options.rate_at(state_.updates, total_updates)};
  TRY(ranks_->sum_to_shards(parameters.gradients(), "the sum of the gradients"));
  const distributed::Shard shard = own(parameters);
  const FlatPart part = parameters.part(shard.begin, shard.count);
  TRY_ASSIGN(report.grad_norm, norm_over_ranks(part.gradients));
  if (!std::isfinite(report.grad_norm))
    return fail(
        "the gradient of update {} is not finite; lower optimizer.learning_rate and go on "
        "from the last checkpoint",
        state_.updates + 1);
  adamw_update(part, state_, options.adamw(),
               {.learning_rate = report.learning_rate,
                .gradient_scale = clipping_of(report.grad_norm, options.max_grad_norm).scale,
                .half = ranks_->is_alone() ? half : at::Tensor()});
  if (ranks_->is_alone()) return report;
  TRY(ranks_->gather_shards(parameters.values(), "the new weights"));
  const at::NoGradGuard no_grad;
  if (half.defined()) half.copy_(parameters.values().narrow(0, 0, half.numel()));
  return report;
}

Result<at::Tensor> Optimizer::joined(const at::Tensor& shard, std::int64_t count,
                                     c10::Device device) const {
  if (ranks_->is_alone()) return at::empty_like(shard, device).copy_(shard);
  const std::int64_t length = shard.numel(), ranks = ranks_->size();
  const bool keeps = ranks_->is_first();
  at::Tensor all =
      keeps ? at::empty({ranks * length}, shard.options().device(device)) : at::Tensor();
  for (std::int64_t begin = 0; begin < length; begin += kPiece) {
    const std::int64_t piece = std::min(kPiece, length - begin);
    const at::Tensor rows = at::empty({ranks, piece}, shard.options());
    rows[ranks_->rank()].copy_(shard.narrow(0, begin, piece));
    TRY(ranks_->gather_shards(rows.view({-1}), "the optimizer's state"));
    for (std::int64_t rank = 0; keeps && rank < ranks; ++rank)
      all.narrow(0, rank * length + begin, piece).copy_(rows[rank]);
  }
  return keeps ? all.narrow(0, 0, count) : all;
}

Result<AdamWState> Optimizer::whole(const FlatParameters& parameters, c10::Device device) const {
  const at::NoGradGuard no_grad;
  AdamWState whole{.first = {}, .second = {}, .updates = state_.updates};
  const std::int64_t count = parameters.saved_count();
  TRY_ASSIGN(whole.first, joined(state_.first, count, device));
  TRY_ASSIGN(whole.second, joined(state_.second, count, device));
  return whole;
}

Status Optimizer::write(const AdamWState& whole, const std::filesystem::path& file) {
  const std::vector<model::NamedTensor> state = {
      {kFirst, whole.first},
      {kSecond, whole.second},
      {kUpdates, at::full({1}, whole.updates, at::kLong)}};
  return model::write_safetensors(file, state);
}

Status Optimizer::read(const FlatParameters& parameters, const std::filesystem::path& path) {
  const at::Tensor updates = at::zeros({1}, at::kLong);
  if (ranks_->is_alone()) {
    const std::vector<model::NamedTensor> state = {
        {kFirst, state_.first}, {kSecond, state_.second}, {kUpdates, updates}};
    TRY(model::read_tensors_into(state, path));
  } else {
    TRY_ASSIGN(const auto file, model::SafetensorsFile::open(path));
    const distributed::Shard shard = own(parameters);
    TRY(read_shard(file, kFirst, parameters.saved_count(), shard, state_.first));
    TRY(read_shard(file, kSecond, parameters.saved_count(), shard, state_.second));
    TRY_ASSIGN(const at::Tensor written, file.tensor(kUpdates));
    updates.copy_(written);
  }
  state_.updates = updates.item<std::int64_t>();
  return ok();
}

}  // namespace tritonsmith::train
