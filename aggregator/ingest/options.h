#pragma once

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
};

}  // namespace fieldcost::ingest
