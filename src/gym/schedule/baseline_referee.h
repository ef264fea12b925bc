// BaselineReferee: a referee on a GPU that, once a candidate has been timed, also tells what the
// task takes in other ways (ReferenceShell). Both use the GPU in turn.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gym/schedule/referee_client.h"
#include "gym/schedule/reference_shell.h"

namespace tritonsmith::gym {

class BaselineReferee : public RefereeClient {
 public:
  // `names`: of the baselines, as ReferenceShell knows them.
  BaselineReferee(std::unique_ptr<RefereeClient> referee, ReferenceShellOptions shell,
                  std::vector<std::string> names)
      : referee_(std::move(referee)), shell_(std::move(shell)), names_(std::move(names)) {}

  RefereeOutcome judge(const RefereeJob& job, const std::string& task_plan) override;
  void interrupt() override;

 private:
  std::unique_ptr<RefereeClient> referee_;
  ReferenceShell shell_;
  std::vector<std::string> names_;
};

}  // namespace tritonsmith::gym
