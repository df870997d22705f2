#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fieldcost::ingest {

// What an operator decides about batches, beside who may send them (admission.h) and how long new
// agents are on probation (store::StoreOptions).
struct IngestOptions {
  // Which modules' costs are taken: globs of sonames as fnmatch(3) has them ("libsqlite3.so.*").
  // None: all.
  std::vector<std::string> modules;
  unsigned batches_per_agent_per_hour = 0;  // 0 = no limit
  // Of the room for batches of new agents (store::StoreOptions::held_bytes): what one client
  // address may take of it in a day; 0 = all.
  std::uint64_t held_bytes_per_address = 0;
};

}  // namespace fieldcost::ingest
