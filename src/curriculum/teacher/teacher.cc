#include "curriculum/teacher/teacher.h"

#include <algorithm>

#include "curriculum/teacher/mistakes.h"
#include "curriculum/teacher/slips.h"
#include "curriculum/teacher/torch_share.h"

namespace tritonsmith::curriculum {
namespace {

Status check_styles(const std::vector<std::string>& styles) {
  for (const std::string& each : styles) TRY(enum_from_name<Style>(each));
  return ok();
}

std::vector<Style> wanted_styles(const GeneratedTask& generated, const TeacherOptions& options,
                                 Rng& rng) {
  std::vector<Style> styles = styles_for(generated.program, generated.sizes, generated.task.scale);
  if (!options.styles.empty())
    std::erase_if(styles, [&](Style style) {
      return std::find(options.styles.begin(), options.styles.end(), name_of(style)) ==
             options.styles.end();
    });
  rng.shuffle(styles);
  if (styles.size() > static_cast<std::size_t>(options.per_task))
    styles.resize(static_cast<std::size_t>(options.per_task));
  return styles;
}

std::string answer_text(std::string_view code) {
  return fmt::format("\n<answer>\n```python\n{}```\n</answer>", code);
}

Intent intent_of(double draw, const TeacherOptions& options) {
  if (draw < options.mistakes) return Intent::mistake;
  if (draw < options.mistakes + options.lazy) return Intent::lazy;
  if (draw < options.mistakes + options.lazy + options.decoys) return Intent::decoy;
  return Intent::honest;
}

// Writes the answers to one task.
class Lecturer {
 public:
  Lecturer(const GeneratedTask& generated, const TeacherOptions& options, Rng& rng)
      : generated_(generated), options_(options), rng_(rng) {}

  // If the program does not allow the intent, the answer is honest. Returns nothing if the style
  // does not fit.
  std::optional<Answer> answer(Style style, Intent intent) {
    if (intent == Intent::lazy || intent == Intent::decoy) {
      const auto share = intent == Intent::lazy ? TorchShare::lazy : TorchShare::decoy;
      if (auto solution = write_with_torch(generated_.program, share, rng_))
        return answer_of(*std::move(solution), Style::compact, intent);
      intent = Intent::honest;
    }
    std::optional<Program> wrong;
    if (intent == Intent::mistake) wrong = with_mistake(generated_.program, rng_);
    auto solution =
        write_solution(wrong.value_or(generated_.program), style, generated_.task.scale, rng_);
    // A wrong program may not fit the style any more. The compact style fits every program.
    if (!solution && wrong) {
      style = Style::compact;
      solution = write_solution(*wrong, style, generated_.task.scale, rng_);
    }
    if (!solution) return std::nullopt;
    return answer_of(*std::move(solution), style, wrong ? Intent::mistake : Intent::honest);
  }

  // Returns a bad answer. If `intent` is honest, it has a slip or a mistake instead.
  std::optional<Answer> first_answer(Style style, Intent intent) {
    if (intent == Intent::honest) intent = rng_.below(2) == 0 ? Intent::slip : Intent::mistake;
    auto first = answer(style, intent == Intent::slip ? Intent::honest : intent);
    if (!first || first->intent != Intent::honest) return first;
    const auto slipped = with_slip(first->code, rng_);
    if (!slipped) return std::nullopt;
    const std::string thinking = first->completion.substr(0, first->completion.find("\n<answer>"));
    first->completion = thinking + answer_text(*slipped);
    first->code = *slipped;
    first->intent = Intent::slip;
    return first;
  }

 private:
  Answer answer_of(Solution solution, Style style, Intent intent) const {
    const std::string& thinking =
        options_.thinking == ThinkingKind::fusion ? solution.fusion : solution.thinking;
    return {.intent = intent,
            .style = style,
            .code = solution.code,
            .completion = completion_text(thinking, solution.code)};
  }

  const GeneratedTask& generated_;
  const TeacherOptions& options_;
  Rng& rng_;
};

}  // namespace

Fields<TeacherOptions> TeacherOptions::fields() {
  using Options = TeacherOptions;
  return {
      field("seed", &Options::seed, "Styles, names and mistakes follow from this seed."),
      field("styles", &Options::styles,
            "The styles of solutions, of " + all_names<Style>() + ". Empty: all that fit.",
            check_styles),
      field("per_task", &Options::per_task,
            "How many completions a task gets, each in another style.", at_least(1)),
      renamed_from("plan",
                   field("thinking", &Options::thinking,
                         "What stands before the code: steps, or fusion, which says what each "
                         "kernel computes.")),
      field("mistakes", &Options::mistakes, "The share of completions that are wrong on purpose.",
            between(0.0, 1.0)),
      field("lazy", &Options::lazy,
            "The share of completions that leave all operators but one to torch. They are right, "
            "and policy open accepts them.",
            between(0.0, 1.0)),
      field("decoys", &Options::decoys,
            "The share of completions in which torch computes everything and a kernel does "
            "nothing. They are right, and never accepted.",
            between(0.0, 1.0)),
      field("repairs", &Options::repairs,
            "The share of completions that are second answers, after a wrong, lazy or decoy answer "
            "and its verdict.",
            between(0.0, 1.0))};
}

Status check(const TeacherOptions& options) {
  const double spoilt = options.mistakes + options.lazy + options.decoys;
  if (spoilt > 1 + 1e-9)
    return fail("teacher.mistakes, lazy and decoys are shares of one whole, but add up to {}",
                spoilt);
  return ok();
}

std::string completion_text(std::string_view thinking, std::string_view code) {
  return fmt::format("<thinking>{}</thinking>", thinking) + answer_text(code);
}

std::vector<Example> teach_task(const GeneratedTask& generated, const TeacherOptions& options,
                                std::uint64_t index) {
  Rng rng(options.seed, "teacher", index);
  // A generator of its own, so that repairs change no other answer.
  Rng repair_rng(options.seed, "teacher repairs", index);
  std::vector<Example> examples;
  for (const Style style : wanted_styles(generated, options, rng)) {
    const Intent intent = intent_of(rng.uniform(), options);
    auto answer = Lecturer(generated, options, rng).answer(style, intent);
    if (!answer) continue;
    Example example{.task = generated.task, .answer = *std::move(answer), .first = std::nullopt};
    if (repair_rng.uniform() < options.repairs) {
      Lecturer repairer(generated, options, repair_rng);
      auto first = repairer.first_answer(style, example.answer.intent);
      auto second = repairer.answer(style, Intent::honest);
      if (first && second) {
        example.first = std::move(first);
        example.answer = *std::move(second);
      }
    }
    examples.push_back(std::move(example));
  }
  return examples;
}

std::vector<Example> teach(std::span<const GeneratedTask> generated_tasks,
                           const TeacherOptions& options) {
  std::vector<Example> examples;
  for (std::size_t i = 0; i < generated_tasks.size(); ++i) {
    if (generated_tasks[i].task.split != TaskSplit::train) continue;
    for (Example& each : teach_task(generated_tasks[i], options, i))
      examples.push_back(std::move(each));
  }
  return examples;
}

}  // namespace tritonsmith::curriculum
