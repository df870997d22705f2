#pragma once

namespace fieldcost::admin {

// Requests to the loopback listener, in addition to those of common/serve/health.h. Plain HTTP: it
// never listens elsewhere.
//
// POST with "Authorization: Bearer TOKEN", a token from one of the configured files; 401 otherwise.
// Bodies and responses are JSON objects; errors are {"error": code, "message": ...} as everywhere
// (http::JsonError). Each request is answered when its operation is done; concurrent requests for
// the same operation wait for their turn.
inline constexpr char kPublishPath[] = "/v1/publish";        // -> version, rows, withheld, ...
inline constexpr char kCheckpointPath[] = "/v1/checkpoint";  // -> sequence
inline constexpr char kCompactPath[] = "/v1/compact";        // -> {}
// {"directory": absolute path, "without_signing_keys": false by default} -> sequence
inline constexpr char kBackupPath[] = "/v1/backup";
// -> ok, problem, sequence, batches, rows, contributions, held_batches, invalid, saturated
inline constexpr char kVerifyPath[] = "/v1/verify";
// {"before": the first week whose rows stay, counted from 1970-01-01; "yes": false by default} ->
// rows, ledger_entries, held_batches, kept_batches; without "yes" nothing is changed, and the
// response also has rows_left, oldest_week and newest_week (of the rows to be removed)
inline constexpr char kExpirePath[] = "/v1/expire";
// {"agent": a name of the log, or 64 hex; "withdraw", "dry_run": false by default}
//   -> the report of ingest/revocation.h
inline constexpr char kRevokePath[] = "/v1/revoke";
// {"uses": agents, "days": for the first, "label": text} -> token, name, expires
inline constexpr char kInvitePath[] = "/v1/invite";
inline constexpr char kInvitationsPath[] = "/v1/invitations";  // -> invitations: one text each
inline constexpr char kUninvitePath[] = "/v1/uninvite";        // {"name": of an invitation} -> {}
inline constexpr char kReloadPath[] = "/v1/reload";            // certificate, tokens -> {}

}  // namespace fieldcost::admin
