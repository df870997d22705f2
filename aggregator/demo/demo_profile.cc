// Makes the profile of one ailing machine of the synthetic fleet: ProfileOf() of demo.h.
#include "common/wire/profile.h"

#include <array>
#include <vector>

#include "aggregator/demo/demo.h"

namespace fieldcost::demo {
namespace {

constexpr std::uint32_t kProfileWeeks = 3;  // by then every machine has the newest versions

constexpr std::array kAilments = {
    Ailment{.soname = "libsqlite3.so.0", .symbol = "sqlite3_bind_text", .percent = 250},
    Ailment{.soname = "libz.so.1", .symbol = "adler32", .percent = 250},
};

}  // namespace

std::span<const Ailment> PlantedAilments() { return kAilments; }

Result<std::string> ProfileOf(const Fleet& fleet) {
  std::vector<stats::StatRow> rows;
  const FleetOptions& options = fleet.options();
  for (std::uint32_t week = options.last_week - kProfileWeeks + 1; week <= options.last_week;
       ++week) {
    const wire::BatchContent content = fleet.BatchOf(options.agents, week, PlantedAilments());
    for (const wire::BatchRow& row : content.rows) {
      rows.push_back({.key = {.api = row.api,
                              .metric = row.metric,
                              .hardware = content.hardware,
                              .week = week},
                      .histogram = row.histogram,
                      .scalars = {}});
    }
  }
  return wire::EncodeProfile(rows);
}

}  // namespace fieldcost::demo
