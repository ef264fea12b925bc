#include "corpus.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/file.h"

namespace tritonsmith::corpora {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

using Row = std::map<std::string, std::string>;

Result<std::vector<Row>> read_rows(const std::filesystem::path& table) {
  TRY_ASSIGN(const auto lines, read_lines(table));
  std::vector<std::string> columns;
  std::vector<Row> rows;
  for (std::size_t number = 0; number < lines.size(); ++number) {
    if (lines[number].empty() || lines[number].front() == '#') continue;
    const auto cells = split(lines[number], '\t');
    if (columns.empty()) {
      columns = cells;
      continue;
    }
    if (cells.size() != columns.size())
      return fail("{}:{}: {} cells, the first line names {} columns", table.string(), number + 1,
                  cells.size(), columns.size());
    Row row;
    for (std::size_t k = 0; k < cells.size(); ++k) row[columns[k]] = cells[k];
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::string> rejecting_rules(const Verdict& verdict) {
  std::vector<std::string> rules;
  for (const Finding& finding : verdict.findings)
    if (finding.severity == Severity::reject &&
        std::ranges::find(rules, finding.rule) == rules.end())
      rules.push_back(finding.rule);
  return rules;
}

// Returns "accepted", "refused", "finding" or "error".
std::string_view how_it_ended(const Verdict& verdict) {
  if (verdict.accepted) return "accepted";
  if (!verdict.error) return "finding";
  return verdict.error->error_class == ErrorClass::refused ? "refused" : "error";
}

}  // namespace

Result<Expected> expected_from(std::string_view text) {
  const auto words = split(text, ' ');
  const bool named =
      words.size() == 2 && (words[0] == "refused" || words[0] == "finding" || words[0] == "error");
  if (named) return Expected{words[0], words[1]};
  if (text == "accepted") return Expected{"accepted", ""};
  return fail("`{}` is no ending: accepted, refused RULE, finding RULE or error CLASS", text);
}

bool holds(const Expected& expected, const Verdict& verdict) {
  if (expected.how != how_it_ended(verdict)) return false;
  if (expected.how == "accepted") return true;
  if (expected.how == "error") return class_name(*verdict.error) == expected.name;
  const auto rules = rejecting_rules(verdict);
  return std::ranges::find(rules, expected.name) != rules.end();
}

std::string outcome_of(const Verdict& verdict) {
  const std::string_view how = how_it_ended(verdict);
  if (how == "accepted") return "accepted";
  if (how == "error") return "error " + class_name(*verdict.error);
  return fmt::format("{} {}", how, fmt::join(rejecting_rules(verdict), "+"));
}

std::string outcome_on_gpu(const CorpusFile& file, const Verdict& on_cpu) {
  return file.on_gpu.empty() ? outcome_of(on_cpu) : file.on_gpu;
}

bool ends_rightly_on_gpu(const CorpusFile& file, const Verdict& on_cpu, const Verdict& on_gpu) {
  const auto wanted = split(outcome_on_gpu(file, on_cpu), '|');
  return std::ranges::find(wanted, outcome_of(on_gpu)) != wanted.end();
}

std::vector<CorpusFile> twins_of(const std::vector<CorpusFile>& files) {
  std::map<std::string, CorpusFile> twins;
  for (const CorpusFile& file : files)
    twins.emplace(fmt::format("{} {} {}", file.twin, file.task, name_of(file.policy)),
                  CorpusFile{.file = file.twin, .task = file.task, .policy = file.policy});
  std::vector<CorpusFile> all;
  for (auto& [key, twin] : twins) all.push_back(std::move(twin));
  return all;
}

Result<std::vector<CorpusFile>> read_hostile_table(const std::filesystem::path& table) {
  TRY_ASSIGN(auto rows, read_rows(table));
  std::vector<CorpusFile> files;
  for (Row& row : rows) {
    CorpusFile file{.file = row["file"], .task = row["task"]};
    TRY_ASSIGN(file.policy, enum_from_name<Policy>(row["policy"]));
    file.entries = split(row["entries"], ',');
    file.twin = row["twin"];
    file.rule = row["rule"];
    TRY_ASSIGN(file.ends, expected_from(row["ends"]));
    TRY_ASSIGN(file.blind, expected_from(row["blind"]));
    file.without = row["without"];
    if ((file.rule == "-") != (file.without == "-"))
      return fail("{}: `without` says how a file ends without its rule, if it has one", file.file);
    if (file.rule != "-") {
      TRY_ASSIGN(const Expected without, expected_from(file.without));
      if (const auto rules = split(without.name, '+');
          std::ranges::find(rules, file.rule) != rules.end())
        return fail("{}: without {} it cannot end by it", file.file, file.rule);
    }
    if (row["on_gpu"] != "-") {
      for (const std::string& end : split(row["on_gpu"], '|')) TRY(expected_from(end));
      file.on_gpu = row["on_gpu"];
    }
    files.push_back(std::move(file));
  }
  return files;
}

Result<std::vector<CorpusFile>> read_honest_table(const std::filesystem::path& table) {
  TRY_ASSIGN(auto rows, read_rows(table));
  std::vector<CorpusFile> files;
  for (Row& row : rows) {
    CorpusFile file{.file = row["file"], .task = row["task"], .note = row["shows"]};
    TRY_ASSIGN(file.policy, enum_from_name<Policy>(row["policy"]));
    files.push_back(std::move(file));
  }
  return files;
}

Result<std::vector<Reason>> read_reasons(const std::filesystem::path& table) {
  TRY_ASSIGN(auto rows, read_rows(table));
  std::vector<Reason> reasons;
  for (Row& row : rows) reasons.push_back({.entry = row["entry"], .text = row["reason"]});
  return reasons;
}

std::vector<std::string> catalogue() {
  struct Class {
    char letter;
    int entries;
  };
  constexpr auto kClasses = std::to_array<Class>({{'A', 23},
                                                  {'B', 19},
                                                  {'C', 20},
                                                  {'D', 12},
                                                  {'E', 12},
                                                  {'F', 12},
                                                  {'G', 26},
                                                  {'H', 31},
                                                  {'I', 9},
                                                  {'J', 12}});
  std::vector<std::string> ids;
  for (const Class& each : kClasses)
    for (int number = 1; number <= each.entries; ++number)
      ids.push_back(fmt::format("{}{}", each.letter, number));
  return ids;
}

}  // namespace tritonsmith::corpora
