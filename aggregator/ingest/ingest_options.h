#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fieldcost::ingest {

// The operator's settings for batches, except those for admission (admission.h) and for probation
// (store::StoreOptions).
struct IngestOptions {
  // The service's names, see ServiceNames; without any, nothing is accepted until
  // Ingest::SetNames().
  std::vector<std::string> names;
  // Distinguish this service from others with the same names, see ServiceRoots; extended by
  // Ingest::AddRoots().
  std::vector<std::string> roots = {};
  // Modules whose costs are accepted: globs of sonames as in fnmatch(3) ("libsqlite3.so.*"). Empty:
  // all.
  std::vector<std::string> modules;
  // Also limits withdrawals, separately; 0 = no limit.
  unsigned batches_per_agent_per_hour = 0;
  // Rows of all its batches; a batch that crosses the limit is still accepted. 0 = no limit.
  unsigned rows_per_agent_per_hour = 0;
  // The part of the room for batches of new agents (store::StoreOptions::held_bytes) that one
  // client address may take per day; 0 = all.
  std::uint64_t held_bytes_per_address = 0;
  // Whether the disk has too little room for batches; called for each batch. Empty: never.
  // Thread-safe.
  std::function<bool()> disk_is_full = {};
};

}  // namespace fieldcost::ingest
