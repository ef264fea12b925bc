#include "data/adequacy.h"

#include <fmt/format.h>

#include <algorithm>

namespace tritonsmith {
namespace {

std::string complaint_of(const FaultTest& fault) {
  switch (fault.end) {
    case FaultEnd::told:
    case FaultEnd::equivalent:
      return {};
    case FaultEnd::sometimes:
      return fault.what + " (told under some secrets only)";
    case FaultEnd::no_difference:
      return fault.what + " (no trial shows a difference)";
    case FaultEnd::within_tolerance:
      return fmt::format("{} (off by {:.2g} of what is allowed)", fault.what,
                         fault.margin.value_or(0));
  }
  return {};
}

Json to_json(const FaultTest& fault) {
  Json json = {{"what", fault.what}, {"kind", fault.kind}, {"end", name_of(fault.end)}};
  if (!fault.trial.empty()) json["trial"] = fault.trial;
  if (fault.margin) json["margin"] = *fault.margin;
  return json;
}

}  // namespace

int tellable_faults(const Adequacy& adequacy) {
  return static_cast<int>(adequacy.faults.size()) -
         static_cast<int>(
             std::ranges::count(adequacy.faults, FaultEnd::equivalent, &FaultTest::end));
}

int told_faults(const Adequacy& adequacy) {
  return static_cast<int>(std::ranges::count(adequacy.faults, FaultEnd::told, &FaultTest::end));
}

std::optional<double> share_told(const Adequacy& adequacy) {
  const int all = tellable_faults(adequacy);
  if (all == 0) return std::nullopt;
  return static_cast<double>(told_faults(adequacy)) / all;
}

std::string summary_of(const Adequacy& adequacy) {
  if (!adequacy.why_not.empty()) return "not measured: " + adequacy.why_not;
  std::string text =
      fmt::format("{} of {} faults told apart", told_faults(adequacy), tellable_faults(adequacy));
  if (adequacy.reduced_by > 1)
    text += fmt::format(", with sizes divided by {}", adequacy.reduced_by);
  if (adequacy.untried > 0)
    text += fmt::format(", {} not tried for lack of time", adequacy.untried);
  return text;
}

std::vector<std::string> complaints_of(const Adequacy& adequacy) {
  std::vector<std::string> all;
  for (const FaultTest& fault : adequacy.faults)
    if (std::string text = complaint_of(fault); !text.empty())
      all.push_back("not told: " + std::move(text));
  for (const RefusedVariant& variant : adequacy.refused)
    all.push_back(
        fmt::format("wrongly refused: {} ({}: {})", variant.what, variant.trial, variant.message));
  return all;
}

Json to_json(const Adequacy& adequacy) {
  Json json = {{"told", told_faults(adequacy)},    {"tellable", tellable_faults(adequacy)},
               {"faults", Json::array()},          {"variants", adequacy.variants},
               {"refused", Json::array()},         {"untried", adequacy.untried},
               {"reduced_by", adequacy.reduced_by}};
  for (const FaultTest& fault : adequacy.faults) json["faults"].push_back(to_json(fault));
  for (const RefusedVariant& variant : adequacy.refused)
    json["refused"].push_back(
        {{"what", variant.what}, {"trial", variant.trial}, {"message", variant.message}});
  if (!adequacy.why_not.empty()) json["why_not"] = adequacy.why_not;
  return json;
}

Result<Adequacy> adequacy_from_json(const Json& json) {
  JsonReader reader(json);
  Adequacy adequacy{.faults = {},
                    .variants = static_cast<int>(reader.integer("variants")),
                    .refused = {},
                    .untried = static_cast<int>(reader.integer("untried")),
                    .reduced_by = static_cast<int>(reader.integer("reduced_by")),
                    .why_not = reader.string("why_not", "")};
  for (const Json& item : reader.array("faults")) {
    JsonReader fault(item);
    adequacy.faults.push_back({.what = fault.string("what"),
                               .kind = fault.string("kind"),
                               .end = fault.enumerated<FaultEnd>("end"),
                               .trial = fault.string("trial", ""),
                               .margin = {}});
    if (fault.has("margin")) adequacy.faults.back().margin = fault.number("margin");
    TRY(fault.status());
  }
  for (const Json& item : reader.array("refused")) {
    JsonReader variant(item);
    adequacy.refused.push_back({.what = variant.string("what"),
                                .trial = variant.string("trial"),
                                .message = variant.string("message")});
    TRY(variant.status());
  }
  TRY(reader.status());
  return adequacy;
}

}  // namespace tritonsmith
