#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "aggregator/store/retention_rules.h"
#include "common/stats/uint128.h"

namespace fieldcost::ingest {

// Limits on the claims of one row of a batch. A real week stays far below them.
inline constexpr std::uint64_t kMaxRowCalls = std::uint64_t{1} << 40;
inline constexpr stats::Uint128 kMaxRowSumOfSquares = stats::Uint128{1} << 104;
// The same for time_per_run.
inline constexpr stats::Uint128 kMaxRunsSumOfSquares = stats::Uint128{1} << 112;

// Why no number of agents and rows makes a stored row overflow:
// - Rows up to kSmallRowCalls calls and kSmallRowSquares of squares are always added. For one row
//   key (which has one week) rows are accepted for at most eight weeks, 4.9e6 seconds, one per
//   batch. To fill half of the calls, 2^62, takes 2^38 such rows: 56,000 batches per second for one
//   key, while a server checks and syncs some thousands in all; for the squares 2^46 rows.
// - A larger row may take at most 2^-kRoomShareBits of what the stored row has left of kCallsRoom
//   and kSquaresRoom. So the remainder shrinks but never ends. Rows not stored yet are those of
//   batches that are being handled (kAgentStripes) or held (`[ingest] held_mib` with 1 KiB each,
//   2^18 by default): together less than 2^-3 of the room.
//
// Hence a stored row has at most 2^62 + 2^62 + 2^59 < 2^64 calls and 2^126 + 2^126 + 2^123 < 2^128
// of squares. Sums stay below both: the sum of a row is below 2^90, given week, cores and threads.
inline constexpr std::uint64_t kSmallRowCalls = std::uint64_t{1} << 24;
inline constexpr stats::Uint128 kSmallRowSquares = stats::Uint128{1} << 80;
inline constexpr std::uint64_t kCallsRoom = std::uint64_t{1} << 62;
inline constexpr stats::Uint128 kSquaresRoom = stats::Uint128{1} << 126;
inline constexpr unsigned kRoomShareBits = 21;

// What can happen on a machine in the week of a row, over all programs. An agent measures one call
// at a time on each thread, so these limits also hold for all rows of a batch together, per metric
// and week. A class names the power of two below the number of cores, so twice that is assumed.
inline constexpr std::uint64_t kWeekSeconds = 7 * 86'400;
// Threads that wait in a call count like running ones, and a server may have thousands.
inline constexpr std::uint64_t kMaxThreadsPerCore = 4096;
// Time stamp counters run at up to about 5 GHz.
inline constexpr std::uint64_t kMaxTicksPerNs = 8;
// A call takes at least a cycle.
inline constexpr std::uint64_t kMaxCallsPerSecondPerCore = 8'000'000'000;
// Starting a process takes about half a millisecond of a core.
inline constexpr std::uint64_t kMaxRunsPerSecondPerCore = 10'000;
// A timed call represents at most this many calls: shm::kMaxSamplingLog2.
inline constexpr std::uint64_t kMostCallsStoodFor = std::uint64_t{1} << 14;
// A measured run represents at most this many runs: it was drawn with a probability of at least
// 2^-24.
inline constexpr std::uint64_t kMostRunsStoodFor = std::uint64_t{1} << 24;
// Allocated memory need not be touched, so this is far above the bandwidth of memory, but still
// excludes nonsense.
inline constexpr std::uint64_t kMaxAllocatedPerSecondPerCore = std::uint64_t{1} << 40;
// Files in the page cache and loopback sockets are copied at the bandwidth of memory.
inline constexpr std::uint64_t kMaxTransferredPerSecondPerCore = std::uint64_t{1} << 36;
// The longest call: as long as a process may have been running ...
inline constexpr std::uint64_t kMaxCallNs = 52 * std::uint64_t{86'400} * 1'000'000'000;
// ... and the largest allocation: more than a process's address space on any machine we know.
inline constexpr std::uint64_t kMaxAllocationBytes = std::uint64_t{1} << 57;

// Rows are accepted from this many weeks before the server's week to the week in kClockSkew from
// now; epochs are accepted from this many before the current one to that of the last of these
// weeks. The store's retention uses the same numbers.
inline constexpr std::uint32_t kWeeksBack = 5;
inline constexpr std::uint32_t kWeeksAhead = store::kWeeksAhead;
// How far an agent's clock may be ahead. An agent gains nothing from this tolerance, since no week
// gives it another contribution.
inline constexpr std::chrono::hours kClockSkew{24};
static_assert(kClockSkew <= kWeeksAhead * std::chrono::weeks(1));
// Rows of an agent are accepted from this many weeks before its first batch, which may be late: an
// agent keeps unsent data this long (21 days). Again, an agent gains nothing from this.
inline constexpr std::uint32_t kWeeksBeforeFirstBatch = 3;
inline constexpr std::uint32_t kEpochsAround = store::kEpochsAround;
static_assert(kWeeksBack < store::kWeeksPerEpoch, "a row's epoch is accepted as long as its week");

// Maximum number of row keys (without week and class) to which an agent contributes in total: more
// than the functions that its picks can reach in a quarter ...
inline constexpr std::size_t kMaxContributions = 65'536;
// ... and in its first week, and additionally in each further week: about 3,200 functions with five
// metrics each. So a new agent cannot name tens of thousands at once.
inline constexpr std::size_t kMaxContributionsPerWeekOfHistory = 16'384;

// A batch uses up one of IngestOptions::rows_per_agent_per_hour per row, but at least one per this
// many decompressed bytes: a row of an honest batch has 114 bytes on average, and a row with many
// buckets costs as much as several.
inline constexpr std::size_t kBytesOfARow = 128;

// Maximum number of agents with a batch in progress.
inline constexpr std::size_t kAgentStripes = 256;

// Maximum number of agents whose batches are counted.
inline constexpr std::size_t kMaxCountedAgents = 65'536;

// Maximum number of addresses whose share of the room for new agents' batches is counted.
inline constexpr std::size_t kMaxCountedAddresses = 65'536;

// Lines in the abuse log per hour.
inline constexpr std::size_t kMaxAbuseEvents = 1'000;

// When a sender should retry if the server has no room for its batch.
inline constexpr unsigned kRetryAfterSeconds = 30;

// When an agent should retry that withdraws too many batches that never arrived.
inline constexpr std::chrono::seconds kUndeliveredRetryAfter = std::chrono::days(1);

inline constexpr std::size_t kSecretBytes = 32;

}  // namespace fieldcost::ingest
