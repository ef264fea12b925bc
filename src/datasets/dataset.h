// Dataset: rows by the name of a file or folder. A folder has the layout of the Hugging Face hub: the
// files of each split, as `data/train-00000-of-00002.parquet`, and a README.md whose front matter
// may name the files (`configs:`) and the licence.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "datasets/row.h"
#include "datasets/schema.h"

namespace tritonsmith::datasets {

struct DatasetChoice {
  std::filesystem::path path;
  std::string config;           // of a folder: one of the README's configs; empty: its default
  std::string split = "train";  // of a folder with several splits
  std::string name = {};        // of the data set; empty: by the path
};

struct Dataset {
  std::string name;     // the folder's or the file's, without what tells its format
  std::string licence;  // of the README's front matter; empty if unknown
  std::vector<std::filesystem::path> files;
};

// Fails in one line that names the splits or configs that there are.
Result<Dataset> find_dataset(const DatasetChoice& choice);

// Returns those of a repository's files that hold the rows of the chosen config and split. `readme` is
// its README.md, and may be empty. choice.path is only a name for errors.
Result<std::vector<std::string>> files_of_split(const DatasetChoice& choice,
                                                std::string_view readme,
                                                const std::vector<std::string>& files);

// Returns whether the name is that of a file of rows: Parquet, JSON or JSONL, packed or not.
bool is_row_file(const std::filesystem::path& file);

// The rows of all files in their order.
Result<std::unique_ptr<RowReader>> read_rows(const Dataset& dataset);
Result<std::unique_ptr<RowReader>> read_row_file(const std::filesystem::path& file);

// Writes one file, or a folder in the hub's layout if `out` has no ending of a row file. `card` is
// the README's text below its front matter.
struct DatasetTarget {
  std::filesystem::path out;
  std::string split = "train";
  std::string licence = {}, card = {};
  bool is_folder() const { return !is_row_file(out); }
};
Result<std::unique_ptr<RowWriter>> write_rows(const DatasetTarget& target, const Schema& schema);

}  // namespace tritonsmith::datasets
