// SamplingParams: how a writer chooses the tokens of a completion, and where the completion ends.
// Every writer understands temperature, top_p, max_new_tokens and stop; a server that knows no
// top_k ignores or refuses it.
#pragma once

#include <string>
#include <vector>

#include "base/config.h"

namespace tritonsmith::generate {

struct SamplingParams {
  double temperature = 1.0;  // 0 is greedy
  double top_p = 1.0;
  int top_k = 0;  // 0: no limit
  int max_new_tokens = 512;
  // A completion ends as soon as its text holds one of these. Our engine keeps the string in the
  // text; servers usually cut it off.
  std::vector<std::string> stop;

  static Fields<SamplingParams> fields() {
    return {field("temperature", &SamplingParams::temperature,
                  "1 samples from the model's own distribution. 0 takes the likeliest token.",
                  between(0.0, 100.0)),
            field("top_p", &SamplingParams::top_p,
                  "Take only the likeliest tokens that together have this probability.",
                  between(1e-6, 1.0)),
            field("top_k", &SamplingParams::top_k,
                  "Take only this many of the likeliest tokens. 0: no limit.", at_least(0)),
            field("max_new_tokens", &SamplingParams::max_new_tokens,
                  "The most tokens of a completion. A longer one is cut and counts as unfinished.",
                  at_least(1)),
            field("stop", &SamplingParams::stop,
                  "A completion ends with the first of these strings, which stays in it.")};
  }
};

}  // namespace tritonsmith::generate
