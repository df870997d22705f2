#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fieldcost::ingest {

// What an operator decides about batches, beside who may send them (admission.h) and how long new
// agents are on probation (store::StoreOptions).
struct IngestOptions {
  // The service's names, see ServiceNames; without any, nothing is accepted until
  // Ingest::SetNames().
  std::vector<std::string> names;
  // What tells it from others of these names, see ServiceRoots; likewise Ingest::AddRoots().
  std::vector<std::string> roots = {};
  // Modules whose costs are accepted: globs of sonames as in fnmatch(3) ("libsqlite3.so.*"). None:
  // all.
  std::vector<std::string> modules;
  // As many withdrawals are allowed, too; 0 = no limit.
  unsigned batches_per_agent_per_hour = 0;
  // Of its batches, together; a batch that exceeds what is left of it still passes. 0 = no limit.
  unsigned rows_per_agent_per_hour = 0;
  // Part of the room for batches of new agents (store::StoreOptions::held_bytes): what one client
  // address may take of it in a day; 0 = all.
  std::uint64_t held_bytes_per_address = 0;
  // Whether there is too little room for batches, called for each; empty: never. Thread-safe.
  std::function<bool()> disk_is_full = {};
};

}  // namespace fieldcost::ingest
