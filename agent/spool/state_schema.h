#pragma once

namespace fieldcost::spool {

// The database's version is PRAGMA user_version. Times are microseconds since 1970 UTC.
inline constexpr unsigned kStateSchemaVersion = 1;

inline constexpr char kStateSchema[] = R"sql(
CREATE TABLE number (
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE run (
  name TEXT PRIMARY KEY,
  inode INTEGER NOT NULL,
  start_unix_ns INTEGER NOT NULL,
  lost_calls INTEGER NOT NULL,
  timed_calls INTEGER NOT NULL,
  untimed_calls INTEGER NOT NULL,
  dropped_picks INTEGER NOT NULL,
  refused_cells INTEGER NOT NULL,
  looked_second INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE run_total (
  name TEXT NOT NULL REFERENCES run(name) ON DELETE CASCADE,
  pick INTEGER NOT NULL,
  metric INTEGER NOT NULL,
  histogram BLOB NOT NULL,
  PRIMARY KEY (name, pick, metric)
) WITHOUT ROWID;

CREATE TABLE local_row (
  key TEXT PRIMARY KEY,
  is_private INTEGER NOT NULL,
  histogram BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE pending_row (
  key TEXT PRIMARY KEY,
  since INTEGER NOT NULL,
  histogram BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE contributed (
  hardware TEXT NOT NULL,
  key TEXT NOT NULL,
  week INTEGER NOT NULL,
  batch INTEGER NOT NULL,
  PRIMARY KEY (hardware, key)
) WITHOUT ROWID;

CREATE TABLE module_version (
  path TEXT PRIMARY KEY,
  inode INTEGER NOT NULL,
  modified_ns INTEGER NOT NULL,
  version TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE spool (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  epoch INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  state INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  rows INTEGER NOT NULL,
  rejected_rows INTEGER NOT NULL DEFAULT 0,
  created INTEGER NOT NULL,
  waited INTEGER NOT NULL DEFAULT 0,
  sent INTEGER NOT NULL DEFAULT 0,
  size_bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  receipt TEXT NOT NULL DEFAULT '',
  reason TEXT NOT NULL DEFAULT '',
  body BLOB NOT NULL,
  UNIQUE (epoch, sequence)
);
CREATE INDEX spool_by_state ON spool (state, id);
CREATE TABLE note (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

-- The class under which the batches of an epoch are sent.
CREATE TABLE epoch_class (
  epoch INTEGER PRIMARY KEY,
  architecture TEXT NOT NULL,
  cpu_family TEXT NOT NULL,
  log2_cores INTEGER NOT NULL,
  log2_memory_mib INTEGER NOT NULL,
  os_release TEXT NOT NULL
);

-- What was measured when, and by whose request.
CREATE TABLE recent_row (
  second INTEGER NOT NULL,
  request INTEGER NOT NULL,
  key TEXT NOT NULL,
  is_fielded INTEGER NOT NULL,
  histogram BLOB NOT NULL,
  PRIMARY KEY (second, request, key)
) WITHOUT ROWID;
CREATE INDEX recent_by_request ON recent_row (request) WHERE request != 0;
)sql";

}  // namespace fieldcost::spool
