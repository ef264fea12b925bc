// Adequacy: how many faults of a task its trials tell apart. The referee makes faulty plans from the
// task's own plan and judges each one as a candidate. docs/adequacy.md explains the measure. Plain
// data for any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace tritonsmith {

// told: refused under every secret. sometimes: under some secrets only. within_tolerance: accepted,
// though its values differ. no_difference: accepted, with the reference's own values in every trial,
// though other inputs would tell it. equivalent: no input that was tried tells it from the task.
enum class FaultEnd { told, sometimes, within_tolerance, no_difference, equivalent };

struct FaultTest {
  std::string what;  // a plain sentence without its full stop
  std::string kind;
  FaultEnd end = FaultEnd::told;
  std::string trial;  // the kind of trial that told it under the last secret; empty if none did
  // How many times as far off as allowed the worst element is: in the trial that told the fault, or
  // at most in any trial. It is the least over the secrets. Nothing where no number tells it, as for
  // a NaN, whole numbers and shapes.
  std::optional<double> margin;
  bool operator==(const FaultTest&) const = default;
};

// A legitimate variant that a trial refused.
struct RefusedVariant {
  std::string what, trial, message;
  bool operator==(const RefusedVariant&) const = default;
};

struct Adequacy {
  std::vector<FaultTest> faults;
  int variants = 0;  // legitimate variants that were tried
  std::vector<RefusedVariant> refused;
  int untried = 0;      // faults and variants for which no time was left
  int reduced_by = 1;   // sizes of the task were divided by this number for the measure
  std::string why_not;  // why nothing was measured; empty if it was
  bool operator==(const Adequacy&) const = default;
};

// Returns the number of faults that some input tells from the task, and of those that trials tell.
int tellable_faults(const Adequacy& adequacy);
int told_faults(const Adequacy& adequacy);
// Returns the share of told faults, or nothing if the task has no fault to tell.
std::optional<double> share_told(const Adequacy& adequacy);
// Below this share of told faults a task is marked.
inline constexpr double kPoorShare = 0.9;

// Returns "61 of 63 faults told apart", or why it is not known.
std::string summary_of(const Adequacy& adequacy);
// Returns a sentence about each fault that was not told and each variant that was refused.
std::vector<std::string> complaints_of(const Adequacy& adequacy);

Json to_json(const Adequacy& adequacy);
Result<Adequacy> adequacy_from_json(const Json& json);

}  // namespace tritonsmith

namespace tritonsmith {
template <>
inline constexpr auto enum_names<FaultEnd> =
    names<FaultEnd>({{FaultEnd::told, "told"},
                     {FaultEnd::sometimes, "sometimes"},
                     {FaultEnd::within_tolerance, "within_tolerance"},
                     {FaultEnd::no_difference, "no_difference"},
                     {FaultEnd::equivalent, "equivalent"}});
}  // namespace tritonsmith
