#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/shm/skip_file.h"

namespace fieldcost::runs {

// The agent's side of the skip file, in which programs count why they were not measured.

// The number of runs that should have been measured but were not, for one reason.
struct SkipCount {
  std::string reason;  // a phrase
  std::uint64_t runs = 0;
  shm::Skip skip = shm::Skip::kPolicyUnusable;  // the reason as a number
  bool operator==(const SkipCount&) const = default;
};

// Creates the file at its full size (mode 0600), so that counting needs no more space. A valid file
// is left unchanged, since programs have it mapped.
Status MakeSkipFile(const std::filesystem::path& file);

// Returns the nonzero counts, in the order of shm::Skip; none if there is no valid file.
std::vector<SkipCount> ReadSkips(const std::filesystem::path& file);

// The runs counted since the count was `seen`. The skip file restarts at 0 on each boot.
std::uint64_t CountedSince(std::uint64_t now, std::uint64_t seen);

// Whether such a run would have been selected at random if the machine had been less busy or fewer
// programs had been measured. `fieldcost run` measures it nevertheless, for its user only.
bool WouldHaveBeenSelected(shm::Skip skip);

}  // namespace fieldcost::runs
