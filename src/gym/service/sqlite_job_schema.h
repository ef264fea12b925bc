// Defines the tables of a SqliteJobStore.
#pragma once

namespace tritonsmith::gym::service {

// `run`: the run of the program that concluded it; `final`: its verdict is no infrastructure fault.
// wanted.event: the number under which the client gets the verdict, NULL until there is one.
// owners: who first submitted an unfinished job, where that somebody has a name.
// A queued job that has a verdict is in doubt (gpu_records.h).
inline constexpr const char* kJobSchema = R"(
CREATE TABLE IF NOT EXISTS jobs (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, state TEXT NOT NULL,
  priority INTEGER NOT NULL, deadline_ms INTEGER NOT NULL, submitted_ms INTEGER NOT NULL,
  finished_ms INTEGER NOT NULL DEFAULT 0, run INTEGER NOT NULL DEFAULT 0,
  final INTEGER NOT NULL DEFAULT 0, submission TEXT NOT NULL, verdict TEXT NOT NULL DEFAULT '');
CREATE INDEX IF NOT EXISTS jobs_by_state ON jobs (state, finished_ms);
CREATE TABLE IF NOT EXISTS wanted (
  client TEXT NOT NULL, job TEXT NOT NULL, event INTEGER, PRIMARY KEY (client, job)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS wanted_by_event ON wanted (client, event);
CREATE INDEX IF NOT EXISTS wanted_by_job ON wanted (job);
CREATE TABLE IF NOT EXISTS aliases (alias TEXT PRIMARY KEY, job TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS aliases_by_job ON aliases (job);
CREATE TABLE IF NOT EXISTS owners (job TEXT PRIMARY KEY, owner TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
INSERT OR IGNORE INTO facts VALUES ('run', 0), ('last_event', 0);
)";

}  // namespace tritonsmith::gym::service
