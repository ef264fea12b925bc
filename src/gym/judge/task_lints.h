// TaskLints: a judge's findings about tasks themselves. A referee lints each task once for each way
// of judging it (referee/lint.h). The findings go into every verdict on a candidate of that task,
// so that verdicts do not depend on which job came first. Only the coordinator's thread uses this.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/byte_cache.h"
#include "gym/api/judge.h"
#include "gym/judge/referee_client.h"

namespace tritonsmith::gym::judge {

// A referee's findings about a task, or a note if it could not lint the task.
struct TaskLook {
  std::vector<Finding> findings;
  bool is_final = true;  // false: the infrastructure failed, and a later attempt may tell more
};
TaskLook task_look(const RefereeOutcome& outcome);
// Returns the finding about a task of whose faults too few are told apart.
std::optional<Finding> poor_adequacy(const Adequacy& adequacy);

class TaskLints {
 public:
  // Returns a key for the task's content and everything that decides what passes for a solution.
  static std::string key_of(const api::JudgeJob& job);

  // Returns true if a referee must be asked now.
  bool begin(const std::string& key);
  // Returns the findings for a key that has begun. Returns null until they are known; hear() then
  // returns `serial` among those that wait.
  const std::vector<Finding>* await(const std::string& key, std::uint64_t serial);
  struct Heard {
    bool ask_again = false;  // the findings are still unknown
    std::vector<std::uint64_t> waiting;
  };
  Heard hear(const std::string& key, const RefereeOutcome& outcome);
  bool has_begun(const std::string& key) const {
    return asked_.contains(key) || known_.contains(key);
  }

 private:
  // A question that a referee has not answered yet. Nothing else may forget it.
  struct Question {
    int failures = 0;
    std::vector<std::uint64_t> waiting;
  };
  static constexpr std::size_t kKeptBytes = std::size_t{64} << 20;
  std::map<std::string, Question> asked_;
  // If a task's findings were forgotten, a referee lints the task again.
  ByteCache<TaskLook> known_{kKeptBytes};
};

}  // namespace tritonsmith::gym::judge
