#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "common/base/units.h"
#include "common/wire/wire_limits.h"

namespace fieldcost::publish {

// Bounds of the average compressed size of a fragment. If it leaves [kSmallFragmentBytes,
// kLargeFragmentBytes], the rows are split again, into fragments of at most kTargetFragmentBytes.
// The gap between target and bounds keeps the number of fragments from flapping.
inline constexpr std::size_t kSmallFragmentBytes = 48 * kKiB;
inline constexpr std::size_t kTargetFragmentBytes = 128 * kKiB;
inline constexpr std::size_t kLargeFragmentBytes = 256 * kKiB;
static_assert(kSmallFragmentBytes < kTargetFragmentBytes / 2,
              "halving a fragment at the target must not make it small at once");
static_assert(kLargeFragmentBytes <= wire::kMaxFragmentBytes / 8, "room for uneven hashing");

// Assumed compressed size of a row before the first publication.
inline constexpr double kFirstGuessRowBytes = 120;

// Rows in memory at a time while fragments are written.
inline constexpr std::size_t kRowsPerPass = 100'000;

// Rows that wait for their fragment are in 2^n partitions of a file, which is written in chunks of
// this size: 8 MiB of buffers for each of the two reading threads.
inline constexpr unsigned kSpillBits = 8;
inline constexpr std::size_t kSpillChunkBytes = 32 * kKiB;

// Maximum rows per fragment. A few thousand are usual, but agents can invent names. Each takes 4
// KiB of memory.
inline constexpr std::size_t kMaxRowsOfFragment = 32'768;

// Rows examined to find out which agents have filled the fragments: per full fragment, and in
// total.
inline constexpr std::size_t kCrowdingSample = 1'024;
inline constexpr std::size_t kMaxCrowdingSample = 4'096;

// Maximum number of rows with impossible sums, in each half of the store, for which agents are
// looked up.
inline constexpr std::size_t kMaxInconsistentRows = 256;

// Snapshots on disk after a publication: the new one, and older ones that clients may be fetching.
inline constexpr std::size_t kKeptSnapshots = 3;

// Maximum number of hardware classes for which an API and metric has published rows. Costs of other
// classes are only in the sum over all classes. Agents can also invent classes.
inline constexpr std::size_t kMaxClassesOfRow = 8;

// After a restore from a backup it is unknown what was published since, so versions continue this
// far above the last known one. Otherwise, clients that have seen later versions would mistake them
// for a rollback. The gap has room for one publication per second for eleven days, or one per hour
// for a century.
inline constexpr std::uint64_t kRestoredVersionGap = 1'000'000;

// How long a root is valid. Renewing it needs the offline key.
inline constexpr std::chrono::days kRootLifetime{365};

}  // namespace fieldcost::publish
