#include "train/learner.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <cmath>

#include "model/checkpoint.h"
#include "model/device.h"
#include "model/safetensors.h"

namespace tritonsmith::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOptimizerFile = "optimizer.safetensors";
constexpr const char* kAdapterDirectory = "adapter";

std::vector<at::Tensor> tensors_of(const std::vector<model::NamedTensor>& parameters) {
  std::vector<at::Tensor> tensors;
  for (const auto& [name, tensor] : parameters) tensors.push_back(tensor);
  return tensors;
}

}  // namespace

Learner::Learner(model::Transformer model)
    : model_(std::make_unique<model::Transformer>(std::move(model))),
      parameters_(tensors_of(model_->parameters())) {}

void Learner::adapt(model::LoraAdapter adapter) {
  FlatParameters flat(tensors_of(adapter.parameters()));
  adapted_ = std::make_unique<Adapted>(
      Adapted{.adapter = std::move(adapter), .parameters = std::move(flat)});
  // From where A and B lie now: a matrix product may round otherwise for another alignment, and a
  // resumed run computes what the uninterrupted one would have.
  adapted_->adapter.merge();
}

Result<Learner> Learner::start(const fs::path& directory, c10::Device device,
                               const model::LoraConfig& lora, std::uint64_t seed) {
  TRY_ASSIGN(model::Transformer model, model::load_model(directory, device));
  Learner learner(std::move(model));
  if (lora.rank > 0) {
    TRY_ASSIGN(auto adapter, model::LoraAdapter::make(*learner.model_, lora, seed));
    learner.adapt(std::move(adapter));
  }
  learner.begin_optimizer();
  return learner;
}

Result<Learner> Learner::start_from(const fs::path& directory, const fs::path& adapter,
                                    c10::Device device) {
  TRY_ASSIGN(model::Transformer model, model::load_model(directory, device));
  Learner learner(std::move(model));
  TRY_ASSIGN(auto loaded, model::LoraAdapter::load(*learner.model_, adapter));
  learner.adapt(std::move(loaded));
  learner.begin_optimizer();
  return learner;
}

Result<Learner> Learner::resume(const fs::path& directory, c10::Device device,
                                const fs::path& origin) {
  const bool is_adapted = model::is_adapter(directory / kAdapterDirectory);
  auto started = is_adapted ? start_from(origin, directory / kAdapterDirectory, device)
                            : start(directory, device);
  TRY(started);
  Learner learner = *std::move(started);
  const at::Tensor updates = at::zeros({1}, at::kLong);
  const std::vector<model::NamedTensor> state = {{"exp_avg", learner.optimizer_.first},
                                                 {"exp_avg_sq", learner.optimizer_.second},
                                                 {"updates", updates}};
  TRY(model::read_tensors_into(state, directory / kOptimizerFile));
  learner.optimizer_.updates = updates.item<std::int64_t>();
  return learner;
}

LearnerSnapshot Learner::snapshot_on(c10::Device device) const {
  const auto copy = [&](const at::Tensor& t) { return at::empty_like(t, device).copy_(t); };
  const at::NoGradGuard no_grad;
  LearnerSnapshot snapshot{.config = model_->config(),
                           .weights = model_->parameters(),
                           .optimizer = {.first = copy(optimizer_.first),
                                         .second = copy(optimizer_.second),
                                         .updates = optimizer_.updates},
                           .adapter = {}};
  if (adapted_)
    snapshot.adapter = adapted_->adapter.copy();
  else
    for (auto& [name, tensor] : snapshot.weights) tensor = copy(tensor.detach());
  if (model_->device().is_cuda()) {
    const c10::impl::VirtualGuardImpl gpu(model_->device().type());
    gpu.synchronizeStream(gpu.getStream(model_->device()));  // it is written by another stream
  }
  return snapshot;
}

std::size_t Learner::snapshot_bytes() const {
  const FlatParameters& copied = adapted_ ? adapted_->parameters : parameters_;
  return copied.values().nbytes() + optimizer_.first.nbytes() + optimizer_.second.nbytes();
}

LearnerSnapshot Learner::snapshot() {
  const c10::Device device = model_->device();
  if (device.is_cpu()) return snapshot_on(device);
  // The most that was held so far may include the snapshot before.
  const std::size_t bytes = snapshot_bytes();
  const bool fits = model::spare_bytes(device) + snapshot_on_device_ > bytes + bytes / 16;
  snapshot_on_device_ = fits ? bytes : 0;
  return snapshot_on(fits ? device : c10::Device(c10::kCPU));
}

Status Learner::save(const fs::path& directory, const fs::path& origin) {
  return snapshot().save(directory, origin);
}

Status LearnerSnapshot::save(const fs::path& directory, const fs::path& origin) const {
  c10::OptionalStreamGuard own_stream;
  if (const c10::Device used = weights.front().tensor.device(); used.is_cuda())
    own_stream.reset_stream(c10::impl::VirtualGuardImpl(used.type()).getStreamFromGlobalPool(used));
  const auto now = [&](const model::NamedTensor& weight) {
    const at::Tensor merged = adapter ? adapter->merged(weight.name) : at::Tensor();
    return merged.defined() ? merged : weight.tensor;
  };
  TRY(model::save_model(config, weights, directory, now));
  if (adapter) TRY(adapter->save(directory / kAdapterDirectory, fs::absolute(origin).string()));
  const std::vector<model::NamedTensor> state = {
      {"exp_avg", optimizer.first},
      {"exp_avg_sq", optimizer.second},
      {"updates", at::full({1}, optimizer.updates, at::kLong)}};
  TRY(model::write_safetensors(directory / kOptimizerFile, state));
  return model::copy_companions(origin, directory);
}

void Learner::add_gradient(std::span<const MicroBatch> batches, double temperature,
                           const Coefficients& coefficients) {
  for (const MicroBatch& batch : batches) {
    const auto now = forward_tokens(*model_, batch, temperature);
    const TokenGradient gradient =
        coefficients(batch, {.logprob = now.logprob.detach(), .entropy = now.entropy.detach()});
    at::Tensor loss = (now.logprob * gradient.logprob).sum();
    if (gradient.entropy.defined()) loss = loss + (now.entropy * gradient.entropy).sum();
    loss.backward();
  }
  if (adapted_) adapted_->adapter.take_gradients();
}

Result<UpdateReport> Learner::update(const OptimizerSection& options, std::int64_t total_updates) {
  UpdateReport report{.learning_rate = options.rate_at(optimizer_.updates, total_updates)};
  const Clipping clipped = clipping(trained(), options.max_grad_norm);
  report.grad_norm = clipped.norm;
  if (!std::isfinite(report.grad_norm))
    return fail(
        "the gradient of update {} is not finite; lower optimizer.learning_rate and go on "
        "from the last checkpoint",
        optimizer_.updates + 1);
  // The optimizer writes the kernels' copy of the weights with the weights; an adapter changes them
  // by LibTorch's operators, which that copy notices.
  const model::HalfWeights* half = adapted_ ? nullptr : model_->half_weights();
  adamw_update(trained(), optimizer_, options.adamw(),
               {.learning_rate = report.learning_rate,
                .gradient_scale = clipped.scale,
                .half = half == nullptr ? at::Tensor() : half->flat()});
  if (adapted_) adapted_->adapter.merge();
  return report;
}

}  // namespace tritonsmith::train
