#include "base/sqlite.h"

#include <sqlite3.h>

#include "base/file.h"

namespace tritonsmith {

void SqliteRows::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}
void Sqlite::Close::operator()(sqlite3* database) const { sqlite3_close(database); }

void SqliteRows::bind(int index, std::string_view text) {
  sqlite3_bind_text64(statement_.get(), index, text.data(), text.size(), SQLITE_TRANSIENT,
                      SQLITE_UTF8);
}
void SqliteRows::bind(int index, std::int64_t number) {
  sqlite3_bind_int64(statement_.get(), index, number);
}
void SqliteRows::bind(int index, std::nullptr_t) { sqlite3_bind_null(statement_.get(), index); }

Result<bool> SqliteRows::next() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return database_->failure(sqlite3_stmt_readonly(statement_.get()) != 0 ? "cannot read"
                                                                         : "cannot write");
}

std::string SqliteRows::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}
std::int64_t SqliteRows::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}
bool SqliteRows::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

Result<std::unique_ptr<Sqlite>> Sqlite::open(const std::filesystem::path& file,
                                             std::string_view name, const std::string& schema,
                                             SqliteDurability durability) {
  if (file.has_parent_path()) TRY(make_directories(file.parent_path()));
  sqlite3* opened = nullptr;
  const int code = sqlite3_open(file.c_str(), &opened);
  std::unique_ptr<Sqlite> database(new Sqlite(opened, file, name));
  if (code != SQLITE_OK) return database->failure("cannot open");
  constexpr int wait_for_others_ms = 10'000;
  sqlite3_busy_timeout(opened, wait_for_others_ms);
  const std::string start = fmt::format("PRAGMA journal_mode=WAL; PRAGMA synchronous={};",
                                        durability == SqliteDurability::full ? "FULL" : "NORMAL");
  if (sqlite3_exec(opened, (start + schema).c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return database->failure("cannot use");
  return database;
}

Result<SqliteRows> Sqlite::prepare(const char* statement) const {
  sqlite3_stmt* prepared = nullptr;
  if (sqlite3_prepare_v2(database_.get(), statement, -1, &prepared, nullptr) != SQLITE_OK)
    return failure("cannot use");
  return SqliteRows(*this, prepared);
}

std::int64_t Sqlite::changes() const { return sqlite3_changes(database_.get()); }

tl::unexpected<Error> Sqlite::failure(std::string_view doing) const {
  const int code = sqlite3_errcode(database_.get());
  // SQLite calls a full disk an I/O error where it makes its index of the log.
  const char* advice =
      code == SQLITE_FULL ? "; free some space and start again, nothing stored is lost"
      : code == SQLITE_IOERR
          ? "; see whether the disk is full, and start again, nothing stored is lost"
      : code == SQLITE_NOTADB || code == SQLITE_CORRUPT
          ? "; move the file away, and it is made anew"
          : "";
  return fail("{} {}: {}: {}{}", name_, file_.string(), doing, sqlite3_errmsg(database_.get()),
              advice);
}

Result<SqliteTransaction> SqliteTransaction::begin(const Sqlite& database) {
  TRY(database.run("BEGIN IMMEDIATE"));
  return SqliteTransaction(database);
}

SqliteTransaction::~SqliteTransaction() {
  if (database_ == nullptr) return;
  const auto ignored = database_->run("ROLLBACK");
  static_cast<void>(ignored);
}

Status SqliteTransaction::commit() {
  TRY(database_->run("COMMIT"));
  database_ = nullptr;
  return ok();
}

}  // namespace tritonsmith
