#include "search/search_config.h"

namespace tritonsmith::search {

Fields<SearchConfig> SearchConfig::fields() {
  using C = SearchConfig;
  constexpr int most = 1'000'000;
  Fields<C> all = {
      field("strategy", &C::strategy,
            "How attempts follow from earlier ones: sequential, parallel, beam, evolution or "
            "branching."),
      field("until", &C::until,
            "The end of the search: first (the first accepted kernel) or budget."),
      field("attempts", &C::attempts, "How many answers of the model a search takes.",
            between(1, most)),
      field("judgements", &C::judgements, "How many different kernels are judged. 0: no limit.",
            at_least(0)),
      field("seconds", &C::seconds, "The time limit for the whole search. 0: no limit.",
            at_least(0.0)),
      field("tokens", &C::tokens, "The limit of tokens in prompts and answers. 0: no limit.",
            at_least(std::int64_t{0})),
      field("money", &C::money, "The limit of the cost, by the model's prices. 0: no limit.",
            at_least(0.0)),
      field("light", &C::light,
            "The search ends when the best kernel reaches this share of the speed of light. 0: "
            "never.",
            between(0.0, 1.0)),
      field("patience", &C::patience,
            "The search ends after this many attempts without a better kernel. 0: never.",
            at_least(0)),
      field("workers", &C::workers, "How many attempts run at the same time.", between(1, 1024)),
      field("chains", &C::chains,
            "How many conversations a sequential search has. 0: as many as the budget allows.",
            at_least(0)),
      field("width", &C::width,
            "How many kernels a round changes, or how many ideas it tries. An evolution keeps this "
            "many of the best kernels.",
            between(1, 1024)),
      field("branch", &C::branch, "How many attempts a round makes for each of these.",
            between(1, 1024)),
      field("fresh", &C::fresh,
            "The share of attempts that start without an earlier kernel. An evolution always makes "
            "such attempts. Beam and branching make them until a kernel is accepted.",
            between(0.0, 1.0)),
      field("tune", &C::tune,
            "How many variants of the best kernel are judged at the end, with other block sizes "
            "and warps.",
            between(0, 1024)),
      field("ptx", &C::ptx,
            "How often the model edits the PTX of the best kernel at the end of the search. It "
            "needs a GPU.",
            between(0, 1024))};
  append_section(all, "turns", &C::turns);
  return all;
}

}  // namespace tritonsmith::search
