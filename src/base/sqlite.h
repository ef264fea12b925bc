// Sqlite: one SQLite file with write-ahead logging, its statements and transactions. Several
// programs may share the file; within a program, one thread at a time uses an object. Failures name
// the file and say what to do; what was committed before them stays.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace tritonsmith {

// What a commit must outlive: normal, the process (the machine may take the last ones with it);
// full, the machine.
enum class SqliteDurability { normal, full };

class Sqlite;

// A statement with its values bound, to be stepped through.
class SqliteRows {
 public:
  // True when there is a (further) row.
  Result<bool> next();
  std::string text(int column) const;  // empty for NULL
  std::int64_t integer(int column) const;
  bool is_null(int column) const;

 private:
  friend class Sqlite;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  SqliteRows(const Sqlite& database, sqlite3_stmt* statement)
      : database_(&database), statement_(statement) {}
  void bind(int place, std::string_view text);
  void bind(int place, std::int64_t number);
  void bind(int place, std::nullptr_t);

  const Sqlite* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Sqlite {
 public:
  // Makes the file and its folder where there are none, then runs `schema`. `name` is how errors
  // call it ("verdict store").
  static Result<std::unique_ptr<Sqlite>> open(const std::filesystem::path& file,
                                              std::string_view name, const std::string& schema,
                                              SqliteDurability durability);

  // Values (texts, whole numbers, nullptr) take the places of the question marks. Texts are copied.
  template <typename... Values>
  Result<SqliteRows> query(const char* statement, const Values&... values) const {
    TRY_ASSIGN(SqliteRows rows, prepare(statement));
    int place = 0;
    (rows.bind(++place, values), ...);
    return rows;
  }
  template <typename... Values>
  Status run(const char* statement, const Values&... values) const {
    TRY_ASSIGN(SqliteRows rows, query(statement, values...));
    TRY(rows.next());
    return ok();
  }
  // Rows that the last statement inserted, updated or deleted.
  std::int64_t changes() const;
  tl::unexpected<Error> failure(std::string_view doing) const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  Sqlite(sqlite3* database, std::filesystem::path file, std::string_view name)
      : database_(database), file_(std::move(file)), name_(name) {}
  Result<SqliteRows> prepare(const char* statement) const;

  std::unique_ptr<sqlite3, Close> database_;
  std::filesystem::path file_;
  std::string name_;
};

// All or nothing: rolled back unless committed.
class SqliteTransaction {
 public:
  static Result<SqliteTransaction> begin(const Sqlite& database);
  SqliteTransaction(SqliteTransaction&& other) noexcept
      : database_(std::exchange(other.database_, nullptr)) {}
  SqliteTransaction& operator=(SqliteTransaction&&) = delete;
  ~SqliteTransaction();
  Status commit();

 private:
  explicit SqliteTransaction(const Sqlite& database) : database_(&database) {}
  const Sqlite* database_;
};

}  // namespace tritonsmith
