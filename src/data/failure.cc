#include "data/failure.h"

#include <algorithm>
#include <array>

namespace tritonsmith {
namespace {

// In the order of the enumerators.
constexpr auto kWords = std::to_array<std::pair<ErrorClass, std::string_view>>({
    {ErrorClass::unknown, "an unknown error"},
    {ErrorClass::no_kernel, "no kernel in the answer"},
    {ErrorClass::syntax_error, "not Python"},
    {ErrorClass::refused, "refused by a rule"},
    {ErrorClass::no_model, "no class ModelNew"},
    {ErrorClass::import_error, "an import fails"},
    {ErrorClass::exception, "an exception in Python"},
    {ErrorClass::data_dependent, "Python reads a tensor's values"},
    {ErrorClass::not_captured, "cannot be captured"},
    {ErrorClass::unsupported_launch, "a launch of an unknown form"},
    {ErrorClass::state_carried, "keeps state between calls"},
    {ErrorClass::mode_dependent, "computes differently in evaluation mode"},
    {ErrorClass::tampering, "reaches into the judge's process"},
    {ErrorClass::timeout, "takes too long"},
    {ErrorClass::killed, "uses too much memory"},
    {ErrorClass::crashed, "crashes its process"},
    {ErrorClass::exited, "ends its process"},
    {ErrorClass::output_flood, "prints too much"},
    {ErrorClass::bad_reply, "hands over no launch plan"},
    {ErrorClass::bad_plan, "hands over a broken launch plan"},
    {ErrorClass::compile_error, "does not compile"},
    {ErrorClass::compile_timeout, "compiles for too long"},
    {ErrorClass::compile_crash, "crashes the compiler"},
    {ErrorClass::out_of_resources, "needs too much shared memory"},
    {ErrorClass::refused_ir, "uses a refused operation"},
    {ErrorClass::bad_ir, "no Triton IR"},
    {ErrorClass::bad_request, "asks the judge for what there is not"},
    {ErrorClass::no_inputs, "the module has no inputs"},
    {ErrorClass::bad_task, "the module has a mistake"},
    {ErrorClass::out_of_bounds, "reads or writes outside a buffer"},
    {ErrorClass::device_fault, "stops the GPU"},
    {ErrorClass::assertion_failed, "an assertion fails"},
    {ErrorClass::bad_launch, "a launch does not fit its kernel"},
    {ErrorClass::crashed_referee, "crashes the judge's process"},
    {ErrorClass::wrong_value, "wrong values"},
    {ErrorClass::unwritten, "leaves elements unwritten"},
    {ErrorClass::wrong_structure, "wrong structure of the output"},
    {ErrorClass::wrong_dtype, "wrong type of the output"},
    {ErrorClass::wrong_shape, "wrong shape of the output"},
    {ErrorClass::wrong_strides, "wrong strides of the output"},
    {ErrorClass::wrong_device, "wrong device of the output"},
    {ErrorClass::race, "a race"},
    {ErrorClass::input_mutated, "changes an input"},
    {ErrorClass::weight_mutated, "changes a weight"},
    {ErrorClass::state_mismatch, "leaves another state"},
    {ErrorClass::overlapping_weight, "elements of a weight overlap"},
    {ErrorClass::output_aliases_input, "returns an input's memory"},
    {ErrorClass::output_aliases_state, "returns a weight's memory"},
    {ErrorClass::output_aliases_output, "two outputs share memory"},
    {ErrorClass::too_large_to_evaluate, "too large for this machine"},
    {ErrorClass::not_evaluable, "the judge cannot run it"},
    {ErrorClass::not_comparable, "values of an uncompared type"},
    {ErrorClass::nondeterministic_reference, "the module is random"},
    {ErrorClass::task_failed, "the module itself fails"},
    {ErrorClass::weights_unbound, "the module's weights change"},
    {ErrorClass::deadline, "no verdict in time"},
    {ErrorClass::infrastructure, "the judge failed"},
    {ErrorClass::referee_failed, "the judge failed"},
});
static_assert(kWords.size() == enum_names<ErrorClass>.size(), "each class has its words");

}  // namespace

std::string failure_of(const Verdict& verdict) {
  if (verdict.accepted) return {};
  for (const Finding& finding : verdict.findings)
    if (finding.severity == Severity::reject) return finding.rule;
  if (verdict.error) return class_name(*verdict.error);
  return fmt::format("stage {}", name_of(verdict.stage));
}

std::string position_words(const VerdictError& error, std::string_view file) {
  if (error.line <= 0) return {};
  std::string text = fmt::format("{}{}line {}", file, file.empty() ? "" : ", ", error.line);
  if (!error.excerpt.empty()) text += ": " + error.excerpt;
  return text;
}

std::string placed_message(const VerdictError& error) {
  const std::string line = fmt::format("line {}", error.line);
  const std::size_t at = error.message.find(line);
  const bool is_told =
      at != std::string::npos && error.message.find_first_of("0123456789", at + line.size()) !=
                                     at + line.size();  // line 7 is not line 71
  if (error.line <= 0 || is_told) return error.message;
  return fmt::format("{} ({})", error.message, position_words(error));
}

std::string_view words_for(ErrorClass error) {
  const auto at = std::ranges::find(kWords, error, &decltype(kWords)::value_type::first);
  CHECK(at != kWords.end(), "the class {} has no words", name_of(error));
  return at->second;
}

}  // namespace tritonsmith
