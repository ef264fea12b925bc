// Runs `tasks distil`: asks a teacher for the kernels of tasks, has each answer judged as it comes,
// and lets the teacher repair what failed over several turns. Everything is kept in the run's
// folder:
//   tasks.jsonl    the tasks, so that the folder explains itself
//   samples.jsonl  a line for each judged turn (distil_record.h)
//   options.json   what decides the answers; another call under other options is refused
// A later call goes on after the last line. One thread calls it.
#pragma once

#include <filesystem>
#include <functional>
#include <span>

#include "distil/prompt_form.h"
#include "episode/episodes.h"

namespace tritonsmith::distil {

struct DistilOptions {
  std::string model;  // for the record
  std::vector<PromptForm> forms = {PromptForm::conversion};
  std::string system;
  int samples = 1;  // conversations of each task in each form
  generate::SamplingParams sampling;
  Policy policy = Policy::strict;
  Backend backend = Backend::automatic;
  int trials = 3;
  std::uint64_t seed = 1;
  episode::TurnsConfig turns;
  std::filesystem::path directory;
  std::size_t in_flight = 64;  // conversations at a time
};

struct DistilCounts {
  std::size_t conversations = 0, finished = 0;
  std::size_t finished_before = 0;  // of an earlier call
  std::size_t turns = 0, accepted = 0;
  std::size_t repaired = 0;  // of those accepted: after a turn that was not
  std::size_t too_long = 0;  // their prompt exceeds the teacher's context
  std::size_t faults = 0;    // without a verdict, by a fault of the gym; the next call judges them
  std::int64_t tokens = 0;   // that the teacher wrote
};

using OnProgress = std::function<void(const DistilCounts&)>;

// Fails if the writer or the gym is broken, if a file cannot be written, or if the folder holds a run
// with other tasks or options. What was judged until then stays.
Result<DistilCounts> distil(std::span<const Task> tasks, const DistilOptions& options,
                            generate::Writer& writer, gym::api::Judge& judge,
                            const OnProgress& on_progress);

}  // namespace tritonsmith::distil
