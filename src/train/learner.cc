#include "train/learner.h"

#include <ATen/ATen.h>

#include <cmath>

#include "model/checkpoint.h"
#include "model/safetensors.h"

namespace tritonsmith::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOptimizerFile = "optimizer.safetensors";
constexpr const char* kCompanions[] = {"tokenizer.json", "tokenizer_config.json",
                                       "special_tokens_map.json", "chat_template.jinja",
                                       "generation_config.json"};

std::vector<at::Tensor> tensors_of(const model::Transformer& model) {
  std::vector<at::Tensor> tensors;
  for (const auto& [name, tensor] : model.parameters()) tensors.push_back(tensor);
  return tensors;
}

Status copy_companions(const fs::path& from, const fs::path& to) {
  for (const char* name : kCompanions) {
    std::error_code code;
    if (!fs::exists(from / name, code)) continue;
    fs::copy_file(from / name, to / name, fs::copy_options::overwrite_existing, code);
    if (code) return fail("cannot write {}: {}", (to / name).string(), code.message());
  }
  return ok();
}

}  // namespace

Learner::Learner(model::Transformer model)
    : model_(std::make_unique<model::Transformer>(std::move(model))),
      parameters_(tensors_of(*model_)),
      optimizer_(AdamWState::zeros_like(parameters_)) {}

Result<Learner> Learner::start(const fs::path& directory, c10::Device device) {
  TRY_ASSIGN(model::Transformer model, model::load_model(directory, device));
  return Learner(std::move(model));
}

Result<Learner> Learner::resume(const fs::path& directory, c10::Device device) {
  TRY_ASSIGN(Learner learner, start(directory, device));
  const at::Tensor updates = at::zeros({1}, at::kLong);
  const std::vector<model::NamedTensor> state = {{"exp_avg", learner.optimizer_.first},
                                                 {"exp_avg_sq", learner.optimizer_.second},
                                                 {"updates", updates}};
  TRY(model::read_tensors_into(state, directory / kOptimizerFile));
  learner.optimizer_.updates = updates.item<std::int64_t>();
  return learner;
}

Status Learner::save(const fs::path& directory, const fs::path& origin) const {
  TRY(model::save_model(*model_, directory));
  const std::vector<model::NamedTensor> state = {
      {"exp_avg", optimizer_.first},
      {"exp_avg_sq", optimizer_.second},
      {"updates", at::full({1}, optimizer_.updates, at::kLong)}};
  TRY(model::write_safetensors(directory / kOptimizerFile, state));
  return copy_companions(origin, directory);
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
}

Result<UpdateReport> Learner::update(const OptimizerSection& options, std::int64_t total_updates) {
  UpdateReport report{.learning_rate = options.rate_at(optimizer_.updates, total_updates)};
  const Clipping clipped = clipping(parameters_, options.max_grad_norm);
  report.grad_norm = clipped.norm;
  if (!std::isfinite(report.grad_norm))
    return fail(
        "the gradient of update {} is not finite; lower optimizer.learning_rate and go on "
        "from the last checkpoint",
        optimizer_.updates + 1);
  const model::HalfWeights* half = model_->half_weights();
  adamw_update(parameters_, optimizer_, options.adamw(),
               {.learning_rate = report.learning_rate,
                .gradient_scale = clipped.scale,
                .half = half == nullptr ? at::Tensor() : half->flat()});
  return report;
}

}  // namespace tritonsmith::train
