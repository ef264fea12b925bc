// RefereeWithPython: a referee beside which a Python reference may run. The referee asks it for the
// outputs of a forward that cannot be captured. Once a candidate has been timed, it also times the
// task in other ways than by replaying it. Both use their device in turn.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gym/judge/python_reference.h"
#include "gym/judge/referee_client.h"

namespace tritonsmith::gym::judge {

class RefereeWithPython : public RefereeClient {
 public:
  using Make = std::function<std::unique_ptr<RefereeClient>(PythonReference&)>;
  // `baselines`, as PythonReference::time() knows them, are timed for every job. A job may
  // ask for others.
  RefereeWithPython(const Make& make, PythonReferenceOptions reference,
                    std::vector<std::string> baselines)
      : python_reference_(std::move(reference)),
        referee_(make(python_reference_)),
        baselines_(std::move(baselines)) {}

  RefereeOutcome judge(const referee::RefereeJob& job, const std::string& task_plan) override;
  Result<Calibration> calibrate() override { return referee_->calibrate(); }
  void interrupt() override;
  int restarts() const override { return referee_->restarts(); }

 private:
  void time_otherwise(const referee::RefereeJob& job, referee::RefereeReport& report);

  PythonReference python_reference_;
  std::unique_ptr<RefereeClient> referee_;
  std::vector<std::string> baselines_;
};

}  // namespace tritonsmith::gym::judge
