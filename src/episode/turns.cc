#include "episode/turns.h"

namespace tritonsmith::episode {

Fields<TurnsConfig> TurnsConfig::fields() {
  using S = TurnsConfig;
  return {
      field(
          "limit", &S::limit,
          "How many turns a conversation has. Each later turn sees the verdict of the one before.",
          between(1, 1000)),
      field("context", &S::context,
            "Which earlier turns a turn sees: all, the best by reward, or the last."),
      field("keep", &S::keep, "How many turns the contexts best and last keep.", between(1, 1000)),
      field("end_when", &S::end_when,
            "When a conversation ends early: never, once accepted, or once fast (accepted, with "
            "`fast_speedup`)."),
      field("fast_speedup", &S::fast_speedup,
            "The speed-up over the reference that counts as fast.", at_least(0.0))};
}

bool is_over(int turn, const Verdict& verdict, const TurnsConfig& config) {
  if (turn + 1 >= config.limit || verdict.fault == Fault::infrastructure) return true;
  switch (config.end_when) {
    case EndWhen::never:
      return false;
    case EndWhen::accepted:
      return verdict.accepted;
    case EndWhen::fast:
      break;
  }
  return verdict.accepted && verdict.speedup.value_or(config.fast_speedup) >= config.fast_speedup;
}

}  // namespace tritonsmith::episode
