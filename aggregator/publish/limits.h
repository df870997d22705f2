#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "common/base/units.h"
#include "common/wire/limits.h"

namespace fieldcost::publish {

// A fragment's compressed size, on average over all of them: outside of [kSmallFragmentBytes,
// kLargeFragmentBytes] the rows are split again, into at most kTargetFragmentBytes each. The gap
// between target and bounds keeps the number of fragments from flapping.
inline constexpr std::size_t kSmallFragmentBytes = 48 * kKiB;
inline constexpr std::size_t kTargetFragmentBytes = 128 * kKiB;
inline constexpr std::size_t kLargeFragmentBytes = 256 * kKiB;
static_assert(kSmallFragmentBytes < kTargetFragmentBytes / 2,
              "halving a fragment at the target must not make it small at once");
static_assert(kLargeFragmentBytes <= wire::kMaxFragmentBytes / 8, "room for uneven hashing");

// Assumed compressed size of a row as long as nothing was published.
inline constexpr double kFirstGuessRowBytes = 120;

// Rows kept in memory at a time while fragments are made.
inline constexpr std::size_t kRowsPerPass = 100'000;

// Rows that wait for their fragment are in this many partitions of a file (2^n), written so much at
// a time: 8 MiB of buffers for each of the two threads that read.
inline constexpr unsigned kSpillBits = 8;
inline constexpr std::size_t kSpillChunkBytes = 32 * kKiB;

// Rows of one fragment: names can be made up; some thousand are usual. Memory: 4 KiB each.
inline constexpr std::size_t kMaxRowsOfFragment = 32'768;

// Rows of each full fragment, and of all together, by which it is found out which agents have
// filled them.
inline constexpr std::size_t kCrowdingSample = 1'024;
inline constexpr std::size_t kMaxCrowdingSample = 4'096;

// Rows with impossible sums of each half of the store by which their agents are found out.
inline constexpr std::size_t kMaxInconsistentRows = 256;

// Snapshots on disk after a publication: the new one and those clients may still be fetching.
inline constexpr std::size_t kKeptSnapshots = 3;

// Hardware classes of which one API and metric has published rows of its own; the others' costs are
// in the sum over all classes only. Classes, too, can be made up.
inline constexpr std::size_t kMaxClassesOfRow = 8;

// After a restoration from a backup it is not known what was published since: versions continue
// this far above the last known one, so that no client that has seen a later one takes it for a
// rollback. One publication a second for eleven days, or one an hour for a century, fit in between.
inline constexpr std::uint64_t kRestoredVersionGap = 1'000'000;

// How long a root is valid. Renewing it needs the offline key.
inline constexpr std::chrono::days kRootLifetime{365};

}  // namespace fieldcost::publish
