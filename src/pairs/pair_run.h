// Runs `tasks pairs`: writes a solution of each task, has it judged, and keeps what was accepted.
// Three files in its folder grow by a line for each task, and a later run goes on after them:
//   pairs.jsonl     accepted: task, source, kernel, origin, verdict
//   rejected.jsonl  the same of solutions that were not accepted
//   failures.jsonl  tasks without a solution: reason, message
// A row of a solution that was to be rewritten also has `form`, "plain" or "given", and of those kept
// as given `kept_because`.
// Without a judge, written.jsonl replaces the first two: task, source, kernel, origin.
// One thread calls it.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "data/task.h"
#include "gym/api/judge.h"
#include "pairs/pair_writer.h"

namespace tritonsmith::pairs {

struct PairOptions {
  std::filesystem::path directory;
  Policy policy = Policy::fused;
  Backend backend = Backend::automatic;
  int trials = 3;
  std::size_t in_flight = 8;  // tasks between the first and the last step at a time
};

struct PairCounts {
  std::size_t before = 0;  // of an earlier run
  std::size_t accepted = 0, rejected = 0, failed = 0;
  std::size_t written = 0;                     // solutions that nobody judged
  std::map<std::string, std::size_t> reasons;  // of those rejected or failed
  // Given solutions that were rewritten as plain Triton, those of them whose plain form was accepted,
  // and why the other given solutions stayed as they are.
  std::size_t plain = 0, plain_accepted = 0;
  std::map<std::string, std::size_t> kept;
};

// Calls its callback at any time, from any thread.
using WritePair = std::function<void(std::string source, PairWriter::Done done)>;
using OnProgress = std::function<void(const PairCounts&)>;

// Fails if the gym or the guests are broken, or if a file cannot be written. `judge` may be null.
Result<PairCounts> make_pairs(std::span<const Task> tasks, const PairOptions& options,
                              const WritePair& write, gym::api::Judge* judge,
                              const OnProgress& on_progress);

}  // namespace tritonsmith::pairs
