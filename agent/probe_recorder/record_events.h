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
  std::filesystem::path points;   // probe.toml; empty: automatic points and those in the source
  std::vector<std::string> tags;
  std::string build;
  bool local = false;
  bool stacks = false;
  std::uint32_t runs = 1;
  std::filesystem::path input;  // the command's standard input in each run; empty: inherited
  std::uint64_t session = 0;    // 0: a random one
};

struct Recorded {
  int status = 0;  // of the first failed run, or 0
  std::uint64_t runs = 0;
  std::uint64_t programs = 0;
  std::uint64_t hits = 0;
  std::uint64_t lost = 0;              // hits that were not stored
  std::vector<std::string> unreached;  // one line per named point that was not passed
  std::string why_not;                 // why nothing was recorded, or empty
  std::set<std::string> unmeasured;    // programs that it started (escaped), and why
  bool goes_on = false;  // some programs are still running: the next collector takes over
};

// Runs the command with the probe library, and collects the hits of its programs. If nothing can be
// stored, because the home directory is missing, full or read-only, the command runs without the
// library; with an explicit session, that is an error. kPermissionDenied: there is neither `local`
// nor consent. REQUIRES: the process has one thread.
Result<Recorded> Record(const settings::AgentPaths& paths, const RecordOptions& options,
                        const Clock& clock);

// Collects the sessions of recorders that have ended, and sends due batches: once, or until there
// is nothing left to wait for. `send_now` ignores the time of the next attempt. Returns the text to
// display.
struct CollectOptions {
  bool once = false;
  bool send_now = false;
};
Result<std::string> Collect(const settings::AgentPaths& paths, const CollectOptions& options,
                            const Clock& clock);

}  // namespace fieldcost::probe
