#include "curate/query.h"

namespace tritonsmith::curate {

Fields<Query> Query::fields() {
  using Q = Query;
  return {
      field("min_speedup", &Q::min_speedup,
            "leave out slower kernels, and those that nobody timed; 0: take all", at_least(0.0)),
      field("faster_by", &Q::faster_by,
            "of faster and preferences: how many times as fast the better kernel is at least",
            at_least(1.0)),
      field("max_reasoning", &Q::max_reasoning, "bytes of thinking; 0: no limit",
            at_least<std::int64_t>(0)),
      field("per_task", &Q::per_task,
            "examples of a task at most; 0: 1 of brief, 4 of diverse, else no limit", at_least(0)),
      field("likeness", &Q::likeness,
            "of diverse: the share of its structure that a kernel may have in common with another",
            between(0.0, 1.0)),
      field("limit", &Q::limit, "examples at most, drawn at random; 0: all",
            at_least<std::int64_t>(0)),
      field("easy", &Q::easy,
            "share of tasks of which at least two thirds of the first answers were accepted; the "
            "three shares are of the whole set, all 0: as they come",
            between(0.0, 1.0)),
      field("medium", &Q::medium, "share of tasks between these", between(0.0, 1.0)),
      field("hard", &Q::hard, "share of tasks of which less than a third were accepted",
            between(0.0, 1.0)),
      field("reasoning", &Q::reasoning,
            "answer (as it stands in the answer), join (reasoning that a server gave apart, too), "
            "none"),
      field("prompt", &Q::prompt,
            "asked (as the teacher was), or our own: automatic, implementation, conversion"),
      field("style", &Q::style, "of our own prompts: full or compact"),
      field("seed", &Q::seed, "every random choice follows from it")};
}

}  // namespace tritonsmith::curate
