#include "serve/assistant/order_tasks.h"

#include "curriculum/suite.h"

namespace tritonsmith::serve::assistant {
namespace {

std::string title_or(const SearchOrder& order, const std::string& name) {
  return order.title.empty() ? name : order.title;
}

Result<modules::ModuleTasks> tasks_of_calls(const SearchOrder& order) {
  std::string source = order.source;
  const std::string instruction = curriculum::take_instruction(source);
  TRY_ASSIGN(modules::ModuleTasks made,
             modules::tasks_of_module({.target = order.name.empty() ? "Model" : order.name,
                                       .inputs = order.inputs,
                                       .init = order.init,
                                       .dtype = order.dtype,
                                       .source = std::move(source)}));
  for (Task& task : made.tasks) {
    task.id = title_or(order, made.name) + task.id.substr(made.name.size());
    task.suite = "serve";
    task.instruction = instruction;
  }
  return made;
}

}  // namespace

Result<modules::ModuleTasks> tasks_of_order(const SearchOrder& order) {
  if (order.has_calls()) return tasks_of_calls(order);
  Task task{.id = title_or(order, "module"),
            .suite = "serve",
            .source = order.source,
            .scale = TaskScale::gpu};
  task.instruction = curriculum::take_instruction(task.source);
  return modules::ModuleTasks{.tasks = {std::move(task)}};
}

}  // namespace tritonsmith::serve::assistant
