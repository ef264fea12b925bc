// SearchLog: the record of a search, event by event, each written before anybody sees what it tells.
// A search that was killed reads it back and goes on: nothing is asked or judged twice.
//
//   {"event": "asked", "ask": {...}}
//   {"event": "written", "number": 3, "text": ..., "finish": ..., "usage": {...}}
//   {"event": "judged", "number": 3, "verdict": {...}, "same_as": 1, "seconds": 12.5}
//   {"event": "ended", "why": "64 attempts were made", "seconds": 80.2}
//   {"event": "extended", "seconds": 80.2}: from here on it has another budget
#pragma once

#include <filesystem>
#include <map>
#include <vector>

#include "base/file.h"
#include "base/json.h"

namespace tritonsmith::search {

class SearchLog {
 public:
  virtual ~SearchLog() = default;
  virtual Status append(const Json& event) = 0;
};

// The searches of several tasks in one JSONL file. Each line names its task.
class SearchFile {
 public:
  static Result<SearchFile> open(const std::filesystem::path& file);
  // The events of the task that the file held when it was opened.
  const std::vector<Json>& past(const std::string& task) const;
  Status append(const std::string& task, Json event);

 private:
  SearchFile(LineWriter writer, std::map<std::string, std::vector<Json>> past)
      : writer_(std::move(writer)), past_(std::move(past)) {}
  LineWriter writer_;
  std::map<std::string, std::vector<Json>> past_;
};

// One task's part of a SearchFile, which must outlive it.
class TaskLog : public SearchLog {
 public:
  TaskLog(SearchFile& file, std::string task) : file_(file), task_(std::move(task)) {}
  Status append(const Json& event) override { return file_.append(task_, event); }

 private:
  SearchFile& file_;
  std::string task_;
};

}  // namespace tritonsmith::search
