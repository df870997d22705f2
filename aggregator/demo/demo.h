#pragma once

#include <cstdint>
#include <filesystem>

#include "aggregator/demo/fleet.h"
#include "aggregator/publish/publisher.h"
#include "aggregator/store/store.h"
#include "common/base/clock.h"
#include "common/base/result.h"

namespace fieldcost::demo {

inline constexpr std::uint32_t kContributionThreshold = 5;

// What was added to the store: every batch was accepted, and no row was refused.
struct Filled {
  std::uint64_t batches = 0;
  std::uint64_t rows = 0;
};

// Marks the store as synthetic, then sends all of the fleet's measurements through ingest, week by
// week, with its own clock. kInternal if anything was refused.
Result<Filled> Fill(const Fleet& fleet, store::Store& store, const std::filesystem::path& keys_dir);

struct DemoOptions {
  std::filesystem::path directory;  // created; must be empty
  FleetOptions fleet;
  std::filesystem::path profile_file;  // file for ProfileOf(); empty = none
  std::uint16_t port = 0;              // loopback port to serve it on; 0 = one that is free now
};

struct DemoReport {
  Filled filled;
  publish::PublishReport published;
  std::uint16_t port = 0;  // the port in its settings
};

// Fills and publishes a data directory (README.md lists its contents). kInvalidArgument: bad
// options; kAlreadyExists: the directory is not empty, or the port is in use; other errors are the
// store's and the publisher's. `clock` gives the time of the publication.
Result<DemoReport> MakeDemo(const DemoOptions& options, const Clock& clock);

// What one more machine of the fleet has measured in the last weeks, entirely with the newest
// versions: healthy except for PlantedAilments(). A file for `fieldcost check`
// (common/wire/profile.h).
Result<std::string> ProfileOf(const Fleet& fleet);

// The contents of planted.json: what was planted where.
std::string PlantedJson(const FleetOptions& options, const DemoReport& report);

}  // namespace fieldcost::demo
