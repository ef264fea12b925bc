#include "data/evaluation.h"

#include <charconv>

namespace tritonsmith {
namespace {

Json to_json(const Rates& rates) {
  return {{"compiled", rates.compiled}, {"correct", rates.correct}, {"accepted", rates.accepted}};
}

Rates rates_from_json(const Json& json) {
  JsonReader reader(json);
  return {.compiled = reader.number("compiled", 0),
          .correct = reader.number("correct", 0),
          .accepted = reader.number("accepted", 0)};
}

std::map<std::string, int> counts_from_json(const Json& json) {
  std::map<std::string, int> counts;
  for (const auto& [name, count] : json.items())
    if (count.is_number_integer()) counts[name] = count.get<int>();
  return counts;
}

}  // namespace

Json to_json(const Evaluation& e) {
  Json pass_at = Json::object();
  for (const auto& [k, share] : e.pass_at) pass_at[std::to_string(k)] = share;
  return {{"schema", 1},
          {"name", e.name},
          {"suite", e.suite},
          {"model", e.model},
          {"policy", e.policy},
          {"backend", e.backend},
          {"tasks", e.tasks},
          {"samples", e.samples},
          {"temperature", e.temperature},
          {"seconds", e.seconds},
          {"sampled", to_json(e.sampled)},
          {"greedy", to_json(e.greedy)},
          {"pass_at", pass_at},
          {"errors", e.errors},
          {"findings", e.findings}};
}

Result<Evaluation> evaluation_from_json(const Json& json) {
  JsonReader reader(json);
  Evaluation e{.name = reader.string("name"),
               .suite = reader.string("suite", ""),
               .model = reader.string("model", ""),
               .policy = reader.string("policy", ""),
               .backend = reader.string("backend", ""),
               .tasks = static_cast<int>(reader.integer("tasks")),
               .samples = static_cast<int>(reader.integer("samples")),
               .temperature = reader.number("temperature", 1),
               .seconds = reader.number("seconds", 0),
               .sampled = rates_from_json(reader.object("sampled")),
               .greedy = rates_from_json(reader.object("greedy")),
               .errors = counts_from_json(reader.object("errors")),
               .findings = counts_from_json(reader.object("findings"))};
  for (const auto& [k, share] : reader.object("pass_at").items()) {
    int number = 0;
    std::from_chars(k.data(), k.data() + k.size(), number);
    if (number > 0 && share.is_number()) e.pass_at[number] = share.get<double>();
  }
  TRY(reader.status());
  return e;
}

}  // namespace tritonsmith
