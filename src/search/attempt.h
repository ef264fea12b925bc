// Ask and Attempt: what a search asks the model, and what came of it. Plain data with JSON, of which
// the record of a search is made.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/json.h"
#include "data/completion.h"
#include "data/verdict.h"

namespace tritonsmith::search {

// kernel: the model writes one. ideas: it states ideas in words. tune: the program itself changes
// the constants of an earlier kernel, and nothing is asked. show: an earlier kernel is judged once
// more, to see its PTX, and nothing is asked. ptx: the model edits that PTX.
enum class AskKind { kernel, ideas, tune, show, ptx };

// Says whether an attempt works on PTX.
inline bool is_below_triton(AskKind kind) { return kind == AskKind::show || kind == AskKind::ptx; }
// Says whether the program itself gives the kernel.
inline bool is_of_the_program(AskKind kind) {
  return kind == AskKind::tune || kind == AskKind::show;
}

inline constexpr int kNone = -1;

struct Ask {
  int number = 0;  // from 0, in the order of asking
  AskKind kind = AskKind::kernel;
  int round = 0;       // of a conversation: the turn
  int chain = kNone;   // the conversation
  int parent = kNone;  // the attempt that it sees and changes; none: it begins from the task alone
  int other = kNone;   // a different kernel that is shown beside the parent's
  std::string idea;    // that it implements
  std::string kernel;  // of tune and show: what is judged
  std::string edited;  // of ptx: the name of the kernel whose PTX is edited
  bool is_greedy = false;
  std::uint64_t draw = 0;  // makes its random choices differ from those of other asks
  bool operator==(const Ask&) const = default;
};

struct Attempt {
  Ask ask;
  std::string text;    // the completion's
  std::string kernel;  // empty where the completion held none
  // Edited PTX that takes the place of the compiler's own, by the names of kernels.
  std::map<std::string, std::string> ptx = {};
  FinishReason finish = FinishReason::stop;
  Usage usage;
  Verdict verdict;      // of ideas: that of a completion without a kernel
  int same_as = kNone;  // the attempt whose kernel is equal, and was judged in its place
  double seconds = 0;   // from the beginning of the search to the verdict
};

// Kernels are equal if they differ in white space at their ends only.
std::string_view trimmed(std::string_view kernel);
// The kernel with its edited PTX, as one text: equal contents are judged once.
std::string content_of(const Attempt& attempt);

Json to_json(const Ask& ask);
Result<Ask> ask_from_json(const Json& json);
Json to_json(const Usage& usage);
Result<Usage> usage_from_json(const Json& json);

// Says whether a is the better result: accepted before not, faster before slower, timed before not.
// Among accepted kernels without times the shorter one is better, else the one that came
// further.
bool is_better(const Attempt& a, const Attempt& b);

}  // namespace tritonsmith::search

template <>
inline constexpr auto tritonsmith::enum_names<tritonsmith::search::AskKind> =
    tritonsmith::names<tritonsmith::search::AskKind>(
        {{tritonsmith::search::AskKind::kernel, "kernel"},
         {tritonsmith::search::AskKind::ideas, "ideas"},
         {tritonsmith::search::AskKind::tune, "tune"},
         {tritonsmith::search::AskKind::show, "show"},
         {tritonsmith::search::AskKind::ptx, "ptx"}});
