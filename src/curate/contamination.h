// Contamination: which training tasks are those of a suite that only measures. A task is found by its
// source, by its model's normal form without numbers (normal_form.h), and by its launch plan: the
// operators that its forward calls, on whatever shapes. Plans are there only where the caller gives them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "base/enum_names.h"
#include "data/task.h"

namespace tritonsmith::curate {

enum class Likeness { source, syntax, plan };

struct Found {
  Likeness by = Likeness::source;
  std::string task;  // of the suite
};

// The signature of a task's plan (plan_signature.h), or nothing.
using SignatureOf = std::function<std::optional<std::string>(const Task& task)>;

class Contamination {
 public:
  // `suite` names the tasks in reports.
  void add(const std::string& suite, std::span<const Task> tasks, const SignatureOf& signature_of);
  std::optional<Found> find(const Task& task, const SignatureOf& signature_of) const;
  bool is_empty() const { return keys_.empty(); }

 private:
  std::map<std::pair<Likeness, std::string>, std::string> keys_;  // to the suite's task
};

}  // namespace tritonsmith::curate

template <>
inline constexpr auto tritonsmith::enum_names<tritonsmith::curate::Likeness> =
    tritonsmith::names<tritonsmith::curate::Likeness>(
        {{tritonsmith::curate::Likeness::source, "source"},
         {tritonsmith::curate::Likeness::syntax, "syntax"},
         {tritonsmith::curate::Likeness::plan, "plan"}});
