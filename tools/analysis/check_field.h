#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/inference/anomaly.h"
#include "common/stats/stat_row.h"

namespace fieldcost::analysis {

// The part of the field that an API of a profile is compared with. The values occur in check.json.
enum class Stratum {
  kNone = 0,           // the catalogue does not know the API
  kSameClass = 1,      // the same version, machines of the same hardware class
  kAllClasses = 2,     // the same version, all machines
  kOtherVersions = 3,  // other versions, all machines
};
// "same version, same hardware class", "same version, all hardware classes", "other versions, all
// hardware classes", "not in the catalogue".
std::string_view Name(Stratum stratum);

struct FieldChoice {
  Stratum stratum = Stratum::kNone;
  std::vector<std::string> versions;  // package versions covered by the sums, ascending
  stats::ApiSums sums;                // without the machine's own share, if known
  bool own_removed = false;
};

// Chooses the narrowest stratum with enough other machines in its fullest quarter
// (inference::kFieldThresholds.least_machines), or the one with the most. `rows`: everything
// published about the symbol and soname of `mine` (whose week does not matter). If a package
// version was built several times, uses the same build, or all builds if the field does not have
// it; uses other versions only if the package version is missing altogether. Prefers rows over all
// classes or all weeks, and never mixes them with single ones. `own`: the machine's own share of
// the field (row by row, any week); it is subtracted from sums that can contain all of it. Pure.
FieldChoice ChooseField(std::span<const stats::StatRow> rows, std::span<const stats::StatRow> own,
                        const stats::RowKey& mine);

}  // namespace fieldcost::analysis
