#include "serve/jobs/label.h"

#include <array>
#include <optional>

namespace tritonsmith::serve {
namespace {

// The names that public data sets have for a task.
constexpr std::array kTaskMembers = {"task",         "source",      "reference_code", "reference",
                                     "pytorch_code", "python_code", "ground_truth"};
constexpr std::array kJobMembers = {"policy",    "comparison", "strides", "backend", "trials",
                                    "baselines", "priority",   "device",  "fresh"};

// Returns the object that a label is, or stands for.
Json object_of(const Json& label) {
  if (label.is_object()) return label;
  if (!label.is_string()) return {{"task", label}};
  const std::string& text = label.get_ref<const std::string&>();
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin != std::string::npos && text[begin] == '{')
    if (auto parsed = parse_json(text); parsed && parsed->is_object()) return *std::move(parsed);
  return {{"task", text}};
}

Result<Json> task_json(const Json& named, const Suite& suite) {
  if (named.is_object()) return named;
  if (!named.is_string()) return fail("a label must be a text or an object");
  const std::string& text = named.get_ref<const std::string&>();
  if (const Task* known = suite.find(text)) {
    Json task = {{"id", known->id}, {"source", known->source}};
    if (known->tolerance) task["tolerance"] = *known->tolerance;
    return task;
  }
  if (text.find('\n') != std::string::npos || text.find("class ") != std::string::npos)
    return Json{{"id", "task"}, {"source", text}};
  constexpr std::size_t longest = 80;
  return fail("there is no task '{}': a label holds a task's source, or an id of the suite {}",
              text.substr(0, longest),
              suite.tasks().empty() ? "of `gym serve --suite`, which this service has not"
                                    : "that this service was started with");
}

const Json* task_member(const Json& object) {
  for (const char* name : kTaskMembers)
    if (const auto at = object.find(name); at != object.end() && !at->is_null() && *at != "")
      return &*at;
  return nullptr;
}

}  // namespace

Result<reward::RewardConfig> weights_from_json(const Json& weights) {
  if (!weights.is_object()) return fail("weights must be an object");
  Settings settings;
  for (const auto& [name, value] : weights.items()) settings.emplace_back(name, value);
  reward::RewardConfig config;
  TRY(apply_settings(config, settings, "weights"));
  return config;
}

Result<LabelledJob> job_from_label(const Json& label, const Suite& suite,
                                   const gym::api::SubmissionLimits& limits) {
  const Json object = object_of(label);
  const Json* named = task_member(object);
  if (named == nullptr) return fail("a label names no task: it needs the member `task`");
  TRY_ASSIGN(Json task, task_json(*named, suite));
  for (const char* name : {"id", "tolerance"})
    if (object.contains(name) && !object[name].is_null()) task[name] = object[name];
  Json job = {{"task", std::move(task)}, {"kernel", "the completion's"}};
  for (const char* name : kJobMembers)
    if (object.contains(name) && !object[name].is_null()) job[name] = object[name];
  LabelledJob labelled;
  TRY_ASSIGN(labelled.submission, gym::api::submission_from_json(job, limits));
  labelled.submission.job.kernel.clear();
  if (object.contains("weights") && !object["weights"].is_null()) {
    TRY_ASSIGN(labelled.weights, weights_from_json(object["weights"]));
  }
  return labelled;
}

}  // namespace tritonsmith::serve
