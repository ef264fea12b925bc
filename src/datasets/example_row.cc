#include "datasets/example_row.h"

#include "datasets/columns.h"
#include "datasets/messages.h"

namespace tritonsmith::datasets {
namespace {

using text::Message;
using text::Role;

using Examples = std::vector<Example>;

const Names kKernels = {
    "kernel",          "triton_code", "optimised_triton_code", "final_triton_code",
    "triton_solution", "triton",      "original_triton_code"};

Result<Examples> from_conversation(std::vector<Message> messages, const Json& row, Turns turns) {
  std::vector<std::size_t> answers;
  for (std::size_t i = 0; i < messages.size(); ++i)
    if (messages[i].role == Role::assistant && i > 0) answers.push_back(i);
  if (answers.empty())
    return fail("its conversation has no answer of an assistant; `tasks import` takes its module");
  if (turns == Turns::last) answers = {answers.back()};
  if (turns == Turns::best) {
    const auto best = column(row, "best_round");
    if (!best || !best->is_number_integer() || *best < 1 ||
        *best > static_cast<std::int64_t>(answers.size()))
      return fail("'best_round' names no answer of its conversation");
    answers = {answers[best->get<std::size_t>() - 1]};
  }
  Examples examples;
  for (const std::size_t at : answers)
    examples.push_back(
        {.task = {},
         .prompt = {messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(at)},
         .completion = messages[at].content});
  return examples;
}

// The text of an answer: text, or a conversation whose last message it is.
Result<std::string> answer_in(const Json& row, std::string_view name) {
  const auto value = column(row, name);
  if (!value) return fail("'{}' is missing", name);
  if (value->is_string()) return value->get<std::string>();
  auto messages = messages_from_json(*value);
  if (!messages) return tl::unexpected(messages.error().within(fmt::format("'{}'", name)));
  return messages->back().content;
}

Result<Examples> from_preference(const Json& row) {
  Example example;
  if (column(row, "prompt")) {
    TRY_ASSIGN(example.prompt, messages_column(row, {"prompt"}));
  } else {  // the prompt is what both conversations begin with
    TRY_ASSIGN(example.prompt, messages_column(row, {"chosen"}));
    example.prompt.pop_back();
    if (example.prompt.empty()) return fail("'chosen' has no prompt before its answer");
  }
  TRY_ASSIGN(example.completion, answer_in(row, "chosen"));
  TRY_ASSIGN(example.rejected, answer_in(row, "rejected"));
  return Examples{example};
}

Result<Examples> from_prompt_and_completion(const Json& row) {
  Example example;
  TRY_ASSIGN(example.prompt, messages_column(row, {"prompt"}));
  TRY_ASSIGN(example.completion, answer_in(row, "completion"));
  return Examples{example};
}

Result<Examples> from_alpaca(const Json& row) {
  TRY_ASSIGN(std::string instruction, text_column(row, {"instruction"}));
  TRY_ASSIGN(const std::string input, text_column(row, {"input"}));
  TRY_ASSIGN(std::string output, text_column(row, {"output"}));
  if (!input.empty()) instruction += "\n\n" + input;
  Example example{.task = {},
                  .prompt = {{.role = Role::user, .content = std::move(instruction)}},
                  .completion = std::move(output)};
  return Examples{std::move(example)};
}

Result<Examples> from_pair(const Json& row, const RowContext& context,
                           const text::PromptConfig& prompt) {
  TRY_ASSIGN(const Task task, task_from_row(row, context));
  TRY_ASSIGN(std::string code, text_column(row, kKernels));
  const std::string entry_point = word_column(row, {"entry_point"});
  TRY_ASSIGN(std::string kernel,
             as_kernel_source(std::move(code), entry_point.empty() ? "Model" : entry_point));
  Example example{.task = task.id,
                  .prompt = text::prompt_for(task, prompt),
                  .completion = fmt::format("<answer>\n```python\n{}{}```\n</answer>", kernel,
                                            kernel.ends_with('\n') ? "" : "\n"),
                  .source = task.source,
                  .kernel = kernel,
                  .asked = text::PromptRecord{.prompt = prompt}};
  return Examples{std::move(example)};
}

// `final_speedup` is that of the best round.
std::optional<double> speedup_in(const Json& row, Turns turns) {
  const auto value = column(row, turns == Turns::best ? "final_speedup" : "speedup");
  return value && value->is_number() ? std::optional(value->get<double>()) : std::nullopt;
}

bool has_kernel(const Json& row) {
  for (const std::string_view name : kKernels)
    if (column(row, name)) return true;
  return false;
}

Result<Examples> of_layout(const Json& row, const RowContext& context,
                           const ExampleOptions& options) {
  if (column(row, "chosen") && column(row, "rejected")) return from_preference(row);
  if (column(row, "prompt") && column(row, "completion")) return from_prompt_and_completion(row);
  for (const std::string_view name : {"messages", "full_messages", "message", "conversations"})
    if (column(row, name)) {
      TRY_ASSIGN(auto messages, messages_column(row, {name}));
      return from_conversation(std::move(messages), row, options.turns);
    }
  if (column(row, "instruction") && column(row, "output")) return from_alpaca(row);
  if (has_kernel(row)) return from_pair(row, context, options.prompt);
  if (column(row, "prompt"))
    return fail("has a prompt and no answer; `tasks import` takes its module");
  return fail("has no columns of a known layout (docs/datasets.md)");
}

}  // namespace

Json to_json(const Example& example) {
  Json json = {{"task", example.task},
               {"prompt", to_json(example.prompt)},
               {"completion", example.completion}};
  if (!example.rejected.empty()) json["rejected"] = example.rejected;
  if (!example.source.empty()) json["source"] = example.source;
  if (!example.kernel.empty()) json["kernel"] = example.kernel;
  if (example.speedup) json["speedup"] = *example.speedup;
  if (example.asked) json["asked"] = to_json(*example.asked);
  if (example.origin) json["origin"] = to_json(*example.origin);
  return json;
}

Result<std::vector<Example>> examples_from_row(const Json& row, const RowContext& context,
                                               const ExampleOptions& options) {
  TRY_ASSIGN(Examples examples, of_layout(row, context, options));
  const std::string named = word_column(row, {"task"});
  const auto task = task_from_row(row, context);
  const std::optional<double> speedup = speedup_in(row, options.turns);
  for (Example& each : examples) {
    if (each.completion.empty()) return fail("its answer is empty");
    if (!named.empty()) each.task = named;
    if (each.task.empty()) each.task = task ? task->id : fmt::format("{}", context.number);
    if (each.source.empty() && task) each.source = task->source;
    each.origin = origin_of_row(row, context);
    if (!each.speedup) each.speedup = speedup;
  }
  return examples;
}

}  // namespace tritonsmith::datasets
