// TaskPlans: the captured plans of a judge's tasks, by the content of their sources. It keeps those
// that were used last, within a number and a size. Only the coordinator's thread uses it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "data/verdict.h"

namespace tritonsmith::gym::judge {

// A task's plan, captured once, with the parts that the captures of its candidates need.
struct TaskPlan {
  bool ready = false;
  std::string json, init_args, inputs, tensors, known;
  bool first_call_only = false;
  bool in_eval_mode = false;  // its candidates are captured in evaluation mode
  bool ignores_mode = false;  // its forward does the same in training and in evaluation mode
  std::optional<VerdictError> failure;
  std::vector<std::uint64_t> waiting;  // serials of the jobs that wait for it
  std::uint64_t last_used = 0;         // the serial of the last job that used it

  // Fills the members from a captured plan, or sets `failure` if the text is no plan.
  void read(const std::string& captured);
  std::size_t bytes() const {
    return json.size() + init_args.size() + inputs.size() + tensors.size() + known.size();
  }
};

class TaskPlans {
 public:
  TaskPlans(std::size_t most, std::size_t most_bytes) : most_(most), most_bytes_(most_bytes) {}

  // Returns the entry of a key. A new entry is not ready. Before it is added, plans that were used
  // longest ago leave until the others are within the limits. Plans that are not ready, or that
  // `is_used` names, stay.
  TaskPlan& entry(const std::string& key,
                  const std::function<bool(const std::string& key)>& is_used);
  TaskPlan& at(const std::string& key) { return plans_.at(key); }
  void forget(const std::string& key) { plans_.erase(key); }
  std::size_t size() const { return plans_.size(); }

 private:
  void make_room(const std::function<bool(const std::string& key)>& is_used);

  std::size_t most_, most_bytes_;
  std::map<std::string, TaskPlan> plans_;
};

}  // namespace tritonsmith::gym::judge
