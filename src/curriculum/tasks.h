// Tasks: generates the built-in curriculum. Equal options and seeds give equal tasks on every
// machine. A GeneratedTask is a task together with its program, which the teacher needs.
#pragma once

#include <string>
#include <vector>

#include "base/config.h"
#include "curriculum/grammar.h"
#include "curriculum/torch_source.h"
#include "data/task.h"

namespace tritonsmith::curriculum {

// full: every operator. basic: operators and shapes that a very small model can learn in minutes.
// It has elementwise operators and reductions only, at most two inputs, and no broadcasting.
enum class Vocabulary { full, basic };
enum class Scales { small, gpu, both };

struct CurriculumOptions {
  std::uint64_t seed = 1;
  std::vector<std::string> families = {"elementwise", "reduction", "softmax", "norm", "matmul"};
  int train = 6000;  // compositions; each gives one task for each scale
  int heldout = 300;
  Scales scale = Scales::small;
  int min_operators = 1;
  int max_operators = 5;
  Vocabulary vocabulary = Vocabulary::full;
  Idioms idioms = Idioms::varied;
  int variants = 1;  // largest number of tasks of one composition, with other constants and shapes

  static Fields<CurriculumOptions> fields();
};

// Returns the options of `tritonsmith quickstart`.
CurriculumOptions quickstart_options(std::uint64_t seed);

struct GeneratedTask {
  Task task;
  Program program;
  Sizes sizes;
};

// Returns variants of a generated task: its composition and constants at other sizes and with other
// input values. A correct kernel must pass all of them. A variant's id says what differs.
std::vector<Task> relatives(const GeneratedTask& generated, std::uint64_t seed);

// Makes training tasks first, then held-out ones. It makes fewer than asked for if the grammar has
// no more.
std::vector<GeneratedTask> generate_tasks(const CurriculumOptions& options);
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
