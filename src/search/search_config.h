// SearchConfig: the strategy and the budget of a search for a fast verified kernel. The defaults
// suit one module and a model that answers in seconds.
#pragma once

#include "base/config.h"
#include "episode/turns.h"

namespace tritonsmith::search {

// How the next attempts follow from the earlier ones.
//   sequential: conversations of several turns. Each turn shows the verdict on the turn before
//   parallel:   independent samples of one turn
//   beam:       each round changes each of the best kernels in several ways
//   evolution:  each generation starts from an archive of the best kernels and of different ones
//   branching:  the model first states ideas in words, then writes several kernels for each idea
enum class Strategy { sequential, parallel, beam, evolution, branching };

// budget: go on until the budget is used up. first: stop at the first accepted kernel.
enum class Until { budget, first };

struct SearchConfig {
  Strategy strategy = Strategy::evolution;
  Until until = Until::budget;
  // The budget, until `patience`. 0 means no limit, except for `attempts`.
  int attempts = 64;
  int judgements = 0;
  double seconds = 0;
  std::int64_t tokens = 0;
  double money = 0;
  double light = 0;  // ends at a kernel with this share of the speed of light
  int patience = 0;  // ends after so many attempts without a better kernel
  int workers = 8;
  int chains = 0;  // the number of conversations of `sequential`; 0: as the budget allows
  int width = 4;
  int branch = 4;
  double fresh = 0.5;
  int tune = 0;
  int ptx = 0;  // the number of edits of the best kernel's PTX
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
