// UrlRewardConfig: where a reward of somebody else's comes from, and how long we wait for it. Its
// fields stand in the section "reward" of a training config.
#pragma once

#include <string>

#include "base/config.h"

namespace tritonsmith::reward {

struct UrlRewardConfig {
  std::string url;  // empty: there is no such term
  double url_weight = 1;
  int url_batch = 64;     // completions in a request
  int url_seconds = 120;  // for one answer
  int url_attempts = 6;
  std::string url_token_file;
  static Fields<UrlRewardConfig> fields();
};

// Refuses a URL that is none, so that a run ends before it starts.
Status check(const UrlRewardConfig& config);

}  // namespace tritonsmith::reward
