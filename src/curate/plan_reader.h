// PlanReader: the signatures of tasks and kernels (plan_signature.h). It captures each in a jailed
// guest, several at a time, and remembers what it read. One thread calls it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "data/task.h"
#include "gym/capture/capture_pool.h"

namespace tritonsmith::curate {

struct KernelOfTask {
  const Task* task = nullptr;
  std::string kernel;
};

class PlanReader {
 public:
  static Result<std::unique_ptr<PlanReader>> start(const gym::capture::CaptureConfig& config);
  explicit PlanReader(std::unique_ptr<gym::capture::CapturePool> pool) : pool_(std::move(pool)) {}

  // Fail only if the guests are broken. `on_progress` gets the number of plans that were read.
  using OnProgress = std::function<void(std::size_t read)>;
  Status read_tasks(std::span<const Task> tasks, const OnProgress& on_progress);
  // The tasks must have been read.
  Status read_kernels(std::span<const KernelOfTask> kernels, const OnProgress& on_progress);

  // Return nothing if the task or the kernel has no plan, or was not read.
  std::optional<std::string> signature_of(const Task& task) const;
  std::optional<std::string> signature_of(const KernelOfTask& kernel) const;

 private:
  struct ReadTask {
    std::string signature;                   // empty: it has no plan
    std::string init_args, inputs, tensors;  // as JSON, for its kernels
  };
  struct Captured {
    std::string key;
    gym::capture::CaptureOutcome outcome;
  };
  using Take = std::function<void(const std::string& key, const std::string* plan)>;
  Status capture_all(std::map<std::string, gym::capture::CaptureRequest> requests, const Take& take,
                     const OnProgress& on_progress);

  std::map<std::string, ReadTask> tasks_;            // by content of the source
  std::map<std::string, std::string> kernels_;       // by content of task and kernel
  std::unique_ptr<gym::capture::CapturePool> pool_;  // last, because its thread calls back
};

}  // namespace tritonsmith::curate
