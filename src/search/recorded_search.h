// RecordedSearch: a search as its record tells it. Readers such as the report use it. They ask no
// model and no judge, and they write nothing.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "data/task.h"
#include "search/history.h"

namespace tritonsmith::search {

struct RecordedSearch {
  std::string task;      // its id
  std::string source;    // the module; empty if the folder does not hold the task
  History history;       // attempts that the record leaves open are in flight
  std::string why_over;  // empty: the search still runs, or it was interrupted
};

// Writes the tasks beside the record of their searches, as tasks.jsonl.
Status keep_tasks(const std::filesystem::path& folder, std::span<const Task> tasks);

// Returns the searches of a folder's search.jsonl, in the order in which they began. A last line
// that was cut off is passed over. Fails with one line that names the damaged record.
Result<std::vector<RecordedSearch>> read_searches(const std::filesystem::path& folder);

}  // namespace tritonsmith::search
