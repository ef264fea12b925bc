#include "base/sqlite.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/temp_dir.h"

namespace tritonsmith {
namespace {

struct SqliteTest : ::testing::Test {
  Result<TempDir> directory = TempDir::make("sqlite");
  Result<std::unique_ptr<Sqlite>> open() const {
    return Sqlite::open(directory->path() / "file.sqlite", "list",
                        "CREATE TABLE IF NOT EXISTS things (name TEXT PRIMARY KEY, size INTEGER);",
                        SqliteDurability::normal);
  }
};

std::int64_t count(const Sqlite& database) {
  auto rows = database.query("SELECT COUNT(*) FROM things");
  EXPECT_TRUE(rows && rows->next());
  return rows->integer(0);
}

TEST_F(SqliteTest, KeepsWhatWasCommittedAndForgetsWhatWasNot) {
  const auto database = *open();
  {
    const auto dropped = SqliteTransaction::begin(*database);
    ASSERT_TRUE(
        database->run("INSERT INTO things VALUES (?, ?)", std::string("a"), std::int64_t{1}));
  }
  EXPECT_EQ(count(*database), 0);
  auto kept = SqliteTransaction::begin(*database);
  ASSERT_TRUE(database->run("INSERT INTO things VALUES (?, ?)", std::string("b\0c", 3), nullptr));
  ASSERT_TRUE(kept->commit());
  const auto again = *open();
  auto rows = again->query("SELECT name, size FROM things");
  ASSERT_TRUE(rows && *rows->next());
  EXPECT_EQ(rows->text(0), std::string("b\0c", 3));
  EXPECT_TRUE(rows->is_null(1));
  EXPECT_FALSE(*rows->next());
}

TEST_F(SqliteTest, NamesTheFileAndSaysWhatToDo) {
  std::ofstream(directory->path() / "file.sqlite") << std::string(4096, 'x');
  const auto opened = open();
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("file.sqlite"), std::string::npos);
  EXPECT_NE(opened.error().message.find("move the file away"), std::string::npos);
}

}  // namespace
}  // namespace tritonsmith
