#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "agent/settings/paths.h"
#include "common/base/clock.h"
#include "common/base/result.h"

namespace fieldcost::probe {

struct RecordOptions {
  std::vector<std::string> command;
  std::filesystem::path library;  // libfieldcost_probe.so
  std::filesystem::path points;   // probe.toml; empty: automatic points and those of the source
  std::vector<std::string> tags;
  std::string build;
  bool local = false;
  bool stacks = false;
  std::uint32_t runs = 1;
  std::filesystem::path input;  // the command's standard input in each run; empty: ours
  std::uint64_t session = 0;    // its id; 0: a random one
};

struct Recorded {
  int status = 0;  // of the first run that failed, else 0
  std::uint64_t runs = 0;
  std::uint64_t programs = 0;
  std::uint64_t hits = 0;
  std::uint64_t lost = 0;              // points that were not kept
  std::vector<std::string> unreached;  // a line for each named point that was not passed
  std::string why_not;                 // why nothing was recorded; else empty
  std::set<std::string> unmeasured;    // programs, escaped, that it started, and why
  bool goes_on = false;                // some programs still run: the next collector takes over
};

// Runs the command with the probe library, and collects what its programs pass. Where nothing can
// be kept, because the home is missing, full or read-only, the command runs without the library;
// with a session that was named, that is an error. kPermissionDenied: neither local nor consent.
// REQUIRES: one thread.
Result<Recorded> Record(const agent::AgentPaths& paths, const RecordOptions& options,
                        const Clock& clock);

// Collects what recorders that are gone have left, and sends what is due: once, or until there is
// nothing left to wait for. `send_now`: whatever the time of the next try. Returns what it says.
struct CollectOptions {
  bool once = false;
  bool send_now = false;
};
Result<std::string> Collect(const agent::AgentPaths& paths, const CollectOptions& options,
                            const Clock& clock);

}  // namespace fieldcost::probe
