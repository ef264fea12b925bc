#include "datasets/json_rows.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>
#include <fstream>

#include "base/file.h"
#include "base/temp_dir.h"
#include "datasets/dataset.h"

namespace tritonsmith::datasets {
namespace {

// Gives few bytes at a time, so that every boundary falls into the middle of something.
class Trickle : public ByteSource {
 public:
  Trickle(std::string bytes, std::size_t step) : bytes_(std::move(bytes)), step_(step) {}
  Result<std::size_t> read(std::span<char> into) override {
    const std::size_t count = std::min({step_, bytes_.size() - at_, into.size()});
    std::memcpy(into.data(), bytes_.data() + at_, count);
    at_ += count;
    return count;
  }

 private:
  std::string bytes_;
  std::size_t step_, at_ = 0;
};

struct ReadRows {
  std::vector<Row> rows;
  std::string error;
};

ReadRows read_all(RowReader& reader) {
  ReadRows out;
  for (;;) {
    auto row = reader.next();
    if (!row) {
      out.error = row.error().message;
      return out;
    }
    if (!*row) return out;
    out.rows.push_back(**std::move(row));
  }
}

ReadRows read_text(const std::string& text, std::size_t step = 3) {
  return read_all(*read_json_rows(std::make_unique<Trickle>(text, step), "rows.json"));
}

TEST(JsonRows, ReadsOneObjectALine) {
  const ReadRows read = read_text("{\"a\": 1}\n\n{\"a\": 2}");
  ASSERT_EQ(read.rows.size(), 2U);
  EXPECT_EQ(read.rows[1].value, Json({{"a", 2}}));
  EXPECT_EQ(read.rows[1].location, "rows.json:3");
}

TEST(JsonRows, ReadsAnArrayWhoseStringsHoldBrackets) {
  const ReadRows read = read_text(R"([ {"a": "]},{\"["}, {"a": [1, {"b": 2}]} ])");
  ASSERT_EQ(read.rows.size(), 2U) << read.error;
  EXPECT_EQ(read.rows[0].value["a"], "]},{\"[");
  EXPECT_EQ(read.rows[1].location, "rows.json, row 2");
}

TEST(JsonRows, GoesOnAfterALineThatIsNoJson) {
  const ReadRows read = read_text("{\"a\": 1}\n{\"a\": \n[1]\n{\"a\": 3}\n");
  ASSERT_EQ(read.rows.size(), 4U);
  EXPECT_NE(read.rows[1].problem, "");
  EXPECT_EQ(read.rows[2].problem, "a row is an object, not array");
  EXPECT_EQ(read.rows[3].value["a"], 3);
}

TEST(JsonRows, SaysThatAnArrayIsCutOff) {
  const ReadRows read = read_text(R"([{"a": 1}, {"a": "lon)");
  EXPECT_EQ(read.rows.size(), 1U);
  EXPECT_NE(read.error.find("row 2: the file is cut off"), std::string::npos) << read.error;
  EXPECT_NE(read_text("{\"a\": 1}\n{\"a\"").rows[1].problem.find("cut off"), std::string::npos);
}

TEST(JsonRows, RefusesARowThatIsTooLargeWithoutHoldingIt) {
  const auto reader = read_json_rows(
      std::make_unique<Trickle>("{\"a\": \"" + std::string(1 << 22, 'x') + "\"}", 1 << 16),
      "big.jsonl", 1 << 20);
  EXPECT_NE(read_all(*reader).error.find("row 1 is larger than 1 MiB"), std::string::npos);
}

TEST(JsonRows, ReadsWhatPythonWritesForNoNumberAsNull) {
  const ReadRows read = read_text(R"({"a": NaN, "b": [-Infinity, Infinity], "c": "NaN \" NaN"})");
  ASSERT_EQ(read.rows.size(), 1U);
  EXPECT_EQ(read.rows[0].value["a"], nullptr);
  EXPECT_EQ(read.rows[0].value["b"], Json({nullptr, nullptr}));
  EXPECT_EQ(read.rows[0].value["c"], "NaN \" NaN");
}

TEST(JsonRows, RefusesWhatIsNoRows) {
  EXPECT_NE(read_text("").error.find("is empty"), std::string::npos);
  EXPECT_NE(read_text("[{} {}]").rows[0].problem, "");
  EXPECT_NE(read_text("[}").error.find("is broken before row 1"), std::string::npos);
  EXPECT_NE(read_text("import torch\n").error.find("neither JSON"), std::string::npos);
}

RC_GTEST_PROP(JsonRows, AnyBytesGiveRowsOrAnError, (const std::string& tail)) {
  for (const char* head : {"[", "{", "[{\"a\":1}", "{\"a\":1}\n"}) {
    const ReadRows read = read_text(head + tail, 2);
    RC_ASSERT(read.rows.size() <= tail.size() + 2);
  }
}

TEST(JsonRows, WritesAndReadsEveryPackedForm) {
  const auto folder = TempDir::make("rows");
  ASSERT_TRUE(folder);
  for (const char* name : {"a.jsonl", "a.json", "a.jsonl.gz", "a.json.zst", "a.ndjson.zst"}) {
    const auto file = folder->path() / name;
    {
      auto writer = write_json_rows(file);
      ASSERT_TRUE(writer) << writer.error().message;
      for (int i = 0; i < 1000; ++i)
        ASSERT_TRUE((*writer)->write({{"i", i}, {"text", std::string(100, 'x')}}));
      EXPECT_FALSE(std::filesystem::exists(file)) << "a file has its name before it is whole";
      ASSERT_TRUE((*writer)->finish());
    }
    auto reader = read_row_file(file);
    ASSERT_TRUE(reader) << reader.error().message;
    const ReadRows read = read_all(**reader);
    ASSERT_EQ(read.rows.size(), 1000U) << name << ": " << read.error;
    EXPECT_EQ(read.rows[999].value["i"], 999);
  }
}

TEST(JsonRows, LeavesNothingOfAFileThatWasNotFinished) {
  const auto folder = TempDir::make("rows");
  ASSERT_TRUE(folder);
  {
    auto writer = write_json_rows(folder->path() / "a.jsonl");
    ASSERT_TRUE(writer);
    ASSERT_TRUE((*writer)->write({{"i", 1}}));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder->path()));
}

TEST(ByteStream, SaysThatAPackedFileIsCutOffOrDamaged) {
  const auto folder = TempDir::make("rows");
  ASSERT_TRUE(folder);
  for (const char* name : {"a.jsonl.gz", "a.jsonl.zst"}) {
    const auto file = folder->path() / name;
    auto writer = write_json_rows(file);
    ASSERT_TRUE(writer);
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE((*writer)->write({{"i", i * i}}));
    ASSERT_TRUE((*writer)->finish());
    const auto whole = read_file(file);
    ASSERT_TRUE(whole);
    ASSERT_TRUE(write_file_atomic(file, whole->substr(0, whole->size() / 2)));
    auto reader = read_row_file(file);
    ASSERT_TRUE(reader);
    EXPECT_NE(read_all(**reader).error.find("is cut off"), std::string::npos) << name;
    std::string damaged = *whole;
    for (std::size_t i = damaged.size() / 2; i < damaged.size() / 2 + 20; ++i) damaged[i] ^= 0x55;
    ASSERT_TRUE(write_file_atomic(file, damaged));
    reader = read_row_file(file);
    ASSERT_TRUE(reader);
    EXPECT_NE(read_all(**reader).error.find("is damaged"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace tritonsmith::datasets
