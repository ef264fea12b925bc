#include "curate/query.h"

namespace tritonsmith::curate {

Fields<Query> Query::fields() {
  using Q = Query;
  return {
      field(
          "min_speedup", &Q::min_speedup,
          "Leave out kernels that are slower than this, and those that nobody timed. 0: take all.",
          at_least(0.0)),
      field("faster_by", &Q::faster_by,
            "How many times as fast the better kernel is at least, with --want faster and "
            "preferences.",
            at_least(1.0)),
      field("device", &Q::device,
            "The GPU whose speed-ups count, such as NVIDIA H200. Others count as not timed. Empty: "
            "the GPU that timed most answers."),
      field("max_reasoning", &Q::max_reasoning,
            "The most bytes of reasoning in an answer. 0: no limit.", at_least<std::int64_t>(0)),
      field("per_task", &Q::per_task,
            "The most examples of a task. 0: one with --want brief, four with diverse, else no "
            "limit.",
            at_least(0)),
      field("likeness", &Q::likeness,
            "The share of its structure that a kernel may have in common with another, with --want "
            "diverse.",
            between(0.0, 1.0)),
      field("limit", &Q::limit, "The most examples of the whole set, drawn at random. 0: no limit.",
            at_least<std::int64_t>(0)),
      field(
          "easy", &Q::easy,
          "The share of examples whose tasks are easy: at least two thirds of their first answers "
          "were accepted. If all three shares are 0, the set keeps the shares as they are.",
          between(0.0, 1.0)),
      field("medium", &Q::medium, "The share of examples whose tasks are neither easy nor hard.",
            between(0.0, 1.0)),
      field("hard", &Q::hard,
            "The share of examples whose tasks are hard: less than a third of their first answers "
            "were accepted.",
            between(0.0, 1.0)),
      field("reasoning", &Q::reasoning,
            "What an example holds of the reasoning: answer (what the answer itself shows), join "
            "(also what a server gave apart) or none."),
      field("prompt", &Q::prompt,
            "The prompt of an example: asked (what the teacher saw), or one of ours: automatic, "
            "implementation or conversion."),
      field("style", &Q::style, "The style of our own prompts: full or compact."),
      field("seed", &Q::seed, "Every random choice follows from this seed.")};
}

}  // namespace tritonsmith::curate
