// Makes examples of material. Each step of the funnel keeps fewer: judged, accepted, not of a
// measuring suite, as the query asks, no copies, as many as wanted. Pure but for the plans, which
// the caller may have read (plan_reader.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "curate/contamination.h"
#include "curate/funnel.h"
#include "curate/material.h"
#include "curate/query.h"
#include "datasets/example_row.h"

namespace tritonsmith::curate {

// The signatures by plans, if plans were read. Null functions: they were not.
struct Plans {
  SignatureOf of_task = {};
  std::function<std::optional<std::string>(const Task&, const std::string& kernel)> of_kernel = {};
};

struct Removed {
  std::string task;
  Found found;
};

struct Curated {
  std::vector<datasets::Example> examples;
  Funnel funnel;
  std::vector<Removed> removed;                 // tasks of a measuring suite
  std::map<std::string, std::size_t> copies;    // left out, by what they have in common
  std::map<std::string, std::size_t> failures;  // of answers that were not accepted
};

// Fails if the query asks for shares that do not sum to 1.
Result<Curated> curate(const Material& material, const Query& query,
                       const Contamination& contamination, const Plans& plans);

}  // namespace tritonsmith::curate
