#include "generate/engine/decoder.h"

#include "generate/engine/aten_decoder.h"
#include "generate/engine/cpu_decoder.h"

namespace tritonsmith::generate::engine {

std::unique_ptr<Decoder> make_decoder(const model::Transformer& model, int slots) {
  if (model.device().is_cpu()) return std::make_unique<CpuDecoder>(model, slots);
  return std::make_unique<AtenDecoder>(model, slots);
}

}  // namespace tritonsmith::generate::engine
