#include "curriculum/teacher/teacher.h"

#include <algorithm>

#include "curriculum/teacher/mistakes.h"

namespace tritonsmith::curriculum {
namespace {

Status check_styles(const std::vector<std::string>& styles) {
  for (const std::string& each : styles) TRY(enum_from_name<Style>(each));
  return ok();
}

std::vector<Style> wanted_styles(const Lesson& lesson, const TeacherOptions& options, Rng& rng) {
  std::vector<Style> styles = styles_for(lesson.program, lesson.sizes, lesson.task.scale);
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

}  // namespace

Fields<TeacherOptions> TeacherOptions::fields() {
  using Options = TeacherOptions;
  return {field("seed", &Options::seed, "of styles, names and mistakes"),
          field("styles", &Options::styles, "of " + all_names<Style>() + "; empty: all that fit",
                check_styles),
          field("per_task", &Options::per_task, "completions of a task, each in another style",
                at_least(1)),
          field("mistakes", &Options::mistakes, "share of completions that are wrong on purpose",
                between(0.0, 1.0))};
}

std::string completion_text(const Solution& solution) {
  return fmt::format("<thinking>{}</thinking>\n<answer>\n```python\n{}```\n</answer>",
                     solution.plan, solution.code);
}

std::vector<Example> teach_lesson(const Lesson& lesson, const TeacherOptions& options,
                                  std::uint64_t index) {
  Rng rng(options.seed, "teacher", index);
  std::vector<Example> examples;
  for (const Style style : wanted_styles(lesson, options, rng)) {
    std::optional<Program> wrong;
    if (rng.uniform() < options.mistakes) wrong = with_mistake(lesson.program, rng);
    auto solution = write_solution(wrong.value_or(lesson.program), style, lesson.task.scale, rng);
    if (!solution) continue;
    examples.push_back({.task = lesson.task,
                        .style = style,
                        .completion = completion_text(*solution),
                        .mistaken = wrong.has_value()});
  }
  return examples;
}

std::vector<Example> teach(std::span<const Lesson> lessons, const TeacherOptions& options) {
  std::vector<Example> examples;
  for (std::size_t i = 0; i < lessons.size(); ++i) {
    if (lessons[i].task.split != TaskSplit::train) continue;
    for (Example& each : teach_lesson(lessons[i], options, i)) examples.push_back(std::move(each));
  }
  return examples;
}

}  // namespace tritonsmith::curriculum
