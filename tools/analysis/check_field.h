#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/stats/anomaly.h"
#include "common/stats/stat_row.h"

namespace fieldcost::analysis {

// Which part of the field one API of a profile is compared with. Numbers are of check.json.
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
  std::vector<std::string> versions;  // of the package, ascending: whose sums these are
  stats::ApiSums sums;                // without what is mine of them, if that is known
  bool own_removed = false;
};

// Chooses the narrowest stratum with enough machines of others in its fullest quarter
// (stats::kLeastMachines), or the one with most of them. `rows`: everything published about the
// symbol and soname of `mine` (whose week does not matter). Of a package version that was built
// several times the very build is meant, or, if nothing is known of that, all of them; other
// versions only if the package's version is not there at all. Rows of all classes or all weeks are
// used where there are any, never both them and single ones. `own`: what the field holds of mine
// (row by row, any week). It is taken out of the sums where all of it can be in them. Pure.
FieldChoice ChooseField(std::span<const stats::StatRow> rows, std::span<const stats::StatRow> own,
                        const stats::RowKey& mine);

}  // namespace fieldcost::analysis
