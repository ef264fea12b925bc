#include "serve/assistant/search_store.h"

namespace tritonsmith::serve::assistant {
namespace {

constexpr const char* kSchema = R"(
create table if not exists searches (
  id text primary key,
  owner text not null,
  created_ms integer not null,
  state text not null,
  record text not null
);
create index if not exists by_owner on searches (owner, created_ms);
create table if not exists attempts (
  search text not null,
  number integer not null,
  attempt text not null,
  primary key (search, number)
) without rowid;
create table if not exists events (
  number integer primary key,
  search text not null,
  event text not null
);
create index if not exists events_by_search on events (search);
)";

Result<SearchRecord> record_from_text(const std::string& text) {
  TRY_ASSIGN(const Json json, parse_json(text));
  JsonReader reader(json);
  SearchRecord record{
      .id = reader.string("id"),
      .owner = reader.string("owner", ""),
      .created_ms = reader.integer("created_ms"),
      .state = reader.enumerated<SearchState>("state"),
      .error = reader.string("error", ""),
      .why = reader.string("why", ""),
      .seconds = reader.number("seconds", 0),
      .life = reader.enumerated<SearchLife>("life", SearchLife::in_history),
      .attempts = static_cast<int>(reader.integer("attempts", 0)),
      .kernels = static_cast<int>(reader.integer("kernels", reader.integer("attempts", 0))),
      .accepted = static_cast<int>(reader.integer("accepted", 0)),
      .without_kernel = static_cast<int>(reader.integer("without_kernel", 0)),
      .best = static_cast<int>(reader.integer("best", -1))};
  if (reader.has("best_speedup")) record.best_speedup = reader.number("best_speedup");
  TRY_ASSIGN(record.order, order_from_json(reader.object("order")));
  TRY(reader.status());
  return record;
}

Result<std::vector<SearchRecord>> records_in(SqliteRows& rows) {
  std::vector<SearchRecord> records;
  for (;;) {
    TRY_ASSIGN(const bool more, rows.next());
    if (!more) return records;
    TRY_ASSIGN(SearchRecord record, record_from_text(rows.text(0)));
    records.push_back(std::move(record));
  }
}

}  // namespace

Json to_json(const SearchRecord& record, Detail detail) {
  Json order = to_json(record.order);
  if (detail == Detail::brief) {
    order.erase("source");
    order.erase("kernel");
  }
  return {{"id", record.id},
          {"created_ms", record.created_ms},
          {"state", name_of(record.state)},
          {"error", record.error},
          {"why", record.why},
          {"seconds", record.seconds},
          {"attempts", record.attempts},
          {"kernels", record.kernels},
          {"accepted", record.accepted},
          {"without_kernel", record.without_kernel},
          {"best", record.best < 0 ? Json() : Json(record.best)},
          {"best_speedup", record.best_speedup ? Json(*record.best_speedup) : Json()},
          {"order", std::move(order)}};
}

Result<std::unique_ptr<SearchStore>> SearchStore::open(const std::filesystem::path& file) {
  TRY_ASSIGN(auto database, Sqlite::open(file, "search store", kSchema, SqliteDurability::normal));
  return std::unique_ptr<SearchStore>(new SearchStore(std::move(database)));
}

Result<std::vector<SearchRecord>> SearchStore::unfinished() const {
  const std::lock_guard lock(mutex_);
  TRY_ASSIGN(SqliteRows rows, database_->query("select record from searches where state in "
                                               "('queued', 'running') order by created_ms, id"));
  return records_in(rows);
}

Status SearchStore::put(const SearchRecord& record) {
  Json json = to_json(record, Detail::whole);
  json["owner"] = record.owner;
  json["life"] = name_of(record.life);
  const std::lock_guard lock(mutex_);
  return database_->run("insert or replace into searches values (?, ?, ?, ?, ?)", record.id,
                        record.owner, record.created_ms, name_of(record.state), to_line(json));
}

Status SearchStore::add_attempt(const std::string& search, int number, const Json& attempt) {
  const std::lock_guard lock(mutex_);
  return database_->run("insert or replace into attempts values (?, ?, ?)", search,
                        static_cast<std::int64_t>(number), to_line(attempt));
}

Result<std::optional<SearchRecord>> SearchStore::find(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  TRY_ASSIGN(SqliteRows rows, database_->query("select record from searches where id = ?", id));
  TRY_ASSIGN(const bool found, rows.next());
  if (!found) return std::optional<SearchRecord>();
  TRY_ASSIGN(SearchRecord record, record_from_text(rows.text(0)));
  return std::optional(std::move(record));
}

Result<std::vector<SearchRecord>> SearchStore::list(const std::string& owner, int limit) const {
  const std::lock_guard lock(mutex_);
  TRY_ASSIGN(SqliteRows rows,
             database_->query("select record from searches where owner = ? order by created_ms "
                              "desc, id limit ?",
                              owner, static_cast<std::int64_t>(limit)));
  return records_in(rows);
}

Status SearchStore::add_event(const std::string& search, const Json& event) {
  const std::lock_guard lock(mutex_);
  return database_->run("insert into events (search, event) values (?, ?)", search, to_line(event));
}

Result<std::vector<Json>> SearchStore::events(const std::string& search) const {
  const std::lock_guard lock(mutex_);
  TRY_ASSIGN(SqliteRows rows,
             database_->query("select event from events where search = ? order by number", search));
  std::vector<Json> events;
  for (;;) {
    TRY_ASSIGN(const bool more, rows.next());
    if (!more) return events;
    TRY_ASSIGN(Json event, parse_json(rows.text(0)));
    events.push_back(std::move(event));
  }
}

Result<Json> SearchStore::attempts(const std::string& search, int from) const {
  const std::lock_guard lock(mutex_);
  TRY_ASSIGN(SqliteRows rows, database_->query("select attempt from attempts where search = ? and "
                                               "number >= ? order by number",
                                               search, static_cast<std::int64_t>(from)));
  Json attempts = Json::array();
  for (;;) {
    TRY_ASSIGN(const bool more, rows.next());
    if (!more) return attempts;
    TRY_ASSIGN(Json attempt, parse_json(rows.text(0)));
    attempts.push_back(std::move(attempt));
  }
}

}  // namespace tritonsmith::serve::assistant
