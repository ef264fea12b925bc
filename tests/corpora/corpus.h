// Corpus: the tables of tests/hostile and tests/honest as data. Each row names a candidate and the
// task that it is for; a hostile one also what its judgement must end in. Paths are below tests/.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "data/verdict.h"

namespace tritonsmith::corpora {

// How a judgement ended, in the words of the tables: "accepted", "refused RULE" (by inspection),
// "finding RULE" (right, yet a finding rejects it), "error CLASS".
struct Expected {
  std::string how;   // the first word
  std::string name;  // of the rule or class; empty for accepted
  bool operator==(const Expected&) const = default;
};
Result<Expected> expected_from(std::string_view text);
bool holds(const Expected& expected, const Verdict& verdict);
// What did happen, in the same words; all rejecting rules joined by +.
std::string outcome_of(const Verdict& verdict);

struct CorpusFile {
  std::string file, task;
  Policy policy = Policy::strict;
  std::string note;  // honest: what it shows
  // Hostile files only:
  std::vector<std::string> entries;  // of the catalogue: "A1"
  std::string twin;                  // an honest file for the same task
  Expected ends;
  std::string rule;     // that ends it; "-" where no rule but the construction does
  std::string without;  // how it ends with that rule switched off, with all that rejects it then
  Expected blind;       // how it ends when inspection sees nothing
  std::string on_gpu;   // how it ends there, with all that rejects it; empty: as on the CPU
};

// Replayed on a GPU a file ends as it does on the CPU, for the very same reasons, or as its table
// says of GPUs.
std::string outcome_on_gpu(const CorpusFile& file, const Verdict& on_cpu);

// Each honest twin once a task and policy.
std::vector<CorpusFile> twins_of(const std::vector<CorpusFile>& files);

// Tab-separated, the first line names the columns; lines that begin with # are left out.
Result<std::vector<CorpusFile>> read_hostile_table(const std::filesystem::path& table);
Result<std::vector<CorpusFile>> read_honest_table(const std::filesystem::path& table);

// Entries of the catalogue that no file can stand for, each with the reason.
struct Reason {
  std::string entry, text;
};
Result<std::vector<Reason>> read_reasons(const std::filesystem::path& table);

// Every entry of the catalogue by its id: A1 to A23, B1 to B19, ...: 176.
std::vector<std::string> catalogue();

}  // namespace tritonsmith::corpora
