#include "train/gradient/learner.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "model/checkpoint/checkpoint.h"
#include "model/memory/device.h"
#include "model/weights/flat_layout.h"
#include "model/weights/safetensors.h"

namespace tritonsmith::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAdapterDirectory = "adapter";

FlatParameters flat_parameters(model::Transformer& model, const distributed::Ranks& ranks,
                               Masters masters) {
  const auto tensors = model::tensors_of(model.parameters());
  if (masters == Masters::whole || ranks.is_alone()) return FlatParameters(tensors, ranks.size());
  const model::HalfWeights* half = model.keep_half_weights(model::FlatLayout::kRow * ranks.size());
  if (half == nullptr) return FlatParameters::sharded(tensors, ranks);
  return FlatParameters::sharded(
      tensors, ranks,
      {.flat = half->flat(), .parts = half->parts(), .whole = model.whole_masters()});
}

}  // namespace

Learner::Learner(model::Transformer model, const LearnerOptions& options, Masters masters)
    : ranks_(&options.ranks),
      model_(std::make_unique<model::Transformer>(std::move(model))),
      parameters_(flat_parameters(*model_, options.ranks, masters)) {}

void Learner::adapt(model::LoraAdapter adapter) {
  FlatParameters flat(model::tensors_of(adapter.parameters()), ranks_->size());
  adapted_ = std::make_unique<Adapted>(
      Adapted{.adapter = std::move(adapter), .parameters = std::move(flat)});
  // A matrix product may round differently if its operands have another alignment. So this merges
  // A and B at their final addresses. A resumed run then computes what the uninterrupted run would.
  adapted_->adapter.merge();
}

Result<Learner> Learner::start(const fs::path& directory, LearnerOptions options,
                               const model::LoraConfig& lora, std::uint64_t seed) {
  TRY_ASSIGN(model::Transformer model, model::load_model(directory, options.device));
  model.set_precision(options.precision);
  Learner learner(std::move(model), options, lora.rank > 0 ? Masters::whole : options.masters);
  if (lora.rank > 0) {
    TRY_ASSIGN(auto adapter, model::LoraAdapter::make(*learner.model_, lora, seed));
    learner.adapt(std::move(adapter));
  }
  learner.begin_optimizer();
  return learner;
}

Result<Learner> Learner::start_from(const fs::path& directory, const fs::path& adapter,
                                    LearnerOptions options) {
  TRY_ASSIGN(model::Transformer model, model::load_model(directory, options.device));
  model.set_precision(options.precision);
  Learner learner(std::move(model), options, Masters::whole);
  TRY_ASSIGN(auto loaded, model::LoraAdapter::load(*learner.model_, adapter));
  learner.adapt(std::move(loaded));
  learner.begin_optimizer();
  return learner;
}

Result<Learner> Learner::resume(const fs::path& directory, LearnerOptions options,
                                const fs::path& origin) {
  const bool is_adapted = model::is_adapter(directory / kAdapterDirectory);
  auto started = is_adapted ? start_from(origin, directory / kAdapterDirectory, options)
                            : start(directory, options);
  TRY(started);
  Learner learner = *std::move(started);
  TRY(learner.optimizer_->read(learner.trained(), directory));
  return learner;
}

Result<LearnerSnapshot> Learner::snapshot_by(const Optimizer::Copy& copy) const {
  const at::NoGradGuard no_grad;
  LearnerSnapshot snapshot{.config = model_->config(),
                           .weights = {},
                           .optimizer = optimizer_->copy(parameters(), copy),
                           .adapter = {}};
  if (ranks_->is_first()) {
    snapshot.weights = model_->parameters();
    for (std::size_t i = 0; i < snapshot.weights.size(); ++i)
      snapshot.weights[i].tensor = parameters_.computed()[i];
  }
  if (ranks_->is_first() && adapted_)
    snapshot.adapter = adapted_->adapter.copy();
  else
    for (auto& [name, tensor] : snapshot.weights) tensor = copy(tensor.detach());
  if (model_->device().is_cuda()) {
    const c10::impl::VirtualGuardImpl gpu(model_->device().type());
    gpu.synchronizeStream(gpu.getStream(model_->device()));  // another stream writes the snapshot
  }
  return snapshot;
}

std::size_t Learner::snapshot_bytes() const {
  const FlatParameters& copied = adapted_ ? adapted_->parameters : parameters_;
  std::size_t bytes = optimizer_->bytes() + (copied.is_sharded() ? copied.values().nbytes() : 0);
  if (ranks_->is_first())
    for (const at::Tensor& each : copied.computed()) bytes += each.nbytes();
  return bytes;
}

bool Learner::has_room_for_snapshot() const {
  // The peak memory so far may include the previous snapshot.
  const std::size_t bytes = snapshot_bytes();
  return model::spare_bytes(model_->device()) + snapshot_on_device_ > bytes + bytes / 16;
}

std::size_t Learner::snapshot_room() const {
  return snapshot_bytes() + model::HostArena::room_for(1) * (model_->parameters().size() + 3);
}

void Learner::expect_snapshot() {
  if (model_->device().is_cuda() && !has_room_for_snapshot()) arena_.expect(snapshot_room());
}

Result<LearnerSnapshot> Learner::snapshot() {
  const auto copy_here = [](const at::Tensor& t) { return at::empty_like(t).copy_(t); };
  if (model_->device().is_cpu()) return snapshot_by(copy_here);
  const bool fits = has_room_for_snapshot();
  snapshot_on_device_ = fits ? snapshot_bytes() : 0;
  if (fits) return snapshot_by(copy_here);
  const std::shared_ptr<model::HostArena>& arena = arena_.get(snapshot_room());
  arena->rewind();
  return snapshot_by([&](const at::Tensor& t) { return arena->copy(t); });
}

Status Learner::save(const fs::path& directory, const fs::path& origin) {
  TRY_ASSIGN(const LearnerSnapshot taken, snapshot());
  return taken.save(directory, origin);
}

Status LearnerSnapshot::save(const fs::path& directory, const fs::path& origin) const {
  c10::OptionalStreamGuard own_stream;
  const c10::Device used = weights.empty() ? device() : weights.front().tensor.device();
  if (used.is_cuda())
    own_stream.reset_stream(c10::impl::VirtualGuardImpl(used.type()).getStreamFromGlobalPool(used));
  if (weights.empty()) return optimizer.write(directory);
  const auto now = [&](const model::NamedTensor& weight) {
    const at::Tensor merged = adapter ? adapter->merged(weight.name) : at::Tensor();
    return merged.defined() ? merged : weight.tensor;
  };
  TRY(model::save_model(config, weights, directory, now));
  if (adapter) TRY(adapter->save(directory / kAdapterDirectory, fs::absolute(origin).string()));
  TRY(optimizer.write(directory));
  return model::copy_companions(origin, directory);
}

void Learner::add_gradient(std::span<const MicroBatch> batches, double temperature,
                           Dependence dependence, const Coefficients& coefficients) {
  for (const MicroBatch& batch : batches)
    add_token_gradient(*model_, batch, temperature, dependence, coefficients);
  if (adapted_) adapted_->adapter.take_gradients();
}

void Learner::scale_gradients(double factor) {
  const at::NoGradGuard no_grad;
  at::Tensor(parameters_.gradients()).mul_(factor);
  if (adapted_) adapted_->adapter.take_gradients();
}

Result<UpdateReport> Learner::update(const OptimizerSection& options, std::int64_t total_updates) {
  // The optimizer writes the weights together with the kernels' copy. An adapter changes weights
  // with LibTorch's operators, and that copy notices it.
  const model::HalfWeights* half = adapted_ ? nullptr : model_->half_weights();
  TRY_ASSIGN(const UpdateReport report,
             optimizer_->update(trained(), options, total_updates,
                                half == nullptr ? at::Tensor() : half->flat()));
  if (adapted_) adapted_->adapter.merge();
  return report;
}

}  // namespace tritonsmith::train
