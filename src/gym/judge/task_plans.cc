#include "gym/judge/task_plans.h"

#include "gym/plan/plan.h"

namespace tritonsmith::gym::judge {

void TaskPlan::read(const std::string& captured) {
  const auto plan = plan::parse_plan(captured);
  const auto document = parse_json(captured);
  if (!plan || !document) {
    failure = VerdictError{.error_class = ErrorClass::bad_plan,
                           .message = plan ? document.error().message : plan.error().message};
    return;
  }
  const auto member = [&](const char* name) {
    return document->contains(name) ? to_line((*document)[name]) : std::string("[]");
  };
  init_args = member("init_args");
  inputs = member("inputs");
  tensors = member("tensors");
  known = member("known");
  first_call_only = plan->first_call_only;
  in_eval_mode = document->value("in_eval_mode", Json()) == Json(true);
  ignores_mode = document->value("ignores_mode", Json()) == Json(true);
  json = captured;
}

TaskPlan& TaskPlans::entry(const std::string& key,
                           const std::function<bool(const std::string& key)>& is_used) {
  if (!plans_.contains(key)) make_room(is_used);
  return plans_[key];
}

void TaskPlans::make_room(const std::function<bool(const std::string& key)>& is_used) {
  std::size_t bytes = 0;
  for (const auto& [key, plan] : plans_) bytes += plan.bytes();
  while (plans_.size() >= most_ || bytes > most_bytes_) {
    auto oldest = plans_.end();
    for (auto at = plans_.begin(); at != plans_.end(); ++at)
      if (at->second.ready &&
          (oldest == plans_.end() || at->second.last_used < oldest->second.last_used) &&
          !is_used(at->first))
        oldest = at;
    if (oldest == plans_.end()) return;
    bytes -= oldest->second.bytes();
    plans_.erase(oldest);
  }
}

}  // namespace tritonsmith::gym::judge
