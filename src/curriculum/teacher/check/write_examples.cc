// Writes teacher solutions as JSONL for check_solutions.py: write_examples FILE TASKS SEED
// [quickstart]. Half of the tasks are held out, and half are written as for the GPU scale, on
// small shapes.
#include <fmt/format.h>

#include <cstdlib>

#include "base/file.h"
#include "curriculum/teacher/teacher.h"

namespace tritonsmith::curriculum {
namespace {

Status write_examples(const std::string& file, int count, std::uint64_t seed, bool quickstart) {
  CurriculumOptions options =
      quickstart ? quickstart_options(seed) : CurriculumOptions{.seed = seed};
  options.train = count - count / 2;
  options.heldout = count / 2;
  TeacherOptions teacher{.seed = seed, .styles = {}, .per_task = quickstart ? 1 : 9};
  if (quickstart) teacher.styles = {"compact"};
  std::string text;
  std::uint64_t index = 0;
  for (GeneratedTask& generated : generate_tasks(options)) {
    if (!quickstart && index % 2 == 1) generated.task.scale = TaskScale::gpu;
    for (const Example& each : teach_task(generated, teacher, index))
      text += to_line({{"task", to_json(each.task)},
                       {"style", name_of(each.answer.style)},
                       {"completion", each.answer.completion}}) +
              "\n";
    ++index;
  }
  return write_file_atomic(file, text);
}

}  // namespace
}  // namespace tritonsmith::curriculum

int main(int argc, char** argv) {
  if (argc < 4) {
    fmt::print(stderr, "usage: write_examples FILE TASKS SEED [quickstart]\n");
    return 2;
  }
  const auto status = tritonsmith::curriculum::write_examples(
      argv[1], std::atoi(argv[2]), std::strtoull(argv[3], nullptr, 10), argc > 4);
  if (status) return 0;
  fmt::print(stderr, "write_examples: {}\n", status.error().message);
  return 1;
}
