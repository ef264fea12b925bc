// Query: which of the accepted answers become examples, and in which form. --set, --help and the
// report have all but `want` from the table of fields.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/config.h"
#include "text/prompt.h"

namespace tritonsmith::curate {

// all: every accepted answer. best: the fastest of each task. brief: the one with the shortest
// reasoning (ConCuR, arXiv 2510.07356). diverse: several that differ in structure. repairs: the answer
// after a wrong one, with the conversation. faster: from an accepted kernel to a faster one of the same
// task (Kernel-Smith). preferences: an accepted answer and a worse one.
enum class Want { all, best, brief, diverse, repairs, faster, preferences };

// Says where reasoning goes that a server gave apart. answer: left out. join: before the answer, in
// <thinking>. none: left out, and thinking within the answer too.
enum class Reasoning { answer, join, none };

// The prompts of the examples. asked: as the teacher was asked; where records do not have that, our own.
// The others are ours (text/prompt.h).
enum class PromptChoice { asked, automatic, implementation, conversion };

}  // namespace tritonsmith::curate

template <>
inline constexpr auto tritonsmith::enum_names<tritonsmith::curate::Want> =
    tritonsmith::names<tritonsmith::curate::Want>({{tritonsmith::curate::Want::all, "all"},
                                                   {tritonsmith::curate::Want::best, "best"},
                                                   {tritonsmith::curate::Want::brief, "brief"},
                                                   {tritonsmith::curate::Want::diverse, "diverse"},
                                                   {tritonsmith::curate::Want::repairs, "repairs"},
                                                   {tritonsmith::curate::Want::faster, "faster"},
                                                   {tritonsmith::curate::Want::preferences,
                                                    "preferences"}});
template <>
inline constexpr auto tritonsmith::enum_names<tritonsmith::curate::Reasoning> =
    tritonsmith::names<tritonsmith::curate::Reasoning>(
        {{tritonsmith::curate::Reasoning::answer, "answer"},
         {tritonsmith::curate::Reasoning::join, "join"},
         {tritonsmith::curate::Reasoning::none, "none"}});
template <>
inline constexpr auto tritonsmith::enum_names<tritonsmith::curate::PromptChoice> =
    tritonsmith::names<tritonsmith::curate::PromptChoice>(
        {{tritonsmith::curate::PromptChoice::asked, "asked"},
         {tritonsmith::curate::PromptChoice::automatic, "automatic"},
         {tritonsmith::curate::PromptChoice::implementation, "implementation"},
         {tritonsmith::curate::PromptChoice::conversion, "conversion"}});

namespace tritonsmith::curate {

struct Query {
  Want want = Want::all;
  double min_speedup = 0;
  double faster_by = 1.1;
  std::string device;  // the GPU whose speed-ups count; empty: the one that timed most answers
  std::int64_t max_reasoning = 0;
  int per_task = 0;
  double likeness = 0.8;
  std::int64_t limit = 0;
  double easy = 0, medium = 0, hard = 0;
  Reasoning reasoning = Reasoning::answer;
  PromptChoice prompt = PromptChoice::asked;
  text::PromptStyle style = text::PromptStyle::full;
  std::uint64_t seed = 1;
  static Fields<Query> fields();
};

}  // namespace tritonsmith::curate
