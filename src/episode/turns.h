// TurnsConfig: how long a conversation about one task goes on, and what of it the model sees. One
// turn is the usual case: a prompt, a completion, a verdict.
#pragma once

#include "base/config.h"
#include "data/verdict.h"
#include "text/conversation.h"

namespace tritonsmith::episode {

// When a conversation ends before its last turn. fast: accepted and at least fast_speedup times as
// fast as the reference; where the gym measured no speed (an evaluated verdict), accepted is
// enough.
enum class EndWhen { never, accepted, fast };

struct TurnsConfig {
  int limit = 1;
  text::ContextRule context = text::ContextRule::all;
  int keep = 4;
  EndWhen end_when = EndWhen::never;
  double fast_speedup = 1.2;
  static Fields<TurnsConfig> fields();
};

// `turn` counts from 0. Nothing follows a verdict that is our own fault.
bool is_over(int turn, const Verdict& verdict, const TurnsConfig& config);

}  // namespace tritonsmith::episode

template <>
inline constexpr auto tritonsmith::enum_names<tritonsmith::episode::EndWhen> =
    tritonsmith::names<tritonsmith::episode::EndWhen>(
        {{tritonsmith::episode::EndWhen::never, "never"},
         {tritonsmith::episode::EndWhen::accepted, "accepted"},
         {tritonsmith::episode::EndWhen::fast, "fast"}});
