// The life of a sample as one readable text: a task, its prompt, four completions, their kernels and
// findings, the plan of one, the verdicts, rewards and advantages, and the first gradient norms. A
// model of random weights stands in for the trained one, and the teacher writes the completions.
//
//   playthrough REFEREE EXPECTED             compares the text with the file EXPECTED
//   playthrough REFEREE EXPECTED --write     writes the file
//
// Numbers with a decimal point may differ by 0.2 %, since processors round differently.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <future>
#include <numeric>
#include <sstream>

#include "base/file.h"
#include "base/temp_dir.h"
#include "curriculum/teacher/teacher.h"
#include "gym/api/judge_all.h"
#include "gym/judge/local_judge.h"
#include "gym/plan/plan.h"
#include "inspect/inspect.h"
#include "reward/terms.h"
#include "text/extract.h"
#include "text/prompt.h"
#include "train/credit/credit.h"
#include "train/run/testing/tiny_model.h"

namespace tritonsmith {
namespace {

using train::JudgedSample;

// The seed of the curriculum whose first task of two operators or more is shown.
constexpr std::uint64_t kSeed = 5;

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string indented(const std::string& text) {
  std::string out;
  for (const std::string& line : split_lines(text))
    out += line.empty() ? "\n" : "    " + line + "\n";
  return out;
}

// One answer of each kind. They are the samples of one group.
std::vector<curriculum::Example> answers_of_a_task() {
  auto options = curriculum::quickstart_options(kSeed);
  options.train = 1;
  options.heldout = 0;
  options.min_operators = 2;  // a single operator leaves no work to share with torch
  const auto generated_tasks = curriculum::generate_tasks(options);
  const curriculum::TeacherOptions honest{
      .styles = {"compact"}, .per_task = 1, .thinking = curriculum::ThinkingKind::fusion};
  std::vector<curriculum::TeacherOptions> kinds(4, honest);
  kinds[1].mistakes = kinds[2].lazy = kinds[3].decoys = 1;
  std::vector<curriculum::Example> answers;
  for (const auto& kind : kinds) answers.push_back(curriculum::teach(generated_tasks, kind).at(0));
  return answers;
}

Result<std::vector<Verdict>> judge_samples(gym::api::Judge& judge, const Task& task,
                                           std::span<const JudgedSample> samples) {
  std::vector<gym::api::JudgeJob> jobs;
  for (const JudgedSample& sample : samples)
    jobs.push_back({.task = task,
                    .kernel = sample.kernel.source,
                    .backend = Backend::evaluate,
                    .use_store = false});
  return gym::api::judge_all(judge, std::move(jobs));
}

Result<std::string> captured(gym::capture::CapturePool& pool,
                             gym::capture::CaptureRequest request) {
  std::promise<gym::capture::CaptureOutcome> promise;
  pool.capture(std::move(request), [&](gym::capture::CaptureOutcome outcome) {
    promise.set_value(std::move(outcome));
  });
  const gym::capture::CaptureOutcome outcome = promise.get_future().get();
  if (const auto* plan = std::get_if<gym::capture::CapturedPlan>(&outcome.result))
    return plan->json;
  return fail("the capture failed");
}

Result<gym::plan::Plan> plan_of(gym::capture::CapturePool& pool, const Task& task,
                                const std::string& kernel) {
  TRY_ASSIGN(const std::string of_task,
             captured(pool, {.role = gym::capture::CaptureRole::task, .source = task.source}));
  TRY_ASSIGN(const Json json, parse_json(of_task));
  TRY_ASSIGN(const std::string of_kernel,
             captured(pool, {.source = kernel,
                             .init_args_json = to_line(json["init_args"]),
                             .inputs_json = to_line(json["inputs"]),
                             .tensors_json = to_line(json["tensors"])}));
  return gym::plan::parse_plan(of_kernel);
}

std::string tensor_text(const gym::plan::Plan& plan, int index) {
  const gym::plan::PlanTensor& tensor = plan.tensors.at(static_cast<std::size_t>(index));
  return fmt::format("t{} {}[{}]", index, name_of(tensor.dtype), fmt::join(tensor.shape, ", "));
}

std::string argument_text(const gym::plan::Plan& plan, const gym::plan::Value& value) {
  const auto* tensor = std::get_if<gym::plan::TensorRef>(&value.data);
  return tensor != nullptr ? tensor_text(plan, tensor->index) : to_line(to_json(value));
}

std::string step_text(const gym::plan::Plan& plan, const gym::plan::PlanStep& step) {
  std::vector<std::string> arguments;
  const auto add_all = [&](const std::vector<gym::plan::Value>& values) {
    for (const auto& value : values) arguments.push_back(argument_text(plan, value));
  };
  if (const auto* call = std::get_if<gym::plan::AtenCall>(&step.action)) {
    add_all(call->args);
    std::vector<std::string> made;
    for (const int output : call->outputs) made.push_back(tensor_text(plan, output));
    return fmt::format("line {}: {}({}) -> {}", step.line, call->op, fmt::join(arguments, ", "),
                       fmt::join(made, ", "));
  }
  if (const auto* launch = std::get_if<gym::plan::LaunchStep>(&step.action)) {
    const gym::plan::LaunchChoice& choice = launch->choices.at(0);
    add_all(choice.arguments);
    return fmt::format("line {}: {}[{}]({})", step.line,
                       plan.kernels.at(static_cast<std::size_t>(choice.kernel)).name,
                       fmt::join(choice.grid, ", "), fmt::join(arguments, ", "));
  }
  const auto& constant = std::get<gym::plan::ConstantStep>(step.action);
  return fmt::format("line {}: a constant -> {}", step.line, tensor_text(plan, constant.output));
}

std::string findings_text(std::span<const Finding> findings) {
  std::string text;
  for (const Finding& finding : findings)
    text += fmt::format("    {} (line {}): {}\n", finding.rule, finding.line, finding.message);
  return text.empty() ? "    none\n" : text;
}

std::string verdict_text(const Verdict& verdict) {
  return fmt::format("stage {}, compiled {}, correct {}, accepted {}{}", name_of(verdict.stage),
                     verdict.compiled, verdict.correct, verdict.accepted,
                     verdict.error ? ", error " + class_name(*verdict.error) : "");
}

std::string reward_text(const Reward& reward) {
  std::vector<std::string> terms;
  for (const RewardTerm& term : reward.terms)
    terms.push_back(fmt::format("{} {} x {}", term.name, term.value, term.weight));
  return fmt::format("{:.4f} = {}", reward.total, fmt::join(terms, " + "));
}

// The loss and the gradient of the group at weights that nothing has changed yet.
std::string gradient_text(train::Learner& learner, const train::PolicyBatch& batch) {
  std::vector<std::size_t> members(batch.sequences.size());
  std::iota(members.begin(), members.end(), std::size_t{0});
  const auto report = train::set_policy_gradient(learner, batch, members, {});
  std::string text = fmt::format("    surrogate {:.5f}, entropy {:.4f}, {} tokens\n",
                                 report.surrogate, report.entropy, report.measured);
  for (const auto& [name, tensor] : learner.model().parameters())
    text += fmt::format("    {} {:.4e}\n", name, tensor.grad().norm().item<double>());
  return text;
}

struct Scene {
  Task task;
  std::vector<text::Message> messages;
  std::vector<curriculum::Example> answers;
  std::vector<JudgedSample> samples;  // one group
};

// The prompt and the completions, as tokens of the model's tokenizer.
Scene write_scene(const text::Tokenizer& tokenizer, const text::ChatTemplate& chat) {
  Scene scene{.answers = answers_of_a_task()};
  scene.task = scene.answers.at(0).task;
  scene.messages = text::prompt_for(scene.task, {.style = text::PromptStyle::compact});
  for (std::size_t k = 0; k < scene.answers.size(); ++k) {
    JudgedSample sample;
    sample.sample.member = static_cast<int>(k);
    sample.sample.task_id = scene.task.id;
    Completion& completion = sample.sample.completion;
    completion.prompt = chat.prompt_tokens(scene.messages);
    completion.text = scene.answers[k].answer.completion;
    completion.tokens = tokenizer.encode(completion.text);
    std::vector<std::size_t> ends;
    for (const TokenId id : completion.tokens)
      ends.push_back((ends.empty() ? 0 : ends.back()) + tokenizer.bytes_of(id).size());
    sample.kernel = text::extract_kernel(completion.text, ends);
    sample.sample.kernel = sample.kernel.source;
    completion.tokens.push_back(chat.stop_token());
    scene.samples.push_back(std::move(sample));
  }
  return scene;
}

// The log-probabilities with which the model would have sampled the completions.
void sample_with(const train::Learner& learner, std::vector<JudgedSample>& samples) {
  for (JudgedSample& each : samples)
    each.sample.completion.logprobs.assign(each.sample.completion.tokens.size(), 0.0F);
  const train::PolicyBatch batch = train::policy_batch(samples);
  const train::TokenColumn columns =
      train::token_logprobs(learner.model(), batch.sequences, 1.0, {});
  for (std::size_t k = 0; k < samples.size(); ++k)
    samples[k].sample.completion.logprobs = columns.at(k);
}

std::string told(const Scene& scene, const text::Tokenizer& tokenizer) {
  const JudgedSample& first = scene.samples.front();
  const Completion& completion = first.sample.completion;
  std::string text = "The life of a sample, from its task to the first gradient\n\n";
  text += fmt::format("1. The task {}\n\n{}\n", scene.task.id, indented(scene.task.source));
  text += "2. The prompt\n\n";
  for (const text::Message& message : scene.messages)
    text += fmt::format("  {}:\n{}\n", name_of(message.role), indented(message.content));
  const std::span<const TokenId> opening = std::span(completion.prompt).first(12);
  text += fmt::format("3. The prompt as {} tokens\n\n    {} ...\n    {:?} ...\n\n",
                      completion.prompt.size(), fmt::join(opening, " "), tokenizer.decode(opening));
  text += fmt::format("4. A completion of {} tokens\n\n{}\n", completion.tokens.size(),
                      indented(completion.text));
  text += fmt::format("5. Its parts: the thinking is tokens {} to {}, the code tokens {} to {}\n\n",
                      first.kernel.thinking_tokens.begin, first.kernel.thinking_tokens.end,
                      first.kernel.code_tokens.begin, first.kernel.code_tokens.end);
  std::vector<std::string> logprobs;
  for (const float each : std::span(completion.logprobs).first(8))
    logprobs.push_back(fmt::format("{:.4f}", each));
  return text + fmt::format("6. The log-probabilities of its first tokens\n\n    {} ...\n\n",
                            fmt::join(logprobs, " "));
}

Result<std::string> play(const std::string& referee) {
  TRY_ASSIGN(const TempDir model, TempDir::make("playthrough"));
  train::make_tiny_model(model.path(), 3, 8192);
  TRY_ASSIGN(const auto tokenizer, text::Tokenizer::from_file(model.path() / "tokenizer.json"));
  TRY_ASSIGN(const auto chat, text::ChatTemplate::make(tokenizer));
  TRY_ASSIGN(train::Learner learner, train::Learner::start(model.path(), c10::kCPU));
  Scene scene = write_scene(tokenizer, chat);
  sample_with(learner, scene.samples);
  std::string text = told(scene, tokenizer);

  text += "7. What the group's kernels are refused for before they run\n\n";
  for (const JudgedSample& each : scene.samples)
    text += fmt::format(
        "  member {}, {}:\n{}", each.sample.member,
        name_of(scene.answers[static_cast<std::size_t>(each.sample.member)].answer.intent),
        findings_text(inspect::inspect_kernel(each.kernel.source, Policy::strict)));

  gym::judge::LocalJudgeConfig config;
  config.capture.slots = 1;
  TRY_ASSIGN(const auto pool, gym::capture::CapturePool::start(config.capture));
  TRY_ASSIGN(const auto plan, plan_of(*pool, scene.task, scene.samples.front().kernel.source));
  text += "\n8. The plan of member 0\n\n";
  for (const auto& step : plan.steps) text += "    " + step_text(plan, step) + "\n";

  TRY_ASSIGN(const auto judge,
             gym::judge::LocalJudge::start(config, inspect::inspect_kernel, {.argv = {referee}}));
  TRY_ASSIGN(const auto verdicts, judge_samples(*judge, scene.task, scene.samples));
  text += "\n9. The verdicts under strict\n\n";
  for (std::size_t k = 0; k < verdicts.size(); ++k)
    text += fmt::format("    member {}: {}\n", k, verdict_text(verdicts[k]));

  text += "\n10. The rewards\n\n";
  for (std::size_t k = 0; k < verdicts.size(); ++k) {
    const auto reward =
        reward::score({.kernel = scene.samples[k].kernel, .verdict = verdicts[k]}, {}, {});
    if (!reward) return fail("member {} has no reward", k);
    scene.samples[k].sample.verdict = verdicts[k];
    scene.samples[k].sample.reward = *reward;
    text += fmt::format("    member {}: {}\n", k, reward_text(*reward));
  }

  train::PolicyBatch batch = train::policy_batch(scene.samples);
  const std::vector<char> is_scored(scene.samples.size(), 1);
  train::assign_credit(scene.samples, is_scored, {}, batch);
  text += "\n11. The advantages (GRPO)\n\n";
  for (const JudgedSample& each : scene.samples)
    text += fmt::format("    member {}: {:.4f}\n", each.sample.member, each.sample.advantage);
  text += "\n12. The first gradient: norms by parameter\n\n" + gradient_text(learner, batch);
  return text;
}

bool are_equal(const std::string& a, const std::string& b) {
  if (a == b) return true;
  if (a.find('.') == std::string::npos || b.find('.') == std::string::npos) return false;
  char *end_a = nullptr, *end_b = nullptr;
  const double left = std::strtod(a.c_str(), &end_a), right = std::strtod(b.c_str(), &end_b);
  if (std::string_view(end_a) != std::string_view(end_b) || end_a == a.c_str()) return false;
  return std::abs(left - right) <= 2e-3 * std::max(std::abs(left), std::abs(right)) + 1e-6;
}

// Returns the first line that differs, as both texts have it; empty if there is none.
std::string first_difference(const std::string& expected, const std::string& found) {
  const auto lines = split_lines(expected), now = split_lines(found);
  for (std::size_t k = 0; k < std::max(lines.size(), now.size()); ++k) {
    const std::string before = k < lines.size() ? lines[k] : "",
                      after = k < now.size() ? now[k] : "";
    std::istringstream a(before), b(after);
    std::string left, right;
    bool same = true;
    while (same) {
      const bool has_a = static_cast<bool>(a >> left), has_b = static_cast<bool>(b >> right);
      if (!has_a && !has_b) break;
      same = has_a && has_b && are_equal(left, right);
    }
    if (!same) return fmt::format("line {}\n  expected: {}\n  found:    {}", k + 1, before, after);
  }
  return "";
}

Result<int> run(const std::string& referee, const std::string& file, bool is_write) {
  TRY_ASSIGN(const std::string text, play(referee));
  if (is_write) {
    TRY(write_file_atomic(file, text));
    return 0;
  }
  TRY_ASSIGN(const std::string expected, read_file(file));
  const std::string difference = first_difference(expected, text);
  if (difference.empty()) return 0;
  fmt::print(
      "the life of a sample has changed: {}\n\nIf the change is meant, `make playthrough` writes "
      "the "
      "file anew.\n",
      difference);
  return 1;
}

}  // namespace
}  // namespace tritonsmith

int main(int argc, char** argv) {
  const bool is_write = argc == 4 && std::string_view(argv[3]) == "--write";
  if (argc != 3 && !is_write) {
    fmt::print(stderr, "usage: playthrough REFEREE EXPECTED [--write]\n");
    return 2;
  }
  const auto code = tritonsmith::run(argv[1], argv[2], is_write);
  if (code) return *code;
  fmt::print(stderr, "playthrough: {}\n", code.error().message);
  return 2;
}
