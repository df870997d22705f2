#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/shm/skip_file.h"

namespace fieldcost::agent {

// The skip file of common/shm/skip_file.h, in which programs count why they were not measured.

// Why runs that were to be measured were not.
struct SkipCount {
  std::string reason;  // a phrase
  std::uint64_t runs = 0;
  shm::Skip skip = shm::Skip::kPolicyUnusable;  // the same as a number
  bool operator==(const SkipCount&) const = default;
};

// Creates it at its full size (mode 0600), so that counting needs no more space; a valid one is
// left unchanged, since programs have it mapped.
Status MakeSkipFile(const std::filesystem::path& file);

// Its non-zero counts, in the order of shm::Skip; none if there is no valid file.
std::vector<SkipCount> ReadSkips(const std::filesystem::path& file);

// Whether such a run would have been selected at random, if the machine had been less busy, or less
// had been measured. `fieldcost run` measures it all the same, for its user only.
bool WouldHaveBeenSelected(shm::Skip skip);

}  // namespace fieldcost::agent
