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

// The data added to the store. All batches were accepted, and no rows were refused.
struct Filled {
  std::uint64_t batches = 0;
  std::uint64_t rows = 0;
};

// Marks the store as synthetic, then sends all measurements of the fleet through ingest, week by
// week, with its own clock. kInternal if anything was refused.
Result<Filled> Fill(const Fleet& fleet, store::Store& store, const std::filesystem::path& keys_dir);

struct DemoOptions {
  std::filesystem::path directory;  // created; must be empty
  FleetOptions fleet;
  std::filesystem::path profile_file;  // file for ProfileOf(); empty = none
  std::uint16_t port = 0;              // loopback port for serving it; 0 = one that is free now
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

// The measurements of one more machine of the fleet in the last weeks, all with the newest
// versions. Healthy except for PlantedAilments(). A file for `fieldcost check`
// (common/wire/profile.h).
Result<std::string> ProfileOf(const Fleet& fleet);

// The contents of planted.json: a list of everything that was planted.
std::string PlantedJson(const FleetOptions& options, const DemoReport& report);

}  // namespace fieldcost::demo
