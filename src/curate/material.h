// Material: what a curated set is made of: tasks, and what somebody answered to them, with verdicts.
// It is read from the folders of `tasks distil` and `rl` (tasks.jsonl and samples.jsonl) and of
// `tasks pairs` (pairs.jsonl, rejected.jsonl). Tasks of equal source are one task. It is all in memory.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "data/task.h"
#include "text/chat.h"

namespace tritonsmith::curate {

// One judged turn.
struct Answer {
  std::string text, reasoning, kernel, feedback;
  bool is_accepted = false;
  std::string failure;  // of an answer that is not accepted: the class of its error
  std::optional<double> speedup;
  std::string device = {};  // the GPU that timed it
  std::int64_t tokens = 0;  // that its writer wrote for it
  double stage = 0;         // how far the gym got with it, from 0 to 1
};

// A conversation about a task. A pair is one of a single answer.
struct Conversation {
  std::size_t task = 0;                 // its index in Material::tasks
  std::vector<text::Message> messages;  // of the first prompt; empty: the records do not have them
  std::vector<Answer> answers;          // by turn
  std::string origin;                   // the folder that it is from
};

struct Material {
  std::vector<Task> tasks;
  std::vector<Conversation> conversations;

  // Adds a folder's. Fails in one line that names the file and line at fault.
  Status read(const std::filesystem::path& folder);

  // Removes the speed-ups that were not measured on this GPU. If `device` is empty, it is the one
  // that timed most answers. Returns what was removed, in words: "3 on NVIDIA A100".
  std::string keep_speeds_of(std::string device);

 private:
  std::size_t index_of(const Task& task);
  Status read_samples(const std::filesystem::path& folder);
  Status read_pairs(const std::filesystem::path& file, const std::string& folder);
  std::unordered_map<std::string, std::size_t> indices_;  // by content of the source
};

}  // namespace tritonsmith::curate
