#include "datasets/task_row.h"

#include "base/hash.h"
#include "datasets/columns.h"
#include "datasets/messages.h"

namespace tritonsmith::datasets {
namespace {

// In the order in which they are believed. The last ones also hold other things in some data sets.
const Names kModules = {"python_code",
                        "pytorch_code",
                        "original_python_code",
                        "PyTorch_Code_Module",
                        "pytorch_problem",
                        "reference_code",
                        "pytorch",
                        "code",
                        "source",
                        "reward_model.ground_truth",
                        "reward_model.ground_truth.reference_code",
                        "reward_model.ground_truth.pytorch_code",
                        "reward_model.ground_truth.python_code",
                        "extra_info.reference_code",
                        "original_triton_python_code",
                        "input"};

struct Module {
  std::string source;
  std::string wrong;  // what is wrong with the first column that there is
};

// The columns of code in turn, then what the user says in a conversation.
Module module_in(const Json& row, const std::string& entry_point) {
  Module module;
  const auto refuse = [&](std::string why) {
    if (module.wrong.empty()) module.wrong = std::move(why);
  };
  for (const std::string_view name : kModules) {
    const auto text = text_column(row, {name});
    if (!text) {
      // Some columns hold an object whose members come later in the list.
      if (!column(row, name)->is_structured()) refuse(text.error().message);
      continue;
    }
    if (text->empty() || text->front() == '{') continue;
    auto source = as_task_source(*text, entry_point);
    if (!source) {
      const std::string within = task_within(*text);
      if (!within.empty()) source = as_task_source(within, entry_point);
    }
    if (source) return {.source = *std::move(source), .wrong = {}};
    refuse(source.error().message);
  }
  for (const std::string_view name :
       {"messages", "prompt", "message", "extra_info.original_prompt"}) {
    const auto messages = messages_column(row, {name});
    if (!messages) continue;
    for (const text::Message& each : *messages) {
      if (each.role != text::Role::user) continue;
      const std::string within = task_within(each.content);
      if (within.empty()) continue;
      if (auto source = as_task_source(within, ""))
        return {.source = *std::move(source), .wrong = {}};
    }
  }
  return module;
}

// KernelBench's levels keep the names of their files; other rows have their number and class.
std::string id_of(const Json& row, const RowContext& context, const std::string& entry_point) {
  const std::string level = word_column(row, {"level", "Level_ID"});
  const std::string name = word_column(row, {"name", "Op_Name"});
  const std::string problem = word_column(row, {"problem_id", "Task_ID"});
  const auto bare = [](std::string word) { return word.substr(word.find_last_of('_') + 1); };
  if (!level.empty() && !name.empty()) {
    const bool has_number = std::isdigit(static_cast<unsigned char>(name[0])) != 0;
    return fmt::format("level{}/{}{}", bare(level),
                       problem.empty() || has_number ? "" : problem + "_", name);
  }
  std::string id = word_column(
      row, {"uuid", "kernelbook_uuid", "sample_key", "_id", "extra_info.uuid", "extra_info.index"});
  if (id.empty()) id = fmt::format("{}", context.number);
  return entry_point.empty() || entry_point == "Model" ? id : id + "_" + entry_point;
}

// Ids become paths of files.
std::string clean(std::string id) {
  for (char& c : id)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 &&
        std::string_view("._-/").find(c) == std::string_view::npos)
      c = '_';
  return id.substr(0, 200);
}

std::vector<std::string> licences_in(const Json& row, const RowContext& context) {
  std::vector<std::string> licences;
  for (const std::string_view name : {"licenses", "license", "licence", "extra_info.licenses"}) {
    const auto value = column(row, name);
    if (!value) continue;
    if (value->is_string() && !value->get_ref<const std::string&>().empty())
      licences.push_back(value->get<std::string>());
    if (value->is_array())
      for (const Json& each : *value)
        if (each.is_string()) licences.push_back(each.get<std::string>());
    if (!licences.empty()) return licences;
  }
  if (!context.licence.empty()) licences.push_back(context.licence);
  return licences;
}

// Some data sets keep the count as a fraction. A larger number than `most` is no count.
std::optional<std::int64_t> stars_in(const Json& row) {
  constexpr double most = 1e15;
  const auto value = column(row, "stars");
  if (!value || !value->is_number()) return std::nullopt;
  const auto count = value->get<double>();
  if (!(count >= 0 && count <= most)) return std::nullopt;
  return static_cast<std::int64_t>(count);
}

}  // namespace

Origin origin_of_row(const Json& row, const RowContext& context) {
  if (const auto own = column(row, "origin"))
    if (auto origin = origin_from_json(*own)) return *std::move(origin);
  Origin origin{.dataset = context.dataset,
                .row = word_column(row, {"uuid", "kernelbook_uuid", "sample_key", "_id",
                                         "extra_info.uuid", "problem_id", "Task_ID"}),
                .repository = word_column(row, {"repo_name", "extra_info.repo_name"}),
                .module = word_column(row, {"module_name", "extra_info.module_name"}),
                .link = word_column(row, {"repo_link"}),
                .sha = word_column(row, {"sha"}),
                .licences = licences_in(row, context),
                .stars = std::nullopt,
                .parent = {}};
  const auto parent = text_column(row, {"extra_info.parent_code", "parent_code"});
  if (parent && !parent->empty()) origin.parent = content_key(*parent);
  if (origin.row.empty()) origin.row = fmt::format("{}", context.number);
  origin.stars = stars_in(row);
  return origin;
}

Result<Task> task_from_row(const Json& row, const RowContext& context) {
  if (row.contains("id") && row.contains("source") && row.contains("schema")) {
    TRY_ASSIGN(Task task, task_from_json(row));
    TRY_ASSIGN(task.source, as_task_source(std::move(task.source), ""));
    return task;
  }
  const std::string entry_point = word_column(row, {"entry_point", "extra_info.entry_point"});
  Module module = module_in(row, entry_point);
  if (module.source.empty())
    return fail("{}",
                module.wrong.empty() ? "has no column that holds a PyTorch module" : module.wrong);
  Task task{.id = clean(id_of(row, context, entry_point)),
            .suite = context.dataset,
            .source = std::move(module.source),
            .instruction = {},
            .family = {},
            .composition = {},
            .scale = TaskScale::gpu,
            .split = TaskSplit::train,
            .tolerance = std::nullopt,
            .origin = origin_of_row(row, context)};
  return task;
}

}  // namespace tritonsmith::datasets
