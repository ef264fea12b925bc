#include "datasets/dataset.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>

#include "base/file.h"
#include "datasets/front_matter.h"
#include "datasets/json_rows.h"
#include "datasets/parquet.h"

namespace tritonsmith::datasets {
namespace {

namespace fs = std::filesystem;

// The name without what tells the format: "train.jsonl.zst" is "train".
fs::path bare_name(fs::path name) {
  if (name.extension() == ".gz" || name.extension() == ".zst") name = name.stem();
  return name.stem();
}

Result<std::vector<std::string>> files_below(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    const bool is_folder = at->is_directory(error);
    if (is_folder && at->path().filename().string().starts_with('.'))
      at.disable_recursion_pending();
    if (!is_folder && is_row_file(at->path()))
      files.push_back(at->path().lexically_relative(folder).generic_string());
  }
  if (error) return fail("{}: cannot be listed: {}", folder.string(), error.message());
  std::ranges::sort(files);
  return files;
}

// The split in a file's name or folder, as the hub finds it: "data/train-00000-of-00001.parquet",
// "test.jsonl", "validation/part.json". Names without one are all "train".
std::string split_of(const std::string& file) {
  static const std::array<std::pair<std::string_view, std::string_view>, 7> kWords = {
      {{"train", "train"},
       {"training", "train"},
       {"validation", "validation"},
       {"valid", "validation"},
       {"dev", "validation"},
       {"test", "test"},
       {"eval", "test"}}};
  std::string word;
  std::string split = "train";
  for (const char c : file + "/") {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      word += c;
      continue;
    }
    for (const auto& [name, its_split] : kWords)
      if (word == name) split = its_split;
    word.clear();
  }
  return split;
}

using FilesBySplit = std::vector<std::pair<std::string, std::vector<std::string>>>;

std::vector<std::string>& files_of(FilesBySplit& splits, const std::string& name) {
  const auto at = std::ranges::find(splits, name, &FilesBySplit::value_type::first);
  if (at != splits.end()) return at->second;
  return splits.emplace_back(name, std::vector<std::string>()).second;
}

// A folder may hold the same rows as Parquet and as JSON, as KernelBook does. Then the Parquet files
// count.
FilesBySplit by_name(const std::vector<std::string>& files) {
  FilesBySplit splits;
  for (const std::string& each : files) files_of(splits, split_of(each)).push_back(each);
  const auto is_parquet = [](const std::string& file) { return file.ends_with(".parquet"); };
  for (auto& [name, its_files] : splits)
    if (std::ranges::any_of(its_files, is_parquet))
      std::erase_if(its_files, std::not_fn(is_parquet));
  return splits;
}

FilesBySplit by_pattern(const DatasetConfig& config, const std::vector<std::string>& files) {
  FilesBySplit splits;
  for (const SplitFiles& split : config.splits)
    for (const std::string& each : files)
      if (std::ranges::any_of(split.patterns, [&](const auto& p) { return fits(p, each); }))
        files_of(splits, split.split).push_back(each);
  return splits;
}

Result<FilesBySplit> splits_of(const FrontMatter& front, const DatasetChoice& choice,
                               const std::vector<std::string>& files) {
  std::vector<std::string> names;
  for (const DatasetConfig& each : front.configs) {
    if (each.name == choice.config || (choice.config.empty() && each.name == "default"))
      return each.splits.empty() ? by_name(files) : by_pattern(each, files);
    names.push_back(each.name);
  }
  if (!choice.config.empty())
    return fail("{}: has no config '{}'; it has {}", choice.path.string(), choice.config,
                names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
  if (front.configs.empty() || front.configs.front().splits.empty()) return by_name(files);
  if (front.configs.size() > 1)
    return fail("{}: has the configs {}; choose one with --config", choice.path.string(),
                fmt::join(names, ", "));
  return by_pattern(front.configs.front(), files);
}

class ManyFiles : public RowReader {
 public:
  explicit ManyFiles(std::vector<fs::path> files) : files_(std::move(files)) {}

  Result<std::optional<Row>> next() override {
    for (;;) {
      if (!current_) {
        if (at_ == files_.size()) return std::nullopt;
        TRY_ASSIGN(current_, read_row_file(files_[at_++]));
      }
      TRY_ASSIGN(auto row, current_->next());
      if (row) return row;
      current_.reset();
    }
  }

 private:
  std::vector<fs::path> files_;
  std::size_t at_ = 0;
  std::unique_ptr<RowReader> current_;
};

// The README that the hub reads: which files belong to which split, and the licence.
std::string readme_of(const DatasetTarget& target) {
  std::string text = "---\n";
  if (!target.licence.empty()) text += fmt::format("license: {}\n", to_line(target.licence));
  text += fmt::format(
      "configs:\n- config_name: default\n  data_files:\n  - split: {}\n    path: "
      "data/{}-*.parquet\n---\n",
      target.split, target.split);
  return text + target.card;
}

// The README is written last, so that a folder with one is whole.
class FolderWriter : public RowWriter {
 public:
  FolderWriter(std::unique_ptr<RowWriter> file, DatasetTarget target)
      : file_(std::move(file)), target_(std::move(target)) {}
  Status write(const Json& row) override { return file_->write(row); }
  Status finish() override {
    TRY(file_->finish());
    return write_file_atomic(target_.out / "README.md", readme_of(target_));
  }

 private:
  std::unique_ptr<RowWriter> file_;
  DatasetTarget target_;
};

}  // namespace

bool is_row_file(const fs::path& file) {
  fs::path name = file.filename();
  if (name.extension() == ".gz" || name.extension() == ".zst") name = name.stem();
  const std::string ending = name.extension().string();
  return ending == ".parquet" || ending == ".jsonl" || ending == ".json" || ending == ".ndjson";
}

Result<std::vector<std::string>> files_of_split(const DatasetChoice& choice,
                                                std::string_view readme,
                                                const std::vector<std::string>& files) {
  auto front = parse_front_matter(readme);
  if (!front) return tl::unexpected(front.error().within((choice.path / "README.md").string()));
  std::vector<std::string> rows;
  std::ranges::copy_if(files, std::back_inserter(rows), is_row_file);
  if (rows.empty())
    return fail("{}: holds no .parquet, .jsonl or .json files", choice.path.string());
  TRY_ASSIGN(const FilesBySplit splits, splits_of(*front, choice, rows));
  std::vector<std::string> names;
  for (const auto& [name, its_files] : splits) {
    if (name == choice.split) return its_files;
    names.push_back(name);
  }
  return fail("{}: has no split '{}'; it has {}", choice.path.string(), choice.split,
              names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
}

Result<Dataset> find_dataset(const DatasetChoice& choice) {
  std::error_code error;
  const fs::path whole = fs::absolute(choice.path / ".").lexically_normal().parent_path();
  if (!fs::is_directory(choice.path, error)) {
    if (!fs::exists(choice.path, error))
      return fail("{}: No such file or directory", choice.path.string());
    return Dataset{.name = bare_name(choice.path.filename()).string(), .files = {choice.path}};
  }
  Dataset dataset{.name = choice.name.empty() ? whole.filename().string() : choice.name};
  std::string readme;
  if (fs::exists(choice.path / "README.md", error)) {
    TRY_ASSIGN(readme, read_file(choice.path / "README.md"));
  }
  TRY_ASSIGN(const auto below, files_below(choice.path));
  TRY_ASSIGN(const auto files, files_of_split(choice, readme, below));
  for (const std::string& each : files) dataset.files.push_back(choice.path / each);
  dataset.licence = parse_front_matter(readme)->licence;
  return dataset;
}

Result<std::unique_ptr<RowReader>> read_rows(const Dataset& dataset) {
  return std::unique_ptr<RowReader>(std::make_unique<ManyFiles>(dataset.files));
}

Result<std::unique_ptr<RowReader>> read_row_file(const fs::path& file) {
  TRY_ASSIGN(auto bytes, open_bytes(file));
  std::array<char, 4> head = {};
  {
    std::ifstream begin(file, std::ios::binary);
    begin.read(head.data(), head.size());
  }
  if (std::string_view(head.data(), head.size()) == "PAR1") return read_parquet_rows(file);
  return read_json_rows(std::move(bytes), file.string());
}

Result<std::unique_ptr<RowWriter>> write_rows(const DatasetTarget& target, const Schema& schema) {
  if (target.is_folder()) {
    const fs::path file = target.out / "data" / (target.split + "-00000-of-00001.parquet");
    TRY_ASSIGN(auto writer, write_parquet_rows(file, schema));
    return std::unique_ptr<RowWriter>(std::make_unique<FolderWriter>(std::move(writer), target));
  }
  if (target.out.extension() == ".parquet") return write_parquet_rows(target.out, schema);
  return write_json_rows(target.out);
}

}  // namespace tritonsmith::datasets
