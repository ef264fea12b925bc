#include "serve/runs/sample_index.h"

#include <algorithm>
#include <fstream>

namespace tritonsmith::serve::runs {
namespace {

namespace fs = std::filesystem;

std::string result_of(const Sample& sample) {
  if (sample.verdict.accepted) return "accepted";
  if (sample.kernel.empty()) return "no_kernel";
  return sample.verdict.error ? class_name(*sample.verdict.error) : "refused";
}

SampleRow row_of(const Sample& sample) {
  return {.step = sample.step,
          .group = sample.group,
          .member = sample.member,
          .turn = sample.turn,
          .task = sample.task_id,
          .result = result_of(sample),
          .speedup = sample.verdict.speedup,
          .reward = sample.reward.total,
          .tokens = sample.completion.usage.completion_tokens};
}

Result<Sample> parsed(std::string_view line) {
  TRY_ASSIGN(const Json json, parse_json(line));
  return sample_from_json(json);
}

}  // namespace

Status SampleIndex::add(std::string_view line, std::uintmax_t offset) {
  const auto sample = parsed(line);
  if (!sample)
    return fail("{}: line {}: {}", file_.string(), rows_.size() + 1, sample.error().message);
  SampleRow row = row_of(*sample);
  row.offset = offset;
  row.bytes = line.size();
  rows_.push_back(std::move(row));
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
