#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/catalog/mirrors.h"
#include "common/catalog/parallel_download.h"
#include "common/http/client.h"

namespace fieldcost::catalog {

struct SyncOptions {
  std::filesystem::path catalog_file;  // created if absent
  std::filesystem::path root_file;     // pinned root metadata, needed for the first sync
  // The service. Its url and proxy are used if there are no mirrors, the rest for each connection.
  http::ClientOptions server;
  std::vector<Mirror> mirrors;                 // tried in random order
  std::size_t connections = kSyncConnections;  // at a time
  std::uint64_t mirror_seed = 0;               // of that order; 0 = drawn
  bool full = false;                           // all stale fragments now, instead of today's share
  std::uint32_t fragments_per_day = 0;         // 0 = a seventh of all, at least 1
  // Fetches only if a refresh is due (refresh_schedule.h), and counts a failure. Contacts the
  // server even if today's share was already fetched.
  bool automatic = false;
  // If not empty, also fetches the fragment of this "soname!symbol", regardless of the schedule.
  std::string wanted_api;
  // If not empty: the snapshot's hash is added to this file (witness.h) once it is verified.
  std::filesystem::path witness_file;
  // Called after every fragment: done, total of this sync. May be empty.
  std::function<void(std::uint32_t, std::uint32_t)> progress;
};

struct SyncReport {
  std::uint64_t snapshot_version = 0;
  std::uint32_t fragments_fetched = 0;
  std::uint32_t fragments_stale = 0;  // left for the following days
  std::uint64_t bytes_fetched = 0;
  std::vector<std::string> skipped_mirrors;  // "https://a.example: why", escaped
  bool already_done_today = false;
  std::uint64_t witnessed_snapshots = 0;  // in the witness file; 0 = there is none
  bool is_new_in_witness = false;         // the current one was added by this sync
  // Automatic only: nothing was tried now, possibly because another process is syncing.
  bool not_due = false;
};

// Fetches and verifies metadata, then stale fragments, each written to the catalogue in its own
// transaction as soon as it is verified, so that an interrupted sync resumes where it stopped.
// The first sync fetches everything, also if it takes several attempts. Later, without `full`,
// fetches the day's share, in an order seeded by this catalogue's own random
// number, and nothing more on the same day (UTC). kUnauthenticated: wrong signature, a version
// lower than one seen before (rollback), expired metadata (freeze), or a fragment whose hash is not
// the snapshot's (mix-and-match). A mirror that fails in any of these ways is skipped; fragments
// may come from several mirrors, since their names are hashes. Nothing unverified is ever stored.
// kIo: too little space on the disk; the existing content remains. kUnavailable also if another
// process is syncing.
//
// A success sets the time of the next automatic refresh. An automatic attempt is recorded as failed
// before the server is contacted, so that one that is killed, or whose outcome cannot be stored on
// a full disk, is not repeated at once.
Result<SyncReport> Sync(const SyncOptions& options, const Clock& clock);

// The time of the next automatic refresh; at or before `now` means that Sync() with `automatic`
// would fetch now. Corrects a time that makes no sense any more, and creates the catalogue if
// absent.
Result<WallTime> NextRefresh(const std::filesystem::path& catalog_file, WallTime now);
// Puts the next refresh off for an hour.
Status PostponeRefresh(const std::filesystem::path& catalog_file, WallTime now);

}  // namespace fieldcost::catalog
