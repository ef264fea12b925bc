#include "gym/sandbox/guest_failure.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/printable.h"

namespace tritonsmith::gym::sandbox {
namespace {

constexpr std::size_t kMaxMessageBytes = 4096;

// Tells whether the project's own Python gives this class (docs/verdict.md). A candidate that has
// taken over its guest must not use the judge's own classes.
bool is_of_a_guest(ErrorClass error_class) {
  using enum ErrorClass;
  static constexpr auto kClasses = std::to_array(
      {bad_ir, bad_request, bad_task, compile_error, data_dependent, exception, import_error,
       mode_dependent, no_inputs, no_model, not_captured, out_of_resources, refused_ir,
       state_carried, syntax_error, tampering, unsupported_launch});
  return std::ranges::find(kClasses, error_class) != kClasses.end();
}

}  // namespace

CandidateFailure failure_from_guest(const Json& reply, Stage highest) {
  JsonReader outer(reply);
  const Json& error = outer.object("error");
  JsonReader reader(error);
  CandidateFailure failure{.stage = outer.enumerated<Stage>("stage", highest),
                           .error = {.message = reader.string("message", ""),
                                     .excerpt = reader.string("excerpt", ""),
                                     .line = static_cast<int>(reader.integer("line", 0))}};
  failure.stage = std::min(failure.stage, highest);
  const std::string name = reader.string("class", std::string(name_of(ErrorClass::exception)));
  const auto known = enum_from_name<ErrorClass>(name);
  failure.error.error_class = known && is_of_a_guest(*known) ? *known : ErrorClass::exception;
  if (!outer.status() || !reader.status() || name.empty())
    failure.error = {.error_class = ErrorClass::bad_reply,
                     .message = "replied with something that is no reply"};
  for (std::string* text : {&failure.error.message, &failure.error.excerpt})
    text->resize(first_bytes(*text, kMaxMessageBytes).size());
  return failure;
}

}  // namespace tritonsmith::gym::sandbox
