#include "gym/cuda/fused_oracles.h"

#include <chrono>

#include "gym/cuda/device_code.h"

namespace tritonsmith::gym::cuda {
namespace {

constexpr std::int64_t kFewElements = 1 << 20;

}  // namespace

std::optional<FusedOracle> FusedOracles::find(const plan::Plan& task) {
  if (!std::holds_alternative<plan::TensorRef>(task.outputs.data)) return std::nullopt;
  const int output = std::get<plan::TensorRef>(task.outputs.data).index;
  if (plan::elements_of(task.tensors.at(static_cast<std::size_t>(output))) < kFewElements)
    return std::nullopt;
  auto wanted = oracle_source(task);
  if (!wanted) return std::nullopt;
  take_compiled();
  if (const Made* made = made_.find(wanted->source)) {
    if (made->function == nullptr) return std::nullopt;
    return FusedOracle{.function = made->function, .leaves = std::move(wanted->leaves)};
  }
  if (!cubin_.valid()) {
    compiling_ = wanted->source;
    cubin_ = std::async(std::launch::async, [this, source = compiling_] {
      return compile_source(nvrtc_, target_, source);
    });
  }
  return std::nullopt;
}

void FusedOracles::take_compiled() {
  if (!cubin_.valid() || cubin_.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
    return;
  take(cubin_.get());
}

void FusedOracles::take(const Result<std::string>& cubin) {
  Made& made = made_.add(compiling_, {}, cubin ? cubin->size() : 0);
  if (!cubin) return;
  auto module = Module::load(driver_, *cubin);
  if (!module) return;
  const auto function = module->function(kOracleKernel);
  if (!function) return;
  made.function = *function;
  made.module = *std::move(module);
}

void FusedOracles::finish() {
  if (cubin_.valid()) take(cubin_.get());
}

}  // namespace tritonsmith::gym::cuda
