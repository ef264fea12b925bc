#include "search/search_log.h"

#include "base/jsonl.h"

namespace tritonsmith::search {

Result<SearchFile> SearchFile::open(const std::filesystem::path& file) {
  TRY_ASSIGN(LineWriter writer, LineWriter::open(file));  // it drops a line that a kill cut off
  std::map<std::string, std::vector<Json>> past;
  const auto read = for_each_json_line(file, {}, [&](const JsonLine& line) -> Status {
    JsonReader reader(line.json);
    const std::string task = reader.string("task");
    TRY(reader.status());
    past[task].push_back(line.json);
    return ok();
  });
  TRY(read);
  return SearchFile(std::move(writer), std::move(past));
}

const std::vector<Json>& SearchFile::past(const std::string& task) const {
  static const std::vector<Json> none;
  const auto at = past_.find(task);
  return at == past_.end() ? none : at->second;
}

Status SearchFile::append(const std::string& task, Json event) {
  event["schema"] = 1;
  event["task"] = task;
  return writer_.append(to_line(event));
}

}  // namespace tritonsmith::search
