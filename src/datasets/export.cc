#include "datasets/export.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "base/hash.h"
#include "datasets/columns.h"
#include "datasets/json_rows.h"
#include "datasets/messages.h"
#include "text/example_prompt.h"
#include "text/prompt.h"

namespace tritonsmith::datasets {
namespace {

using text::Message;
using text::Role;

// Adds what a row of any layout also tells.
void add_origin(Json& row, const std::optional<Origin>& origin) {
  if (origin) row["origin"] = to_json(*origin);
}

std::vector<Message> answer(const std::string& text) {
  return {{.role = Role::assistant, .content = text}};
}

Result<Json> as_alpaca(const Example& example) {
  std::string instruction;
  for (const Message& each : example.prompt) {
    if (each.role == Role::assistant)
      return fail("a conversation of several turns has no form in Alpaca's layout");
    instruction += (instruction.empty() ? "" : "\n\n") + each.content;
  }
  return Json{{"instruction", instruction}, {"input", ""}, {"output", example.completion}};
}

Result<Json> as_kernelbook(const Example& example) {
  if (example.source.empty() || example.kernel.empty())
    return fail("an example without its module and its kernel has no form in KernelBook's layout");
  const Origin origin = example.origin.value_or(Origin{});
  Json row = {{"entry_point", "Model"},
              {"python_code", example.source},
              {"triton_code", example.kernel},
              {"repo_name", origin.repository},
              {"module_name", origin.module},
              {"licenses", origin.licences},
              {"sha", origin.sha},
              {"repo_link", origin.link},
              {"uuid", example.task}};
  row["stars"] = origin.stars ? Json(*origin.stars) : Json(nullptr);
  return row;
}

// A number for a row, which other people's readers take for an id.
std::int64_t number_of(const Example& example) {
  constexpr std::uint64_t positive = ~(std::uint64_t{1} << 63);
  return static_cast<std::int64_t>(
      std::stoull(content_key(example.task + example.completion).substr(0, 16), nullptr, 16) &
      positive);
}

std::vector<Message> conversation(const Example& example) {
  std::vector<Message> messages = example.prompt;
  messages.push_back({.role = Role::assistant, .content = example.completion});
  return messages;
}

Result<Json> as_coldstart(const Example& example) {
  if (example.source.empty())
    return fail("an example without its module has no form in drkernel-coldstart's layout");
  const Origin origin = example.origin.value_or(Origin{});
  const std::vector<Message> messages = conversation(example);
  const auto rounds = std::ranges::count(messages, Role::assistant, &Message::role);
  return Json{{"messages", to_json(messages)},
              {"uuid", number_of(example)},
              {"entry_point", "Model"},
              {"repo_name", origin.repository},
              {"module_name", origin.module},
              {"final_speedup", example.speedup ? Json(*example.speedup) : Json(nullptr)},
              {"num_rounds", rounds},
              {"original_python_code", example.source},
              {"best_round", rounds},
              {"conversion_mode", "full_conversation"},
              {"enable_thinking", example.completion.find("<think") != std::string::npos}};
}

Result<Json> as_kernelllm(const Example& example) {
  if (example.source.empty() || example.kernel.empty())
    return fail("an example without its module and its kernel has no form in KernelLLM's layout");
  return Json{{"prompt", text::prompt_with_example(example.source)},
              {"completion", fmt::format("```python\n{}{}```", example.kernel,
                                         example.kernel.ends_with('\n') ? "" : "\n")}};
}

using NextRow = std::function<Result<std::optional<Json>>()>;
// Begins anew and returns what gives the rows one by one.
using Rows = std::function<Result<NextRow>()>;

void note_licences(const Json& row, ExportCounts& counts) {
  const auto found =
      column(row, "licenses") ? column(row, "licenses") : column(row, "origin.licenses");
  if (!found || !found->is_array()) return;
  for (const Json& each : *found)
    if (const std::string name = each.is_string() ? each.get<std::string>() : "";
        !name.empty() && std::ranges::find(counts.licences, name) == counts.licences.end())
      counts.licences.push_back(name);
}

// Returns the name of a file or a folder, also of one that the caller wrote with a slash at its end.
std::string name_of_set(const std::filesystem::path& out) {
  std::error_code error;  // without a working folder the path stays as it is
  const std::filesystem::path absolute = std::filesystem::absolute(out, error);
  const std::filesystem::path whole = (error ? out : absolute).lexically_normal();
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

std::string card_of(const DatasetTarget& target, const ExportCounts& counts,
                    std::string_view layout) {
  return fmt::format(
      "# {}\n\n{} rows in the layout `{}`, written by tritonsmith.\n\nLicences of the rows: {}. "
      "Each row's `origin` "
      "names its source.\n{}{}",
      name_of_set(target.out), counts.written, layout,
      counts.licences.empty() ? "unknown" : fmt::format("{}", fmt::join(counts.licences, ", ")),
      target.card.empty() ? "" : "\n", target.card);
}

Result<ExportCounts> write_all(const Rows& rows, DatasetTarget target, std::string_view layout) {
  Schema schema;
  ExportCounts counts;
  TRY_ASSIGN(NextRow next, rows());
  for (;;) {
    TRY_ASSIGN(const auto row, next());
    if (!row) break;
    ++counts.written;
    extend(schema, *row);
    note_licences(*row, counts);
  }
  if (counts.written == 0) return fail("there are no rows to write");
  target.card = card_of(target, counts, layout);
  TRY_ASSIGN(auto writer, write_rows(target, schema));
  TRY_ASSIGN(next, rows());
  for (;;) {
    TRY_ASSIGN(const auto row, next());
    if (!row) break;
    TRY(writer->write(*row));
  }
  TRY(writer->finish());
  return counts;
}

}  // namespace

Result<Example> example_from_json(const Json& json) {
  Example example;
  TRY_ASSIGN(example.task, text_column(json, {"task"}));
  TRY_ASSIGN(example.completion, text_column(json, {"completion"}));
  TRY_ASSIGN(example.rejected, text_column(json, {"rejected"}));
  TRY_ASSIGN(example.source, text_column(json, {"source"}));
  if (const auto speedup = column(json, "speedup"); speedup && speedup->is_number())
    example.speedup = speedup->get<double>();
  TRY_ASSIGN(example.kernel, text_column(json, {"kernel"}));
  if (const auto origin = column(json, "origin")) {
    TRY_ASSIGN(example.origin, origin_from_json(*origin));
  }
  if (column(json, "prompt")) {
    TRY_ASSIGN(example.prompt, messages_column(json, {"prompt"}));
  } else if (!example.source.empty() && !example.kernel.empty()) {  // of `tasks pairs`
    ExampleOptions options;
    TRY_ASSIGN(auto examples, examples_from_row(json, {.dataset = "pairs"}, options));
    return examples.front();
  } else {
    return fail("'prompt' is missing");
  }
  if (example.completion.empty()) return fail("'completion' is missing");
  return example;
}

Result<Json> example_in_layout(const Example& example, ExampleLayout layout) {
  Json row;
  switch (layout) {
    case ExampleLayout::sft:
      return to_json(example);
    case ExampleLayout::messages:
      row = {{"messages", to_json(conversation(example))}};
      break;
    case ExampleLayout::prompt_completion:
      row = {{"prompt", to_json(example.prompt)},
             {"completion", to_json(answer(example.completion))}};
      break;
    case ExampleLayout::preference:
      if (example.rejected.empty())
        return fail("an example without a worse answer is no preference");
      row = {{"prompt", to_json(example.prompt)},
             {"chosen", to_json(answer(example.completion))},
             {"rejected", to_json(answer(example.rejected))}};
      break;
    case ExampleLayout::alpaca: {
      TRY_ASSIGN(row, as_alpaca(example));
      break;
    }
    case ExampleLayout::kernelbook:
      return as_kernelbook(example);
    case ExampleLayout::coldstart: {
      TRY_ASSIGN(row, as_coldstart(example));
      break;
    }
    case ExampleLayout::kernel_smith:
      row = {{"_id", fmt::format("{:016x}", number_of(example))},
             {"messages", to_json(conversation(example))}};
      break;
    case ExampleLayout::kernelllm: {
      TRY_ASSIGN(row, as_kernelllm(example));
      break;
    }
  }
  row["task"] = example.task;
  add_origin(row, example.origin);
  return row;
}

Json task_in_layout(const Task& task, TaskLayout layout, std::size_t number) {
  Json row;
  if (layout == TaskLayout::kernelbench) {
    const std::size_t slash = task.id.find('/');
    const bool has_level = task.id.starts_with("level") && slash == 6;
    const std::string name = has_level ? task.id.substr(slash + 1) : task.id;
    const std::size_t digits = std::min(name.find_first_not_of("0123456789"), std::size_t{9});
    row = {{"code", task.source},
           {"level", has_level ? task.id[5] - '0' : 0},
           {"name", name},
           {"problem_id", digits > 0 ? std::stoull(name.substr(0, digits)) : number}};
  } else if (layout == TaskLayout::kernel_smith) {
    row = {{"data_source", "kernel_rl"},
           {"message", to_json(text::prompt_for(task, {}))},
           {"reward_model",
            {{"style", "rule"}, {"ground_truth", to_line(Json{{"reference_code", task.source}})}}},
           {"extra_info", {{"entry_point", "Model"}, {"uuid", task.id}, {"parent_code", ""}}}};
  } else {
    row = {{"data_source", task.suite.empty() ? "tritonsmith" : task.suite},
           {"prompt", to_json(text::prompt_for(task, {}))},
           {"ability", "kernel_optimization"},
           {"reward_model", {{"style", "rule"}, {"ground_truth", task.source}}},
           {"extra_info",
            {{"index", number},
             {"uuid", task.id},
             {"entry_point", "Model"},
             {"split", name_of(task.split)}}}};
  }
  add_origin(row, task.origin);
  return row;
}

Result<ExportCounts> export_examples(const std::filesystem::path& file, ExampleLayout layout,
                                     const DatasetTarget& target) {
  const Rows rows = [&]() -> Result<NextRow> {
    TRY_ASSIGN(std::shared_ptr<RowReader> reader, read_row_file(file));
    return NextRow([reader, layout]() -> Result<std::optional<Json>> {
      TRY_ASSIGN(const auto row, reader->next());
      if (!row) return std::nullopt;
      if (!row->problem.empty()) return fail("{}: {}", row->location, row->problem);
      const auto example = example_from_json(row->value);
      if (!example) return tl::unexpected(example.error().within(row->location));
      auto out = example_in_layout(*example, layout);
      if (!out) return tl::unexpected(out.error().within(row->location));
      return *std::move(out);
    });
  };
  return write_all(rows, target, name_of(layout));
}

Result<ExportCounts> export_examples(std::span<const Example> examples, ExampleLayout layout,
                                     const DatasetTarget& target) {
  const Rows rows = [&]() -> Result<NextRow> {
    return NextRow([&, at = std::size_t{0}]() mutable -> Result<std::optional<Json>> {
      if (at == examples.size()) return std::nullopt;
      ++at;
      TRY_ASSIGN(Json row, example_in_layout(examples[at - 1], layout));
      return row;
    });
  };
  return write_all(rows, target, name_of(layout));
}

Result<ExportCounts> export_tasks(const std::vector<Task>& tasks, TaskLayout layout,
                                  const DatasetTarget& target) {
  const Rows rows = [&]() -> Result<NextRow> {
    return NextRow([&, at = std::size_t{0}]() mutable -> Result<std::optional<Json>> {
      if (at == tasks.size()) return std::nullopt;
      ++at;
      return task_in_layout(tasks[at - 1], layout, at);
    });
  };
  return write_all(rows, target, name_of(layout));
}

}  // namespace tritonsmith::datasets
