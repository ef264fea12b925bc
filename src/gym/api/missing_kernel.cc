#include "gym/api/missing_kernel.h"

#include "base/check.h"

namespace tritonsmith::gym::api {

Verdict missing_kernel_verdict(const Task& task, const Kernel& kernel, Policy policy) {
  CHECK(kernel.source.empty(), "a kernel is there to be judged");
  Verdict verdict;
  verdict.task_id = task.id;
  verdict.policy = policy;
  verdict.findings = kernel.findings;
  verdict.fault = Fault::candidate;
  const std::string why =
      kernel.findings.empty() ? "the completion holds no kernel" : kernel.findings.front().message;
  verdict.error = VerdictError{.error_class = ErrorClass::no_kernel, .message = why};
  return verdict;
}

}  // namespace tritonsmith::gym::api
