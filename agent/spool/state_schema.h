#pragma once

namespace fieldcost::agent {

// The database's version is PRAGMA user_version. Times are microseconds since 1970 UTC.
inline constexpr unsigned kStateSchemaVersion = 7;

// Brings version 1 to 2.
inline constexpr char kStateUpgrade2[] = R"sql(
ALTER TABLE run ADD COLUMN timed_calls INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN untimed_calls INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN dropped_picks INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN refused_cells INTEGER NOT NULL DEFAULT 0;
)sql";

// What version 3 made new: the spool with ids of its own, and texts.
inline constexpr char kStateSchemaSpool[] = R"sql(
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
)sql";

// What version 4 made new: the class under which the batches of an epoch go.
inline constexpr char kStateSchemaClass[] = R"sql(
CREATE TABLE epoch_class (
  epoch INTEGER PRIMARY KEY,
  architecture TEXT NOT NULL,
  cpu_family TEXT NOT NULL,
  log2_cores INTEGER NOT NULL,
  log2_memory_mib INTEGER NOT NULL,
  os_release TEXT NOT NULL
);
)sql";

// New in version 6: when each value was measured, and at whose request.
inline constexpr char kStateSchemaRecent[] = R"sql(
CREATE TABLE recent_row (
  second INTEGER NOT NULL,
  request INTEGER NOT NULL,
  key TEXT NOT NULL,
  is_fielded INTEGER NOT NULL,
  histogram BLOB NOT NULL,
  PRIMARY KEY (second, request, key)
) WITHOUT ROWID;
CREATE INDEX recent_by_request ON recent_row (request) WHERE request != 0;
ALTER TABLE run ADD COLUMN looked_second INTEGER NOT NULL DEFAULT 0;
)sql";
// Rows that an older version counted have no time: recent rows are complete from now on.
inline constexpr char kStateRecentSinceNow[] =
    "INSERT INTO number VALUES ('recent_since', CAST(strftime('%s', 'now') AS INTEGER))";

// What version 7 drops: sums of bytes that older programs counted, which are wrong wherever a
// library calls through a table; metrics 3 to 9, which follow four texts in each key. Batches that
// wait are of such sums.
inline constexpr char kStateDropBytes[] = R"sql(
DELETE FROM local_row WHERE key GLOB '* [3-9] [0-9][0-9][0-9][0-9][0-9][0-9]';
DELETE FROM pending_row WHERE key GLOB '* [3-9] [0-9][0-9][0-9][0-9][0-9][0-9]';
DELETE FROM recent_row WHERE key GLOB '* [3-9] [0-9][0-9][0-9][0-9][0-9][0-9]';
)sql";

// Bring version 2 to 3, before and after kStateSchemaSpool. A batch that waits may have been tried.
inline constexpr char kStateUpgrade3[] = R"sql(
DROP INDEX spool_by_state;
ALTER TABLE spool RENAME TO old_spool;
ALTER TABLE contributed RENAME COLUMN sequence TO batch;
)sql";
inline constexpr char kStateUpgrade3Copy[] = R"sql(
INSERT INTO spool (id, epoch, sequence, state, attempts, rows, created, sent, size_bytes, sha256,
                   reason, body)
  SELECT sequence, epoch, sequence, state, 1, rows, created, sent, size_bytes, sha256, reason, body
  FROM old_spool ORDER BY sequence;
DROP TABLE old_spool;
INSERT OR IGNORE INTO number VALUES ('epoch', 1);
)sql";

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
  refused_cells INTEGER NOT NULL
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
)sql";

}  // namespace fieldcost::agent
