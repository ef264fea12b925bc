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

std::map<std::string, double> shares_from_json(const Json& json) {
  std::map<std::string, double> shares;
  for (const auto& [name, share] : json.items())
    if (share.is_number()) shares[name] = share.get<double>();
  return shares;
}

// Returns an object with k as the key, as text because JSON has no other keys.
Json by_k_to_json(const std::map<int, double>& shares) {
  Json json = Json::object();
  for (const auto& [k, share] : shares) json[std::to_string(k)] = share;
  return json;
}

std::map<int, double> by_k_from_json(const Json& json) {
  std::map<int, double> shares;
  for (const auto& [k, share] : json.items()) {
    int number = 0;
    std::from_chars(k.data(), k.data() + k.size(), number);
    if (number > 0 && share.is_number()) shares[number] = share.get<double>();
  }
  return shares;
}

// Threshold -> k -> share.
using SharesByK = std::map<std::string, std::map<int, double>>;

Json by_threshold_to_json(const SharesByK& shares) {
  Json json = Json::object();
  for (const auto& [p, by_k] : shares) json[p] = by_k_to_json(by_k);
  return json;
}

SharesByK by_threshold_from_json(const Json& json) {
  SharesByK shares;
  for (const auto& [p, by_k] : json.items()) shares[p] = by_k_from_json(by_k);
  return shares;
}

Json to_json(const Speed& speed) {
  return {{"timed", speed.timed},
          {"geometric_mean", speed.geometric_mean},
          {"fast", speed.fast},
          {"fast_at", by_threshold_to_json(speed.fast_at)},
          {"fast_against", speed.fast_against},
          {"geometric_mean_against", speed.geometric_mean_against}};
}

Speed speed_from_json(const Json& json) {
  JsonReader reader(json);
  Speed speed{.timed = static_cast<int>(reader.integer("timed", 0)),
              .geometric_mean = reader.number("geometric_mean", 0),
              .fast = shares_from_json(reader.object("fast"))};
  speed.fast_at = by_threshold_from_json(reader.object("fast_at"));
  speed.geometric_mean_against = shares_from_json(reader.object("geometric_mean_against"));
  for (const auto& [baseline, shares] : reader.object("fast_against").items())
    speed.fast_against[baseline] = shares_from_json(shares);
  return speed;
}

Json to_json(const TaskResult& task) {
  return {{"id", task.id},
          {"level", task.level},
          {"samples", task.samples},
          {"compiled", task.compiled},
          {"correct", task.correct},
          {"accepted", task.accepted},
          {"hacks", task.hacks},
          {"findings", task.findings},
          {"greedy_accepted", task.greedy_accepted},
          {"speedups", task.speedups},
          {"marks", task.marks}};
}

TaskResult task_from_record(const Json& json) {
  JsonReader reader(json);
  const auto count = [&](const char* name) { return static_cast<int>(reader.integer(name, 0)); };
  TaskResult task{.id = reader.string("id", ""),
                  .level = reader.string("level", ""),
                  .samples = count("samples"),
                  .compiled = count("compiled"),
                  .correct = count("correct"),
                  .accepted = count("accepted"),
                  .hacks = count("hacks"),
                  .findings = counts_from_json(reader.object("findings")),
                  .greedy_accepted = reader.boolean("greedy_accepted", false)};
  for (const Json& speedup : reader.array("speedups"))
    if (speedup.is_number()) task.speedups.push_back(speedup.get<double>());
  for (const Json& mark : reader.array("marks"))
    if (mark.is_string()) task.marks.push_back(mark.get<std::string>());
  return task;
}

Json to_json(const LevelResult& level) {
  return {{"level", level.level},
          {"tasks", level.tasks},
          {"sampled", to_json(level.sampled)},
          {"pass_at_1", level.pass_at_1},
          {"hack_rate", level.hack_rate},
          {"findings", level.findings},
          {"samples", level.samples},
          {"speed", to_json(level.speed)}};
}

LevelResult level_from_json(const Json& json) {
  JsonReader reader(json);
  return {.level = reader.string("level", ""),
          .tasks = static_cast<int>(reader.integer("tasks", 0)),
          .sampled = rates_from_json(reader.object("sampled")),
          .pass_at_1 = reader.number("pass_at_1", 0),
          .hack_rate = reader.number("hack_rate", 0),
          .findings = counts_from_json(reader.object("findings")),
          .samples = static_cast<int>(reader.integer("samples", 0)),
          .speed = speed_from_json(reader.object("speed"))};
}

Json to_json(const TurnResult& turn) {
  return {{"turn", turn.turn},
          {"last", to_json(turn.last)},
          {"best", to_json(turn.best)},
          {"last_fast", turn.last_fast},
          {"best_fast", turn.best_fast},
          {"tokens", turn.tokens},
          {"judge_seconds", turn.judge_seconds},
          {"last_at", by_k_to_json(turn.last_at)},
          {"best_at", by_k_to_json(turn.best_at)},
          {"last_fast_at", by_threshold_to_json(turn.last_fast_at)},
          {"best_fast_at", by_threshold_to_json(turn.best_fast_at)}};
}

TurnResult turn_from_json(const Json& json) {
  JsonReader reader(json);
  return {.turn = static_cast<int>(reader.integer("turn", 0)),
          .last = rates_from_json(reader.object("last")),
          .best = rates_from_json(reader.object("best")),
          .last_fast = shares_from_json(reader.object("last_fast")),
          .best_fast = shares_from_json(reader.object("best_fast")),
          .tokens = reader.number("tokens", 0),
          .judge_seconds = reader.number("judge_seconds", 0),
          .last_at = by_k_from_json(reader.object("last_at")),
          .best_at = by_k_from_json(reader.object("best_at")),
          .last_fast_at = by_threshold_from_json(reader.object("last_fast_at")),
          .best_fast_at = by_threshold_from_json(reader.object("best_fast_at"))};
}

template <typename Item>
Json list_to_json(const std::vector<Item>& items) {
  Json json = Json::array();
  for (const Item& item : items) json.push_back(to_json(item));
  return json;
}

}  // namespace

int all_samples(const Evaluation& evaluation) {
  if (evaluation.by_task.empty()) return evaluation.tasks * evaluation.samples;
  int all = 0;
  for (const TaskResult& task : evaluation.by_task) all += task.samples;
  return all;
}

Json to_json(const Evaluation& e) {
  Json json = {{"schema", 2},
               {"name", e.name},
               {"suite", e.suite},
               {"model", e.model},
               {"policy", e.policy},
               {"backend", e.backend},
               {"tasks", e.tasks},
               {"samples", e.samples},
               {"turns", e.turns},
               {"temperature", e.temperature},
               {"seconds", e.seconds},
               {"parsed", e.parsed},
               {"tokens", e.tokens},
               {"judge_seconds", e.judge_seconds},
               {"sampled", to_json(e.sampled)},
               {"pass_at", by_k_to_json(e.pass_at)},
               {"speed", to_json(e.speed)},
               {"hack_rate", e.hack_rate},
               {"errors", e.errors},
               {"findings", e.findings},
               {"failures", e.failures},
               {"program", e.program},
               {"date", e.date},
               {"levels", list_to_json(e.levels)},
               {"by_turn", list_to_json(e.by_turn)},
               {"by_task", list_to_json(e.by_task)}};
  if (e.greedy) json["greedy"] = to_json(*e.greedy);
  if (e.sound) json["sound"] = to_json(*e.sound);
  return json;
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
               .turns = static_cast<int>(reader.integer("turns", 1)),
               .temperature = reader.number("temperature", 1),
               .seconds = reader.number("seconds", 0),
               .parsed = static_cast<int>(reader.integer("parsed", -1)),
               .tokens = reader.number("tokens", 0),
               .judge_seconds = reader.number("judge_seconds", 0),
               .sampled = rates_from_json(reader.object("sampled")),
               .pass_at = by_k_from_json(reader.object("pass_at")),
               .hack_rate = reader.number("hack_rate", 0),
               .errors = counts_from_json(reader.object("errors")),
               .findings = counts_from_json(reader.object("findings")),
               .failures = counts_from_json(reader.object("failures")),
               .program = reader.string("program", ""),
               .date = reader.string("date", "")};
  e.speed = speed_from_json(reader.object("speed"));
  if (reader.has("greedy")) e.greedy = rates_from_json(reader.object("greedy"));
  for (const Json& level : reader.array("levels")) e.levels.push_back(level_from_json(level));
  if (json.contains("sound")) e.sound = level_from_json(json["sound"]);
  for (const Json& turn : reader.array("by_turn")) e.by_turn.push_back(turn_from_json(turn));
  for (const Json& task : reader.array("by_task")) e.by_task.push_back(task_from_record(task));
  TRY(reader.status());
  return e;
}

}  // namespace tritonsmith
