#include "gym/judge/advice.h"

#include <fmt/format.h>

#include <algorithm>

namespace tritonsmith::gym::judge {
namespace {

// Says whether the line of Triton IR is a product of float32 tensors that tensor cores
// compute in TF32:
//   %acc = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<16x16xf32> * tensor<...
bool multiplies_in_tf32(std::string_view line) {
  const std::size_t precision = line.find("inputPrecision = tf32 :");
  if (line.find("tt.dot ") == std::string_view::npos || precision == std::string_view::npos)
    return false;
  const std::string_view types = line.substr(precision);
  return types.substr(0, types.find('*')).find("xf32>") != std::string_view::npos;
}

bool has_tf32(std::string_view ttir) {
  while (!ttir.empty()) {
    const std::size_t end = std::min(ttir.find('\n'), ttir.size());
    if (multiplies_in_tf32(ttir.substr(0, end))) return true;
    ttir.remove_prefix(std::min(end + 1, ttir.size()));
  }
  return false;
}

std::string advice_for(const plan::Plan& candidate, const Verdict& verdict) {
  const ErrorClass error = verdict.error->error_class;
  if (error == ErrorClass::too_large_to_evaluate)
    return verdict.backend == Backend::evaluate
               ? "; a GPU can judge it (--backend replay), or give the task smaller shapes"
               : "; give the task smaller shapes, or take a GPU with more memory";
  if (error != ErrorClass::wrong_value) return "";
  const auto kernel = std::ranges::find_if(
      candidate.kernels, [](const plan::PlanKernel& each) { return has_tf32(each.ttir); });
  if (kernel == candidate.kernels.end()) return "";
  return fmt::format(
      "; tl.dot in {} rounds float32 to TF32, which has 10 bits: input_precision=\"ieee\" keeps "
      "all",
      kernel->name);
}

}  // namespace

void add_advice(const plan::Plan& candidate, Verdict& verdict) {
  if (verdict.error) verdict.error->message += advice_for(candidate, verdict);
}

}  // namespace tritonsmith::gym::judge
