#include "datasets/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "base/file.h"
#include "base/temp_dir.h"
#include "datasets/export.h"
#include "datasets/front_matter.h"
#include "datasets/parquet.h"

namespace tritonsmith::datasets {
namespace {

using testing::HasSubstr;

// A library that is there and cannot be loaded is a fault, not a reason to skip.
bool parquet_is_missing() {
  const std::string why = why_no_parquet();
  EXPECT_EQ(why.find("libtritonsmith_parquet"), std::string::npos) << why;
  return !why.empty();
}

TEST(FrontMatter, FindsTheFilesOfEachSplit) {
  const auto front = parse_front_matter(
      "---\nlicense: mit\nconfigs:\n- config_name: default\n  data_files:\n  - split: train\n"
      "    path: data/train-*\n  - split: test\n    path:\n    - a.parquet\n    - "
      "b.parquet\n---\n# Card\n");
  ASSERT_TRUE(front) << front.error().message;
  EXPECT_EQ(front->licence, "mit");
  ASSERT_EQ(front->configs.size(), 1U);
  ASSERT_EQ(front->configs[0].splits.size(), 2U);
  EXPECT_EQ(front->configs[0].splits[1].patterns,
            (std::vector<std::string>{"a.parquet", "b.parquet"}));
}

TEST(FrontMatter, SaysWhereTheYamlIsDamaged) {
  const auto front = parse_front_matter("---\nconfigs: [\n---\n");
  ASSERT_FALSE(front);
  EXPECT_THAT(front.error().message, HasSubstr("no YAML"));
  EXPECT_TRUE(parse_front_matter("# A card without front matter"));
}

TEST(FrontMatter, PatternsFitAsTheHubsDo) {
  EXPECT_TRUE(fits("data/train-*", "data/train-00000-of-00002.parquet"));
  EXPECT_FALSE(fits("data/train-*", "data/more/train-0"));
  EXPECT_FALSE(fits("*.parquet", "data/a.parquet"));
  EXPECT_TRUE(fits("**/*.parquet", "data/deep/a.parquet"));
  EXPECT_TRUE(fits("**", "data/a"));
  EXPECT_TRUE(fits("a?.json", "ab.json"));
  EXPECT_FALSE(fits("a?json", "a/json"));
  EXPECT_TRUE(fits("", ""));
  EXPECT_FALSE(fits("", "a"));
  EXPECT_TRUE(fits("a/**/b*", "a/b"));
  EXPECT_TRUE(fits("a/**/b*", "a/c/d/bc"));
  EXPECT_FALSE(fits("a/**/b*", "a/cb"));
  EXPECT_FALSE(fits("*", "a/b"));
}

TEST(FrontMatter, PatternsOfManyStarsCostLittle) {
  std::string stars, folders;
  for (int i = 0; i < 40; ++i) {
    stars += "*a";
    folders += "**/a/";
  }
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "a/";
  EXPECT_FALSE(fits(stars + "b", std::string(100, 'a')));
  EXPECT_FALSE(fits(folders + "b", deep));
  EXPECT_TRUE(fits(stars, std::string(100, 'a')));
}

class Folder : public testing::Test {
 protected:
  void SetUp() override {
    auto made = TempDir::make("dataset");
    ASSERT_TRUE(made);
    folder_ = std::make_unique<TempDir>(*std::move(made));
  }
  void put(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(make_directories((path() / name).parent_path()));
    ASSERT_TRUE(write_file_atomic(path() / name, text));
  }
  std::filesystem::path path() const { return folder_->path(); }
  std::vector<std::string> files(const DatasetChoice& choice) const {
    const auto dataset = find_dataset(choice);
    if (!dataset) return {dataset.error().message};
    std::vector<std::string> names;
    for (const auto& each : dataset->files)
      names.push_back(each.lexically_relative(path()).generic_string());
    return names;
  }

 private:
  std::unique_ptr<TempDir> folder_;
};

TEST_F(Folder, FindsSplitsByTheNamesOfFiles) {
  for (const char* name : {"data/train-00001-of-00002.jsonl", "data/train-00000-of-00002.jsonl",
                           "data/test-00000-of-00001.jsonl"})
    put(name, "{}\n");
  EXPECT_EQ(files({.path = path()}), (std::vector<std::string>{"data/train-00000-of-00002.jsonl",
                                                               "data/train-00001-of-00002.jsonl"}));
  EXPECT_EQ(files({.path = path(), .split = "test"}),
            std::vector<std::string>{"data/test-00000-of-00001.jsonl"});
  EXPECT_THAT(files({.path = path(), .split = "dev"})[0], HasSubstr("it has test, train"));
}

TEST_F(Folder, AsksForAConfigWhereThereAreSeveral) {
  put("README.md",
      "---\nconfigs:\n- config_name: a\n  data_files: a.jsonl\n- config_name: b\n  data_files: "
      "b.jsonl\n---\n");
  put("a.jsonl", "{}\n");
  put("b.jsonl", "{}\n");
  EXPECT_THAT(files({.path = path()})[0], HasSubstr("the configs a, b; choose one with --config"));
  EXPECT_EQ(files({.path = path(), .config = "b"}), std::vector<std::string>{"b.jsonl"});
  EXPECT_THAT(files({.path = path(), .config = "c"})[0], HasSubstr("it has a, b"));
}

TEST(Schema, FindsATypeForEachColumn) {
  Schema schema;
  extend(schema,
         {{"n", 1}, {"text", "a"}, {"mixed", 1}, {"list", Json::array()}, {"o", {{"a", 1}}}});
  extend(schema,
         {{"n", 2.5}, {"text", nullptr}, {"mixed", "a"}, {"list", {1, 2}}, {"o", {{"b", true}}}});
  const auto kind = [&](const char* name) {
    return std::ranges::find(schema, name, &Column::name)->kind;
  };
  EXPECT_EQ(kind("n"), ColumnKind::number);
  EXPECT_EQ(kind("text"), ColumnKind::text);
  EXPECT_EQ(kind("mixed"), ColumnKind::json);
  EXPECT_EQ(kind("list"), ColumnKind::list);
  EXPECT_EQ(std::ranges::find(schema, "o", &Column::name)->inner.size(), 2U);
}

TEST_F(Folder, WritesAndReadsNestedParquetInTheHubsLayout) {
  if (parquet_is_missing()) GTEST_SKIP() << why_no_parquet();
  const Json rows = {
      {{"messages",
        {{{"role", "user"}, {"content", "a"}}, {{"role", "assistant"}, {"content", "b"}}}},
       {"reward_model", {{"ground_truth", "x"}, {"style", "rule"}}},
       {"stars", 3},
       {"empty", Json::object()}},
      {{"messages", Json::array()}, {"reward_model", nullptr}, {"speed", 1.5}, {"stars", nullptr}}};
  Schema schema;
  for (const Json& row : rows) extend(schema, row);
  const DatasetTarget target{
      .out = path() / "set", .split = "train", .licence = "mit", .card = "# Card\n"};
  auto writer = write_rows(target, schema);
  ASSERT_TRUE(writer) << writer.error().message;
  for (const Json& row : rows) ASSERT_TRUE((*writer)->write(row));
  ASSERT_TRUE((*writer)->finish());
  const auto dataset = find_dataset({.path = path() / "set"});
  ASSERT_TRUE(dataset) << dataset.error().message;
  EXPECT_EQ(dataset->licence, "mit");
  auto reader = read_rows(*dataset);
  ASSERT_TRUE(reader);
  auto first = (*reader)->next();
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ((**first).value["messages"], rows[0]["messages"]);
  EXPECT_EQ((**first).value["reward_model"], rows[0]["reward_model"]);
  auto second = (*reader)->next();
  ASSERT_TRUE(second && *second);
  EXPECT_EQ((**second).value["speed"], 1.5);
  EXPECT_EQ((**second).value["stars"], nullptr);
  EXPECT_FALSE(*(*reader)->next());
}

TEST_F(Folder, IsTheTitleOfItsCardHoweverItsPathEnds) {
  if (parquet_is_missing()) GTEST_SKIP() << why_no_parquet();
  const std::vector<Example> examples = {
      {.task = "t", .prompt = {{text::Role::user, "u"}}, .completion = "c"}};
  for (const char* out : {"kernels", "kernels/", "kernels/."}) {
    const DatasetTarget target{.out = path().string() + "/" + out, .split = "train"};
    const auto written = export_examples(examples, ExampleLayout::messages, target);
    ASSERT_TRUE(written) << written.error().message;
    EXPECT_THAT(*read_file(path() / "kernels" / "README.md"), HasSubstr("---\n# kernels\n")) << out;
    std::filesystem::remove_all(path() / "kernels");
  }
}

TEST_F(Folder, NamesAParquetFileThatIsCutOff) {
  if (parquet_is_missing()) GTEST_SKIP() << why_no_parquet();
  put("a.parquet", "PAR1 and then nothing that is Parquet");
  const auto reader = read_row_file(path() / "a.parquet");
  ASSERT_FALSE(reader);
  EXPECT_THAT(reader.error().message, HasSubstr("a.parquet: cannot be read as Parquet"));
}

// The cache of the hub holds links to files of other names.
// The limit on a file's size stands for a full disk, which a test cannot make.
TEST_F(Folder, SaysWhyAParquetFileCannotGrow) {
  if (parquet_is_missing()) GTEST_SKIP() << why_no_parquet();
  const std::filesystem::path file = path() / "a.parquet";
  Schema schema;
  extend(schema, Json{{"text", ""}});
  auto writer = write_parquet_rows(file, schema);
  ASSERT_TRUE(writer) << writer.error().message;
  std::string noise;  // zstd cannot make it small
  for (unsigned k = 0; k < 100'000; ++k) noise += fmt::format("{:x}", k * 2'654'435'761U);
  const auto before = ::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  rlimit small = limit;
  small.rlim_cur = 4096;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  Status written = (*writer)->write(Json{{"text", noise}});
  if (written) written = (*writer)->finish();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  ::signal(SIGXFSZ, before);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, file.string() + ": cannot be written: File too large");
  writer->reset();
  EXPECT_TRUE(std::filesystem::is_empty(path()));
}

TEST(FindDataset, TakesLinksByTheirOwnNames) {
  const auto folder = TempDir::make("links");
  const std::filesystem::path data = folder->path() / "set" / "data";
  ASSERT_TRUE(make_directories(data));
  ASSERT_TRUE(write_file_atomic(folder->path() / "0123", "{}\n"));
  std::filesystem::create_symlink("../../0123", data / "train-00000-of-00001.jsonl");
  const auto dataset = find_dataset({.path = folder->path() / "set", .name = "a/b"});
  ASSERT_TRUE(dataset) << dataset.error().message;
  EXPECT_EQ(dataset->name, "a/b");
  EXPECT_EQ(dataset->files, std::vector{data / "train-00000-of-00001.jsonl"});
}

TEST(FilesOfSplit, AreTheParquetFilesWhereASplitHasItsRowsTwice) {
  const std::vector<std::string> files = {"README.md", "rows.json", "rows.parquet", "test.jsonl",
                                          "weights.bin"};
  EXPECT_EQ(*files_of_split({.path = "x/y"}, "", files), std::vector<std::string>{"rows.parquet"});
  EXPECT_EQ(*files_of_split({.path = "x/y", .split = "test"}, "", files),
            std::vector<std::string>{"test.jsonl"});
  const std::string readme =
      "---\nconfigs:\n- config_name: default\n  data_files:\n  - split: train\n    path: "
      "rows.json\n---\n";
  EXPECT_EQ(*files_of_split({.path = "x/y"}, readme, files), std::vector<std::string>{"rows.json"});
  EXPECT_FALSE(files_of_split({.path = "x/y", .split = "dev"}, "", files));
  EXPECT_FALSE(files_of_split({.path = "x/y"}, "", {"README.md"}));
}

}  // namespace
}  // namespace tritonsmith::datasets
