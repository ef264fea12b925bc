#include "gym/judge/advice.h"

#include <fmt/format.h>

#include "base/printable.h"
#include "gym/language/registry/languages.h"

namespace tritonsmith::gym::judge {
namespace {

std::string advice_for(const plan::Plan& candidate, const Verdict& verdict) {
  const ErrorClass error = verdict.error->error_class;
  if (error == ErrorClass::too_large_to_evaluate)
    return verdict.backend == Backend::evaluate
               ? "; a GPU can judge it (--backend replay), or give the task smaller shapes"
               : "; give the task smaller shapes, or take a GPU with more memory";
  if (error != ErrorClass::wrong_value) return "";
  for (const plan::PlanParameter& weight : candidate.parameters)
    if (weight.is_read)
      return fmt::format(
          "; Python read the value of `{}` (.item(), float()), so kernels receive "
          "the constructor's value, and the judge changes weights: load it in the "
          "kernel",
          printable(weight.name));
  for (const plan::PlanKernel& kernel : candidate.kernels)
    if (std::string advice = language::language_of(kernel).advice_for_wrong_values(kernel);
        !advice.empty())
      return "; " + advice;
  return "";
}

}  // namespace

void add_advice(const plan::Plan& candidate, Verdict& verdict) {
  if (verdict.error) verdict.error->message += advice_for(candidate, verdict);
}

}  // namespace tritonsmith::gym::judge
