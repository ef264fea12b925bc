#include "data/reward.h"

namespace tritonsmith {

Json to_json(const Reward& reward) {
  Json terms = Json::array();
  for (const RewardTerm& term : reward.terms)
    terms.push_back({{"name", term.name}, {"value", term.value}, {"weight", term.weight}});
  return {{"total", reward.total}, {"terms", terms}};
}

Result<Reward> reward_from_json(const Json& json) {
  JsonReader reader(json);
  Reward reward{.total = reader.number("total"), .terms = {}};
  for (const Json& item : reader.array("terms")) {
    JsonReader term(item);
    reward.terms.push_back({.name = term.string("name"),
                            .value = term.number("value"),
                            .weight = term.number("weight")});
    TRY(term.status());
  }
  TRY(reader.status());
  return reward;
}

}  // namespace tritonsmith
