// GivenPairs: the modules of a data set with the solutions that the data set holds, for `tasks pairs
// --given`, which judges them. Of several solutions of a module the first one counts. One thread uses it.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "data/task.h"
#include "datasets/row.h"

namespace tritonsmith::cli {

class GivenPairs : public datasets::RowWriter {
 public:
  // A row as `examples import` writes it. Rows without a module or a solution are counted.
  Status write(const Json& row) override;
  Status finish() override { return ok(); }

  const std::vector<Task>& tasks() const { return tasks_; }
  std::size_t incomplete() const { return incomplete_; }
  // The source must be that of one of the tasks.
  const std::string& kernel_of(const std::string& source) const { return kernels_.at(source); }

 private:
  std::vector<Task> tasks_;
  std::unordered_map<std::string, std::string> kernels_;  // by source
  std::size_t incomplete_ = 0;
};

}  // namespace tritonsmith::cli
