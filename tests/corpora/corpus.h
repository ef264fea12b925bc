// Corpus: the tables of tests/hostile and tests/honest as data. Each row names a candidate and its
// task. For a hostile candidate it also names the required end of its judgement. Paths are relative
// to tests/.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "data/verdict.h"

namespace tritonsmith::corpora {

// The end of a judgement in the words of the tables: "accepted", "refused RULE" (by inspection),
// "finding RULE" (correct, but a finding rejects it), "error CLASS".
struct Expected {
  std::string how;   // the first word
  std::string name;  // the rule or class; empty for accepted
  bool operator==(const Expected&) const = default;
};
Result<Expected> expected_from(std::string_view text);
bool holds(const Expected& expected, const Verdict& verdict);
// Returns the actual end in the same words, with all rejecting rules joined by +.
std::string outcome_of(const Verdict& verdict);

struct CorpusFile {
  std::string file, task;
  Policy policy = Policy::strict;
  std::string note;  // for honest files: the feature that it shows
  // For hostile files only:
  std::vector<std::string> entries;  // entries of the catalogue: "A1"
  std::string twin;                  // an honest file for the same task
  Expected ends;
  std::string rule;     // the rule that ends it; "-" if the construction does and no rule
  std::string without;  // its end with that rule switched off, with all rules that then reject it
  Expected blind;       // its end if inspection finds nothing
  // Its end on a GPU, with all rules that reject it; several with | between them, if chance decides.
  // Empty: as on the CPU.
  std::string on_gpu;
};

// Returns the required end on a GPU: the same as on the CPU, for the same reasons, or the end that
// the table states for GPUs.
std::string outcome_on_gpu(const CorpusFile& file, const Verdict& on_cpu);
bool ends_rightly_on_gpu(const CorpusFile& file, const Verdict& on_cpu, const Verdict& on_gpu);

// Returns each honest counterpart once for each task and policy.
std::vector<CorpusFile> twins_of(const std::vector<CorpusFile>& files);

// Reads tab-separated lines; the first names the columns. Lines that begin with # are skipped.
Result<std::vector<CorpusFile>> read_hostile_table(const std::filesystem::path& table);
Result<std::vector<CorpusFile>> read_honest_table(const std::filesystem::path& table);

// Entries of the catalogue for which no file is possible, each with the reason.
struct Reason {
  std::string entry, text;
};
Result<std::vector<Reason>> read_reasons(const std::filesystem::path& table);

// Returns the ids of all 176 entries of the catalogue: A1 to A23, B1 to B19, ...
std::vector<std::string> catalogue();

}  // namespace tritonsmith::corpora
