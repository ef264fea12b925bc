// TurnsConfig: the length of a conversation about one task, and the part of it that the model sees.
// One turn is the usual case: a prompt, a completion, a verdict.
#pragma once

#include "base/config.h"
#include "data/verdict.h"
#include "text/conversation.h"

namespace tritonsmith::episode {

// The condition that ends a conversation before its last turn. fast: the kernel is accepted and at
// least fast_speedup times as fast as the reference. If the gym measured no speed (an evaluated
// verdict), accepted is enough.
enum class EndWhen { never, accepted, fast };

struct TurnsConfig {
  int limit = 1;
  text::ContextRule context = text::ContextRule::all;
  int keep = 4;
  EndWhen end_when = EndWhen::never;
  double fast_speedup = 1.2;
  static Fields<TurnsConfig> fields();
};

// `turn` counts from 0. An infrastructure fault always ends the conversation.
bool is_over(int turn, const Verdict& verdict, const TurnsConfig& config);

}  // namespace tritonsmith::episode

template <>
inline constexpr auto tritonsmith::enum_names<tritonsmith::episode::EndWhen> =
    tritonsmith::names<tritonsmith::episode::EndWhen>(
        {{tritonsmith::episode::EndWhen::never, "never"},
         {tritonsmith::episode::EndWhen::accepted, "accepted"},
         {tritonsmith::episode::EndWhen::fast, "fast"}});
