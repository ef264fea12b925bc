// Evaluation: how a model did on a suite of tasks: what eval/ measures and reports show. One
// evaluation.json each.
#pragma once

#include <map>
#include <string>

#include "base/json.h"

namespace tritonsmith {

// Rates are shares in [0, 1].
struct Rates {
  double compiled = 0, correct = 0, accepted = 0;
};

struct Evaluation {
  std::string name, suite, model, policy, backend;
  int tasks = 0, samples = 0;  // samples drawn a task, at the temperature given
  double temperature = 1, seconds = 0;
  Rates sampled, greedy;
  std::map<int, double> pass_at;                // k -> share of tasks, unbiased estimate
  std::map<std::string, int> errors, findings;  // how many sampled verdicts carry each
};

Json to_json(const Evaluation& evaluation);
Result<Evaluation> evaluation_from_json(const Json& json);

}  // namespace tritonsmith
