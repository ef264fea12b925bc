// Sqlite: one SQLite file with write-ahead logging, its statements and its transactions. Several
// programs may share the file. Within a program one thread at a time uses an object. An error names
// the file and says what to do. Transactions that were committed before an error stay committed.
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

// How safe a commit is. normal: it survives a crash of the process, but a crash of the machine may
// lose the last commits. full: it survives a crash of the machine too.
enum class SqliteDurability { normal, full };

class Sqlite;

// A statement with bound values, and its rows.
class SqliteRows {
 public:
  // Moves to the next row. Returns false if there is none.
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
  void bind(int index, std::string_view text);
  void bind(int index, std::int64_t number);
  void bind(int index, std::nullptr_t);

  const Sqlite* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Sqlite {
 public:
  // Makes the file and its folder if they are missing, then runs `schema`. Errors call the database
  // by `name`, for example "verdict store".
  static Result<std::unique_ptr<Sqlite>> open(const std::filesystem::path& file,
                                              std::string_view name, const std::string& schema,
                                              SqliteDurability durability);

  // Binds the values (text, whole number, nullptr) to the question marks in order. Text is copied.
  template <typename... Values>
  Result<SqliteRows> query(const char* statement, const Values&... values) const {
    TRY_ASSIGN(SqliteRows rows, prepare(statement));
    int index = 0;
    (rows.bind(++index, values), ...);
    return rows;
  }
  template <typename... Values>
  Status run(const char* statement, const Values&... values) const {
    TRY_ASSIGN(SqliteRows rows, query(statement, values...));
    TRY(rows.next());
    return ok();
  }
  // Returns the number of rows that the last statement inserted, updated or deleted.
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

// A transaction. The destructor rolls it back unless it was committed.
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
