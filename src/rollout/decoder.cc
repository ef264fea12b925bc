#include "rollout/decoder.h"

#include "rollout/aten_decoder.h"
#include "rollout/cpu_decoder.h"

namespace tritonsmith::rollout {

std::unique_ptr<Decoder> make_decoder(const model::Transformer& model, int slots) {
  if (model.device().is_cpu()) return std::make_unique<CpuDecoder>(model, slots);
  return std::make_unique<AtenDecoder>(model, slots);
}

}  // namespace tritonsmith::rollout
