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

// What was put into the store: every batch was accepted, and no row refused.
struct Filled {
  std::uint64_t batches = 0;
  std::uint64_t rows = 0;
};

// Marks the store as synthetic, then sends all that the fleet measured through ingest, week by
// week, with a clock of its own. kInternal if anything was refused.
Result<Filled> Fill(const Fleet& fleet, store::Store& store, const std::filesystem::path& keys_dir);

struct DemoOptions {
  std::filesystem::path directory;  // made; must be empty
  FleetOptions fleet;
  std::filesystem::path profile_file;  // where ProfileOf() goes; empty = nowhere
  std::uint16_t port = 0;              // of loopback, to serve it at; 0 = one that is free now
};

struct DemoReport {
  Filled filled;
  publish::PublishReport published;
  std::uint16_t port = 0;  // the one in its settings
};

// Fills and publishes a data directory (README.md says what is in it). kInvalidArgument: bad
// options; kAlreadyExists: the directory is not empty, or the port in use; others are the store's
// and publisher's. `clock` says when it was published.
Result<DemoReport> MakeDemo(const DemoOptions& options, const Clock& clock);

// What one more machine of the fleet has measured in the last weeks, all with the newest versions:
// healthy but for PlantedAilments(). A file for `fieldcost check` (common/wire/profile.h).
Result<std::string> ProfileOf(const Fleet& fleet);

// The content of planted.json: what was planted where.
std::string PlantedJson(const FleetOptions& options, const DemoReport& report);

}  // namespace fieldcost::demo
