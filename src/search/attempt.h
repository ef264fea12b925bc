// Ask and Attempt: one question of a search, and its result. Both are plain data with JSON. The
// record of a search consists of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/json.h"
#include "data/completion.h"
#include "data/verdict.h"

namespace tritonsmith::search {

// kernel: the model writes a kernel. ideas: the model states ideas in words. tune: the program
// itself changes the constants of an earlier kernel. show: the judge judges an earlier kernel again
// and shows its PTX. ptx: the model edits that PTX. tune and show ask the model nothing.
enum class AskKind { kernel, ideas, tune, show, ptx };

// Says whether an attempt works on PTX.
inline bool is_below_triton(AskKind kind) { return kind == AskKind::show || kind == AskKind::ptx; }
// Says whether the program itself gives the kernel.
inline bool is_of_the_program(AskKind kind) {
  return kind == AskKind::tune || kind == AskKind::show;
}

// Says whether an attempt belongs to the steps at the end of a search, after those of the strategy.
inline bool is_last_step(AskKind kind) { return kind == AskKind::tune || is_below_triton(kind); }

inline constexpr int kNone = -1;

struct Ask {
  int number = 0;  // from 0, in the order of asking
  AskKind kind = AskKind::kernel;
  int round = 0;       // the round; in a conversation, the turn
  int chain = kNone;   // the conversation
  int parent = kNone;  // the attempt that the model sees and changes; kNone: it sees the task alone
  int other = kNone;   // another attempt, whose kernel the model sees beside the parent's
  std::string idea;    // the idea that the model implements
  std::string kernel;  // the kernel of tune and show, which the judge gets
  std::string edited;  // for ptx, the name of the kernel whose PTX the model edits
  bool is_greedy = false;
  std::uint64_t draw = 0;  // the random choices depend on it; it differs between asks
  bool operator==(const Ask&) const = default;
};

struct Attempt {
  Ask ask;
  std::string text;    // the text of the completion
  std::string kernel;  // empty if the completion has none
  // Edited PTX that replaces the compiler's own, by the names of kernels.
  std::map<std::string, std::string> ptx = {};
  FinishReason finish = FinishReason::stop;
  Usage usage;
  double money = 0;     // the cost of the completion, in the currency of the prices
  Verdict verdict;      // for ideas, the verdict on a completion without a kernel
  int same_as = kNone;  // an attempt with an equal kernel, whose verdict this is
  double seconds = 0;   // from the beginning of the search to the verdict
};

// Returns the kernel without white space at its ends. Kernels are equal if this text is equal.
std::string_view trimmed(std::string_view kernel);
// Returns the kernel and its edited PTX as one text. Equal texts are judged once.
std::string content_of(const Attempt& attempt);

Json to_json(const Ask& ask);
Result<Ask> ask_from_json(const Json& json);
Json to_json(const Usage& usage);
Result<Usage> usage_from_json(const Json& json);

// CountsAs decides how messages and reports count an attempt among the kernels of a search. Equal
// kernels count once. Ideas in words and edited PTX do not count.
enum class CountsAs { kernel, repeat, without_kernel, nothing };
CountsAs counts_as(const Attempt& attempt);

// Says whether `a` is the better result. An accepted kernel is better than another one, a timed one
// better than one without a time, and a faster one better than a slower one. Of two accepted
// kernels without times the shorter is better. Of two that are not accepted, the one at the later
// stage is.
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
