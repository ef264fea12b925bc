#include "serve/runs/sample_index.h"

#include <algorithm>
#include <fstream>

#include "serve/runs/json_members.h"

namespace tritonsmith::serve::runs {
namespace {

namespace fs = std::filesystem;

// Reads a value of the text of a record.
template <typename T>
std::optional<T> value_of(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!(std::is_same_v<T, std::string> ? json.is_string() : json.is_number())) return std::nullopt;
  if (std::is_integral_v<T> && !json.is_number_integer()) return std::nullopt;
  return json.get<T>();
}

std::string result_of(const JsonMembers& verdict, bool has_kernel) {
  if (verdict.get("accepted") == "true") return "accepted";
  if (!has_kernel) return "no_kernel";
  const auto error = JsonMembers::of(verdict.get("error"));
  return error ? value_of<std::string>(error->get("class")).value_or("") : "refused";
}

// Reads the few members of a record that a row has. Returns nothing for a record of another form,
// such as one of an earlier version.
std::optional<SampleRow> row_of(std::string_view line) {
  const auto sample = JsonMembers::of(line);
  if (!sample) return std::nullopt;
  const auto verdict = JsonMembers::of(sample->get("verdict"));
  const auto completion = JsonMembers::of(sample->get("completion"));
  const auto reward = JsonMembers::of(sample->get("reward"));
  if (!verdict || !completion || !reward) return std::nullopt;
  const auto usage = JsonMembers::of(completion->get("usage"));
  const auto step = value_of<std::int64_t>(sample->get("step"));
  const auto group = value_of<int>(sample->get("group"));
  const auto member = value_of<int>(sample->get("member"));
  const auto turn = value_of<int>(sample->get("turn"));
  const auto task = value_of<std::string>(sample->get("task"));
  const auto total = value_of<double>(reward->get("total"));
  const auto tokens = usage ? value_of<std::int64_t>(usage->get("completion_tokens"))
                            : count_elements(completion->get("tokens"));
  const std::string_view kernel = sample->get("kernel");
  const std::string result = result_of(*verdict, kernel.size() > 2);
  if (!step || !group || !member || !turn || !task || !total || !tokens || kernel.empty() ||
      result.empty())
    return std::nullopt;
  return SampleRow{.step = *step,
                   .group = *group,
                   .member = *member,
                   .turn = *turn,
                   .task = *task,
                   .result = result,
                   .speedup = value_of<double>(verdict->get("speedup")),
                   .reward = *total,
                   .tokens = *tokens};
}

Result<Sample> parsed(std::string_view line) {
  TRY_ASSIGN(const Json json, parse_json(line));
  return sample_from_json(json);
}

}  // namespace

Status SampleIndex::add(std::string_view line, std::uintmax_t offset) {
  auto row = row_of(line);
  if (!row) {
    const auto sample = parsed(line);
    if (!sample)
      return fail("{}: line {}: {}", file_.string(), rows_.size() + 1, sample.error().message);
    row = row_of(to_line(to_json(*sample)));  // the record in today's form
    CHECK(row, "a record in today's form lacks a member of a row");
  }
  row->offset = offset;
  row->bytes = line.size();
  rows_.push_back(*std::move(row));
  return ok();
}

Status SampleIndex::update() {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file_, error);
  if (error) return fail("{}: {}", file_.string(), error.message());
  if (size < end_) {  // a run went back to an earlier checkpoint
    rows_.clear();
    end_ = 0;
  }
  if (size == end_) return ok();
  std::ifstream in(file_, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(end_));
  for (std::string line; std::getline(in, line) && !in.eof();) {
    TRY(add(line, end_));
    end_ += line.size() + 1;
  }
  return ok();
}

Result<Sample> SampleIndex::read(const SampleRow& row) const {
  std::ifstream in(file_, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(row.offset));
  std::string line(row.bytes, '\0');
  if (!in.read(line.data(), static_cast<std::streamsize>(line.size())))
    return fail("{} has changed; load the run again", file_.string());
  return parsed(line);
}

std::vector<std::size_t> SampleIndex::conversation_of(std::size_t row) const {
  std::vector<std::size_t> turns;
  const SampleRow& one = rows_.at(row);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const SampleRow& each = rows_[i];
    if (each.step == one.step && each.group == one.group && each.member == one.member &&
        each.task == one.task)
      turns.push_back(i);
  }
  std::ranges::stable_sort(turns, {}, [&](std::size_t i) { return rows_[i].turn; });
  return turns;
}

}  // namespace tritonsmith::serve::runs
