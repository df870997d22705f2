#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "aggregator/store/retention.h"
#include "common/stats/uint128.h"

namespace fieldcost::ingest {

// What one row of one batch may claim. A real week stays far below; sums of 2^24 such rows still
// fit their 128 bits, so no sender can make a stored row overflow.
inline constexpr std::uint64_t kMaxRowCalls = std::uint64_t{1} << 40;
inline constexpr stats::Uint128 kMaxRowSumOfSquares = stats::Uint128{1} << 104;
// The same for time_per_run, of which 2^16 rows fit.
inline constexpr stats::Uint128 kMaxRunsSumOfSquares = stats::Uint128{1} << 112;

// How much can happen on a machine in the week that a row speaks of, all programs together. An
// agent measures one call at a time on a thread, so these hold for the rows of a batch together,
// too: for each metric and week. A class names the power of two below the number of cores, so twice
// that is assumed.
inline constexpr std::uint64_t kWeekSeconds = 7 * 86'400;
// Threads that wait in a call count as well as those that compute, and a server may have thousands.
inline constexpr std::uint64_t kMaxThreadsPerCore = 4096;
// Time stamp counters tick at up to about 5 GHz.
inline constexpr std::uint64_t kMaxTicksPerNs = 8;
// A call takes at least a cycle.
inline constexpr std::uint64_t kMaxCallsPerSecondPerCore = 8'000'000'000;
// Starting a process takes about half a millisecond of a core.
inline constexpr std::uint64_t kMaxRunsPerSecondPerCore = 10'000;
// A timed call stands for at most so many: shm::kMaxSamplingLog2.
inline constexpr std::uint64_t kMostCallsStoodFor = std::uint64_t{1} << 14;
// A measured run stands for at most so many: its draw had a chance of 2^-24 at least.
inline constexpr std::uint64_t kMostRunsStoodFor = std::uint64_t{1} << 24;
// Allocated memory need not be touched, so this is far above the speed of memory, and far below
// nonsense.
inline constexpr std::uint64_t kMaxAllocatedPerSecondPerCore = std::uint64_t{1} << 40;
// Files in the page cache and loopback sockets are copied at the speed of memory.
inline constexpr std::uint64_t kMaxTransferredPerSecondPerCore = std::uint64_t{1} << 36;
// One call: as long as a process may have been running ...
inline constexpr std::uint64_t kMaxCallNs = 52 * std::uint64_t{86'400} * 1'000'000'000;
// ... or one allocation: more than the address space of a process on any machine we know.
inline constexpr std::uint64_t kMaxAllocationBytes = std::uint64_t{1} << 57;

// Rows are accepted from this many weeks before the server's to the week that it is kClockSkew from
// now, epochs from so many before the current one to that of the last of these weeks. The store's
// retention uses the same numbers.
inline constexpr std::uint32_t kWeeksBack = 5;
inline constexpr std::uint32_t kWeeksAhead = store::kWeeksAhead;
// How far an agent's clock may be ahead. No week gives an agent another contribution, so this
// tolerance is no advantage.
inline constexpr std::chrono::hours kClockSkew{24};
static_assert(kClockSkew <= kWeeksAhead * std::chrono::weeks(1));
// Rows of an agent are accepted from this many weeks before its first batch: as long as an agent
// keeps what it could not send (21 days), since its first batch may be late. No advantage, either.
inline constexpr std::uint32_t kWeeksBeforeFirstBatch = 3;
inline constexpr std::uint32_t kEpochsAround = store::kEpochsAround;
static_assert(kWeeksBack < store::kWeeksPerEpoch, "a row's epoch is accepted as long as its week");

// Row keys (without week and class) to which an agent may contribute altogether: more than the
// functions that its picks can reach in a quarter ...
inline constexpr std::size_t kMaxContributions = 65'536;
// ... and in its first week, and once more for each further week since its first batch: some 1,600
// functions with five metrics each. So a new agent cannot name tens of thousands at once.
inline constexpr std::size_t kMaxContributionsPerWeekOfHistory = 8'192;

// Agents that can be in the middle of a batch at the same time, at most.
inline constexpr std::size_t kAgentStripes = 256;

// Agents whose batches are counted at the same time.
inline constexpr std::size_t kMaxCountedAgents = 65'536;

// Addresses whose share of the room for new agents' batches is counted at the same time.
inline constexpr std::size_t kMaxCountedAddresses = 65'536;

// Lines an hour about agents that misbehave.
inline constexpr std::size_t kMaxAbuseEvents = 1'000;

// When a sender is to try again if the server has no room for its batch.
inline constexpr unsigned kRetryAfterSeconds = 30;

// When an agent is to try again that withdraws too many batches that never arrived.
inline constexpr std::chrono::seconds kUndeliveredRetryAfter = std::chrono::days(1);

inline constexpr std::size_t kSecretBytes = 32;

}  // namespace fieldcost::ingest
