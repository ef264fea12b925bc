// Tasks: the built-in curriculum as tasks, made from options and a seed alone: the same options
// give the same tasks on every machine. A Lesson is a task together with the program it was written
// from, which is what the teacher needs.
#pragma once

#include <string>
#include <vector>

#include "base/config.h"
#include "curriculum/grammar.h"
#include "curriculum/torch_source.h"
#include "data/task.h"

namespace tritonsmith::curriculum {

// full: every operator. basic: the operators and shapes that a very small model can learn in
// minutes; elementwise and reductions only, two inputs at most, no broadcasting.
enum class Vocabulary { full, basic };
enum class Scales { small, gpu, both };

struct CurriculumOptions {
  std::uint64_t seed = 1;
  std::vector<std::string> families = {"elementwise", "reduction", "softmax", "norm", "matmul"};
  int train = 6000;  // compositions; each gives one task a scale
  int heldout = 300;
  Scales scale = Scales::small;
  int min_operators = 1;
  int max_operators = 5;
  Vocabulary vocabulary = Vocabulary::full;
  Idioms idioms = Idioms::varied;
  int variants = 1;  // tasks of one composition with other constants and shapes, at most

  static Fields<CurriculumOptions> fields();
};

// The curriculum of `tritonsmith quickstart`.
CurriculumOptions quickstart_options(std::uint64_t seed);

struct Lesson {
  Task task;
  Program program;
  Sizes sizes;
};

// The lesson's composition with its constants at other sizes, and with its inputs drawn otherwise:
// a kernel that is right must pass all of them. Their ids tell what is different.
std::vector<Task> relatives(const Lesson& lesson, std::uint64_t seed);

// Training tasks first, then the held-out ones. Fewer than asked for where the grammar has no more.
std::vector<Lesson> make_lessons(const CurriculumOptions& options);
std::vector<Task> make_curriculum(const CurriculumOptions& options);

}  // namespace tritonsmith::curriculum

namespace tritonsmith {
template <>
inline constexpr auto enum_names<curriculum::Vocabulary> = names<curriculum::Vocabulary>(
    {{curriculum::Vocabulary::full, "full"}, {curriculum::Vocabulary::basic, "basic"}});
template <>
inline constexpr auto enum_names<curriculum::Scales> =
    names<curriculum::Scales>({{curriculum::Scales::small, "small"},
                               {curriculum::Scales::gpu, "gpu"},
                               {curriculum::Scales::both, "both"}});
}  // namespace tritonsmith
