// Ask and Attempt: what a search asks the model, and what came of it. Plain data with JSON, of which
// the record of a search is made.
#pragma once

#include <cstdint>
#include <string>

#include "base/json.h"
#include "data/completion.h"
#include "data/verdict.h"

namespace tritonsmith::search {

// kernel: the model writes one. ideas: it states ideas in words. tune: the program itself changes
// the constants of an earlier kernel, and nothing is asked.
enum class AskKind { kernel, ideas, tune };

inline constexpr int kNone = -1;

struct Ask {
  int number = 0;  // from 0, in the order of asking
  AskKind kind = AskKind::kernel;
  int round = 0;       // of a conversation: the turn
  int chain = kNone;   // the conversation
  int parent = kNone;  // the attempt that it sees and changes; none: it begins from the task alone
  int other = kNone;   // a different kernel that is shown beside the parent's
  std::string idea;    // that it implements
  std::string kernel;  // of tune: what is judged
  bool is_greedy = false;
  std::uint64_t draw = 0;  // makes its random choices differ from those of other asks
  bool operator==(const Ask&) const = default;
};

struct Attempt {
  Ask ask;
  std::string text;    // the completion's
  std::string kernel;  // empty where the completion held none
  FinishReason finish = FinishReason::stop;
  Usage usage;
  Verdict verdict;      // of ideas: that of a completion without a kernel
  int same_as = kNone;  // the attempt whose kernel is equal, and was judged in its place
  double seconds = 0;   // from the beginning of the search to the verdict
};

Json to_json(const Ask& ask);
Result<Ask> ask_from_json(const Json& json);
Json to_json(const Usage& usage);
Result<Usage> usage_from_json(const Json& json);

// Says whether a is the better result: accepted before not, faster before slower, timed before not.
// Of accepted kernels without times the shorter one is better, and of others the one that came
// further.
bool is_better(const Attempt& a, const Attempt& b);

}  // namespace tritonsmith::search

template <>
inline constexpr auto tritonsmith::enum_names<tritonsmith::search::AskKind> =
    tritonsmith::names<tritonsmith::search::AskKind>(
        {{tritonsmith::search::AskKind::kernel, "kernel"},
         {tritonsmith::search::AskKind::ideas, "ideas"},
         {tritonsmith::search::AskKind::tune, "tune"}});
