// TaskLints: what a judge knows of tasks themselves, from one look by a referee at each
// (referee/lint.h). A task is looked at once for each way of judging it, and what was found goes
// into every verdict on a candidate that was captured for it, so that verdicts do not depend on
// which came first. The coordinator's; its thread alone.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gym/api/judge.h"
#include "gym/judge/referee_client.h"

namespace tritonsmith::gym::judge {

// What a referee said of a task; a note where it could not look.
struct TaskLook {
  std::vector<Finding> findings;
  bool is_final = true;  // false: the infrastructure failed, another time may tell more
};
TaskLook task_look(const RefereeOutcome& outcome);

class TaskLints {
 public:
  // Names the task's content and all that decides what passes for a solution of it.
  static std::string key_of(const api::JudgeJob& job);

  // True where a referee is to be asked now.
  bool begin(const std::string& key);
  // What was found. None until then: `serial` is among those that hear() gives. Once a key has
  // begun.
  const std::vector<Finding>* await(const std::string& key, std::uint64_t serial);
  struct Heard {
    bool ask_again = false;  // nobody knows more yet
    std::vector<std::uint64_t> waiting;
  };
  Heard hear(const std::string& key, const RefereeOutcome& outcome);
  bool has_begun(const std::string& key) const { return known_.contains(key); }

 private:
  struct Look {
    bool asked = false, is_known = false;
    int failures = 0;
    std::vector<Finding> findings;
    std::vector<std::uint64_t> waiting;
  };
  // Findings are few; who needs one that was forgotten has it looked for again.
  static constexpr std::size_t kKept = 16384;
  std::map<std::string, Look> known_;
};

}  // namespace tritonsmith::gym::judge
