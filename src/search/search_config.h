// SearchConfig: how a search for a fast verified kernel goes about it, and when it ends. The
// defaults suit one module and a model that answers in seconds.
#pragma once

#include "base/config.h"
#include "episode/turns.h"

namespace tritonsmith::search {

// How the next attempts follow from the earlier ones.
//   sequential: conversations of several turns, in which each turn sees the verdict on the last
//   parallel:   independent samples of one turn
//   beam:       rounds that change each of the best kernels in several ways
//   evolution:  generations from an archive of the best and of different kernels
//   branching:  ideas in words first, then several kernels for each idea
enum class Strategy { sequential, parallel, beam, evolution, branching };

// budget: go on until the budget is used up. first: stop at the first accepted kernel.
enum class Until { budget, first };

struct SearchConfig {
  Strategy strategy = Strategy::sequential;
  Until until = Until::budget;
  // The budget. 0: no limit, except for attempts.
  int attempts = 64;
  int judgements = 0;
  double seconds = 0;
  std::int64_t tokens = 0;
  double money = 0;
  double light = 0;  // a share of the speed of light
  int patience = 0;  // attempts without a better kernel; 0: no limit
  int workers = 8;
  int chains = 0;  // sequential: conversations; 0: as many as the budget allows
  int width = 4;
  int branch = 4;
  double fresh = 0.5;
  int tune = 0;
  int ptx = 0;  // edits of the best kernel's PTX
  episode::TurnsConfig turns = {.limit = 4, .end_when = episode::EndWhen::fast};
  static Fields<SearchConfig> fields();
};

}  // namespace tritonsmith::search

template <>
inline constexpr auto tritonsmith::enum_names<tritonsmith::search::Strategy> =
    tritonsmith::names<tritonsmith::search::Strategy>(
        {{tritonsmith::search::Strategy::sequential, "sequential"},
         {tritonsmith::search::Strategy::parallel, "parallel"},
         {tritonsmith::search::Strategy::beam, "beam"},
         {tritonsmith::search::Strategy::evolution, "evolution"},
         {tritonsmith::search::Strategy::branching, "branching"}});
template <>
inline constexpr auto tritonsmith::enum_names<tritonsmith::search::Until> =
    tritonsmith::names<tritonsmith::search::Until>({{tritonsmith::search::Until::budget, "budget"},
                                                    {tritonsmith::search::Until::first, "first"}});
