#include "curate/material.h"

#include <map>

#include "base/hash.h"
#include "base/jsonl.h"
#include "data/sample.h"
#include "data/timed_devices.h"
#include "distil/distil_record.h"
#include "text/feedback.h"

namespace tritonsmith::curate {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& file) {
  std::error_code error;
  return fs::exists(file, error);
}

void take_verdict(const Verdict& verdict, Answer& answer) {
  answer.is_accepted = verdict.accepted;
  answer.speedup = verdict.speedup;
  answer.device = verdict.environment.gpu;
  answer.stage = static_cast<double>(verdict.stage) / static_cast<double>(Stage::timed);
  if (!verdict.accepted) answer.failure = verdict.error ? class_name(*verdict.error) : "refused";
}

Answer answer_of(const Sample& sample, std::string feedback) {
  Answer answer{.text = sample.completion.text,
                .reasoning = sample.completion.reasoning,
                .kernel = sample.kernel,
                .feedback = std::move(feedback),
                .failure = {},
                .speedup = std::nullopt,
                .tokens = sample.completion.usage.completion_tokens};
  take_verdict(sample.verdict, answer);
  return answer;
}

}  // namespace

Status Material::read(const fs::path& folder) {
  if (is_there(folder / "pairs.jsonl")) {
    TRY(read_pairs(folder / "pairs.jsonl", folder.string()));
    if (is_there(folder / "rejected.jsonl"))
      TRY(read_pairs(folder / "rejected.jsonl", folder.string()));
    return ok();
  }
  if (is_there(folder / "samples.jsonl") && is_there(folder / "tasks.jsonl"))
    return read_samples(folder);
  return fail(
      "{}: holds neither tasks.jsonl and samples.jsonl, as `tasks distil` and `rl` write them, nor "
      "pairs.jsonl of `tasks pairs`",
      folder.string());
}

std::string Material::keep_speeds_of(std::string device) {
  TimedDevices devices;
  for (const Conversation& each : conversations)
    for (const Answer& answer : each.answers)
      if (answer.speedup) devices.add(answer.device);
  if (device.empty()) device = devices.most();
  for (Conversation& each : conversations)
    for (Answer& answer : each.answers)
      if (answer.device != device) answer.speedup.reset();
  return devices.others_than(device);
}

std::size_t Material::index_of(const Task& task) {
  const auto [at, is_new] = indices_.try_emplace(content_key(task.source), tasks.size());
  if (is_new) tasks.push_back(task);
  return at->second;
}

Status Material::read_samples(const fs::path& folder) {
  std::unordered_map<std::string, std::size_t> by_id;
  const auto read_task = [&](const JsonLine& line) -> Status {
    TRY_ASSIGN(const Task task, task_from_json(line.json));
    by_id[task.id] = index_of(task);
    return ok();
  };
  TRY(for_each_json_line(folder / "tasks.jsonl", {}, read_task));
  // Samples of several conversations are mixed. A step of `rl` has conversations of its own.
  std::map<std::tuple<std::int64_t, int, int>, std::size_t> known;
  const auto read_line = [&](const JsonLine& line) -> Status {
    TRY_ASSIGN(const Sample sample, sample_from_json(line.json));
    if (sample.verdict.fault == Fault::infrastructure) return ok();
    const auto task = by_id.find(sample.task_id);
    if (task == by_id.end()) return fail("tasks.jsonl has no task '{}'", sample.task_id);
    std::vector<text::Message> messages;
    std::string feedback = text::feedback_text(sample.verdict, text::PromptStyle::full);
    if (line.json.contains("form")) {
      TRY_ASSIGN(auto record, distil::record_from_json(line.json));
      messages = std::move(record.messages);
      feedback = std::move(record.feedback);
    }
    const auto [at, is_new] =
        known.try_emplace({sample.step, sample.group, sample.member}, conversations.size());
    if (is_new)
      conversations.push_back({.task = task->second,
                               .messages = std::move(messages),
                               .answers = {},
                               .origin = folder.string()});
    conversations[at->second].answers.push_back(answer_of(sample, std::move(feedback)));
    return ok();
  };
  TRY(for_each_json_line(folder / "samples.jsonl", {.last_line = LastLine::may_be_cut_off},
                         read_line));
  return ok();
}

Status Material::read_pairs(const fs::path& file, const std::string& folder) {
  const auto read_pair = [&](const JsonLine& line) -> Status {
    JsonReader row(line.json);
    Task task{.id = row.string("task"), .suite = "pairs", .source = row.string("source")};
    Answer answer{.text = {},
                  .reasoning = {},
                  .kernel = row.string("kernel"),
                  .feedback = {},
                  .failure = {},
                  .speedup = std::nullopt};
    TRY(row.status());
    if (row.has("origin")) {
      TRY_ASSIGN(task.origin, origin_from_json(row.object("origin")));
    }
    TRY_ASSIGN(const Verdict verdict, verdict_from_json(row.object("verdict")));
    if (verdict.fault == Fault::infrastructure) return ok();
    take_verdict(verdict, answer);
    answer.text = fmt::format("<answer>\n```python\n{}{}```\n</answer>", answer.kernel,
                              answer.kernel.ends_with('\n') ? "" : "\n");
    conversations.push_back(
        {.task = index_of(task), .messages = {}, .answers = {std::move(answer)}, .origin = folder});
    return ok();
  };
  TRY(for_each_json_line(file, {.last_line = LastLine::may_be_cut_off}, read_pair));
  return ok();
}

}  // namespace tritonsmith::curate
