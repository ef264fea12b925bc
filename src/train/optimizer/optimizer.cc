#include "train/optimizer/optimizer.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

#include "model/checkpoint/checkpoint.h"

namespace tritonsmith::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFirst = "exp_avg";
constexpr const char* kSecond = "exp_avg_sq";
constexpr const char* kUpdates = "updates";
constexpr const char* kMasters = "master";  // only if they are sharded
constexpr const char* kBegin = "begin";     // the shard's offset in the whole

std::string file_name(int rank, int ranks) {
  return ranks == 1 ? "optimizer.safetensors"
                    : fmt::format("optimizer-{:05}-of-{:05}.safetensors", rank + 1, ranks);
}

// Returns the files of a checkpoint in the order of the shards.
Result<std::vector<fs::path>> shard_files(const fs::path& directory) {
  std::error_code ignored;
  const fs::path single = directory / file_name(0, 1);
  if (fs::exists(single, ignored)) return std::vector{single};
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(directory, ignored))
    if (const std::string name = entry.path().filename().string();
        name.starts_with("optimizer-") && name.ends_with(".safetensors"))
      found.push_back(entry.path());
  std::ranges::sort(found);
  const auto count = static_cast<int>(found.size());
  for (int rank = 0; rank < count; ++rank)
    if (found[static_cast<std::size_t>(rank)].filename() != file_name(rank, count))
      return fail("{}: a shard of the optimizer's state is missing", directory.string());
  if (found.empty()) return fail("{} is missing", single.string());
  return found;
}

// The part of the whole state that one file holds.
struct SavedShard {
  at::Tensor first, second;
  at::Tensor masters;  // undefined if they are not sharded
  std::int64_t begin = 0, updates = 0;

  std::int64_t end() const { return begin + first.numel(); }
};

Result<SavedShard> saved_shard_of(const model::SafetensorsFile& file) {
  SavedShard saved;
  TRY_ASSIGN(saved.first, file.view(kFirst));
  TRY_ASSIGN(saved.second, file.view(kSecond));
  TRY_ASSIGN(const at::Tensor updates, file.tensor(kUpdates));
  if (file.entries().contains(kMasters)) {
    TRY_ASSIGN(saved.masters, file.view(kMasters));
  }
  for (const at::Tensor& moments :
       {saved.first, saved.second, saved.masters.defined() ? saved.masters : saved.first})
    if (moments.dim() != 1 || moments.scalar_type() != at::kFloat ||
        moments.numel() != saved.first.numel())
      return fail("{}: the optimizer's state has other tensors", file.path().string());
  saved.updates = updates.item<std::int64_t>();
  if (file.entries().contains(kBegin)) {
    TRY_ASSIGN(const at::Tensor begin, file.tensor(kBegin));
    saved.begin = begin.item<std::int64_t>();
  }
  return saved;
}

// Copies the elements of the saved shard that belong to this rank's shard.
void take(const SavedShard& saved, const distributed::Shard& own, AdamWState& state) {
  const std::int64_t begin = std::max(own.begin, saved.begin);
  const std::int64_t count = std::min(own.begin + own.count, saved.end()) - begin;
  if (count <= 0) return;
  const auto copy = [&](const at::Tensor& into, const at::Tensor& from) {
    into.narrow(0, begin - own.begin, count).copy_(from.narrow(0, begin - saved.begin, count));
  };
  copy(state.first, saved.first);
  copy(state.second, saved.second);
}

// Tells whether AdamW's kernel also writes this rank's part of the computed copy.
bool is_rounded_by_kernel(const FlatParameters& parameters) {
  return parameters.is_sharded() && parameters.copy().is_cuda() &&
         parameters.copy().element_size() == 2;
}

}  // namespace

Optimizer::Optimizer(const FlatParameters& parameters, distributed::Ranks& ranks) : ranks_(&ranks) {
  const distributed::Shard shard = own(parameters);
  state_ = AdamWState::zeros_like(parameters.part(shard.begin, shard.count));
}

distributed::Shard Optimizer::own(const FlatParameters& parameters) const {
  return ranks_->shard_of(parameters.total());
}

std::size_t Optimizer::bytes() const { return state_.first.nbytes() + state_.second.nbytes(); }

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
  const at::Tensor of_shard = is_rounded_by_kernel(parameters)
                                  ? parameters.copy().narrow(0, shard.begin, shard.count)
                                  : at::Tensor();
  adamw_update(part, state_, options.adamw(),
               {.learning_rate = report.learning_rate,
                .gradient_scale = clipping_of(report.grad_norm, options.max_grad_norm).scale,
                .half = ranks_->is_alone() ? half : of_shard});
  TRY(hand_over(parameters, half));
  return report;
}

// Exchanges the new weights with the other ranks.
Status Optimizer::hand_over(const FlatParameters& parameters, const at::Tensor& half) const {
  if (ranks_->is_alone()) return ok();
  const at::NoGradGuard no_grad;
  if (!parameters.is_sharded()) {
    TRY(ranks_->gather_shards(parameters.values(), "the new weights"));
    if (half.defined()) half.copy_(parameters.values().narrow(0, 0, half.numel()));
    return ok();
  }
  if (!is_rounded_by_kernel(parameters)) {
    const distributed::Shard shard = own(parameters);
    parameters.copy().narrow(0, shard.begin, shard.count).copy_(parameters.values());
  }
  return parameters.gather(*ranks_);
}

OptimizerShard Optimizer::copy(const FlatParameters& parameters, const Copy& copy) const {
  const at::NoGradGuard no_grad;
  const distributed::Shard shard = own(parameters);
  // The elements after the model's own are padding.
  const std::int64_t count =
      std::clamp(parameters.saved_count() - shard.begin, std::int64_t{0}, shard.count);
  const auto copied = [&](const at::Tensor& of) { return copy(of.narrow(0, 0, count)); };
  return {.state = {.first = copied(state_.first),
                    .second = copied(state_.second),
                    .updates = state_.updates},
          .masters = parameters.is_sharded() ? copied(parameters.values()) : at::Tensor(),
          .begin = shard.begin,
          .rank = ranks_->rank(),
          .ranks = ranks_->size()};
}

Status OptimizerShard::write(const fs::path& directory) const {
  std::vector<model::NamedTensor> tensors = {{kFirst, state.first},
                                             {kSecond, state.second},
                                             {kUpdates, at::full({1}, state.updates, at::kLong)}};
  if (masters.defined()) tensors.push_back({kMasters, masters});
  if (ranks > 1) tensors.push_back({kBegin, at::full({1}, begin, at::kLong)});
  return model::write_safetensors(directory / file_name(rank, ranks), tensors);
}

Status Optimizer::read(const FlatParameters& parameters, const fs::path& directory) {
  TRY_ASSIGN(const auto files, shard_files(directory));
  return ranks_->is_alone() && files.size() == 1 ? read_whole(files[0])
                                                 : read_shards(parameters, files);
}

// All threads read, each directly into the final location.
Status Optimizer::read_whole(const fs::path& file) {
  const at::Tensor updates = at::zeros({1}, at::kLong);
  const std::vector<model::NamedTensor> state = {
      {kFirst, state_.first}, {kSecond, state_.second}, {kUpdates, updates}};
  TRY(model::read_tensors_into(state, file));
  state_.updates = updates.item<std::int64_t>();
  return ok();
}

Status Optimizer::read_shards(const FlatParameters& parameters,
                              const std::vector<fs::path>& files) {
  const at::NoGradGuard no_grad;
  std::int64_t covered = 0;
  for (const fs::path& path : files) {
    TRY_ASSIGN(const auto file, model::SafetensorsFile::open(path));
    TRY_ASSIGN(const SavedShard saved, saved_shard_of(file));
    const bool is_next = saved.begin == covered || saved.first.numel() == 0;
    if (!is_next || (covered > 0 && saved.updates != state_.updates))
      return fail("{}: the shards do not belong together", path.string());
    covered += saved.first.numel();
    state_.updates = saved.updates;
    take(saved, own(parameters), state_);
    if (saved.masters.defined()) {
      parameters.take_masters(saved.begin, saved.masters);
      file.release(saved.masters);
    }
    file.release(saved.first);
    file.release(saved.second);
  }
  if (covered != parameters.saved_count())
    return fail("{}: the optimizer's state does not belong to this model", files[0].string());
  return ok();
}

}  // namespace tritonsmith::train
