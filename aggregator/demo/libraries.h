#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/stats/api_key.h"

namespace fieldcost::demo {

// Tables of what the synthetic fleet runs, and values derived from them. The names are those of
// real libraries, the costs are synthetic, and every version is marked as such. Pure, thread-safe.

inline constexpr std::size_t kVersions = 3;  // of each library, oldest first

// Parameters of a function's cost. Octaves are in hundredths.
struct ApiModel {
  std::string_view symbol;
  std::int32_t typical;         // log2 ns of a call on the median machine
  std::int32_t spread;          // deviation between calls of a machine
  std::int32_t between;         // deviation between machines
  std::int32_t input = 0;       // growth with the input: octaves from least to greatest
  unsigned slow_percent = 0;    // bimodal: this percentage of calls is ...
  std::int32_t slow = 0;        // ... slower by this many octaves
  unsigned tail_percent = 0;    // heavy tail: this percentage is slower by 1, 2, 3 ... octaves
  std::int32_t first_call = 0;  // the first call in a run is slower by this many octaves
  std::int32_t allocated = -1;  // log2 bytes allocated per call; -1: none
  std::int32_t disk_read = -1;  // log2 bytes read per slow call; -1: none
};

// A change of wall time and first calls in a version; later versions keep it.
struct PlantedChange {
  std::string_view soname;
  std::string_view symbol;
  std::size_t version;    // index of the first version with the change
  std::uint32_t percent;  // new cost in percent of the old: above 100 a regression
};

struct LibraryModel {
  std::string_view soname;
  std::span<const std::string_view, kVersions> versions;
  std::span<const ApiModel> apis;  // the most frequently called first
};

std::span<const LibraryModel> Libraries();
// Each step to the next version of a library has one regression and one improvement.
std::span<const PlantedChange> PlantedChanges();
// Cost of this version relative to the oldest in percent, accumulated over all changes; 100 if
// nothing was planted.
std::uint32_t CostPercent(const LibraryModel& library, std::size_t version,
                          std::string_view symbol);

// Identical at every call; the build-id is derived from soname and version.
stats::ApiKey KeyOf(const LibraryModel& library, std::size_t version, const ApiModel& api);

struct HardwareModel {
  stats::HardwareClass hardware;
  std::int32_t slower;  // octaves, in hundredths
};
std::span<const HardwareModel> HardwareModels();

}  // namespace fieldcost::demo
