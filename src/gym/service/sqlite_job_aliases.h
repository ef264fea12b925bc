// SqliteJobAliases: the JobAliases of a SqliteJobStore, in its file.
#pragma once

#include <mutex>

#include "base/sqlite.h"
#include "gym/service/job_aliases.h"

namespace tritonsmith::gym::service {

class SqliteJobAliases : public JobAliases {
 public:
  SqliteJobAliases(const Sqlite& database, std::mutex& mutex)
      : database_(database), mutex_(mutex) {}

  Status remember(const std::string& alias, const std::string& name) override {
    const std::lock_guard lock(mutex_);
    return database_.run("INSERT OR REPLACE INTO aliases VALUES (?, ?)", alias, name);
  }

  Result<std::string> find(const std::string& alias) override {
    const std::lock_guard lock(mutex_);
    TRY_ASSIGN(auto row, database_.query("SELECT job FROM aliases WHERE alias = ?", alias));
    TRY_ASSIGN(const bool found, row.next());
    return found ? row.text(0) : std::string();
  }

 private:
  const Sqlite& database_;
  std::mutex& mutex_;  // guards the database
};

}  // namespace tritonsmith::gym::service
