// RunLibrary: the runs below a directory (docs/records.md), for readers of the page. It only reads,
// and only records that it has found itself: a name that a client sends chooses among them. Any
// thread may call it; one at a time reads.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "serve/runs/sample_index.h"

namespace tritonsmith::serve::runs {

class RunLibrary {
 public:
  using Words = std::function<std::string(const Verdict&)>;  // a verdict for people

  // Fails if there is no such directory.
  static Result<std::unique_ptr<RunLibrary>> open(const std::filesystem::path& directory,
                                                  Words words);

  // {"runs": [{"name", "steps", "samples", "evaluation", "changed_ms"}]}, the newest first.
  Result<Json> list();
  // The run's config, curves, evaluation and the rows of its newest samples; nothing without such a
  // run.
  Result<std::optional<Json>> show(const std::string& name);
  // The turns of the conversation that a sample belongs to; nothing without such a sample.
  Result<std::optional<Json>> conversation(const std::string& name, std::size_t sample);

 private:
  RunLibrary(std::filesystem::path directory, Words words)
      : directory_(std::move(directory)), words_(std::move(words)) {}
  // Returns the directories that hold records, by name.
  Result<std::map<std::string, std::filesystem::path>> find() const;
  Result<std::optional<std::filesystem::path>> folder_of(const std::string& name) const;
  // Returns the index of a run's samples, up to date.
  Result<SampleIndex*> index_of(const std::filesystem::path& folder);

  std::filesystem::path directory_;
  Words words_;
  std::mutex mutex_;
  std::map<std::filesystem::path, SampleIndex> indices_;
};

}  // namespace tritonsmith::serve::runs
