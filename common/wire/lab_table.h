#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/stats/shape.h"
#include "common/stats/stat_row.h"

namespace fieldcost::wire {

// The results of `fieldcost measure` for one scenario or several: a file that stays with the user,
// is read by all reading commands, and is merged by addition (USER_FILES.md). Pure functions,
// thread-safe.

// The total over all calls of an API in a run of a scenario: the least and most of its counted
// runs, equal if every run does the same. Totals of several measurements are added.
struct LabTotal {
  stats::Metric metric = stats::Metric::kCallsPerRun;
  std::uint64_t least = 0;
  std::uint64_t most = 0;  // at least `least`
  bool operator==(const LabTotal&) const = default;
};

// A table's data about an API in addition to its rows. Sums over all runs.
struct LabApi {
  stats::ApiKey api;
  bool is_own = false;  // of a library that is not public, or of the program itself
  // In the first counted run that called it, exactly, inner calls of recursions too.
  std::uint64_t calls = 0;
  stats::LogSums log_cost;                      // ns of all timed calls
  std::vector<stats::ShapeArgument> arguments;  // ascending by number, each at most once
  std::uint64_t first_call_bytes = 0;           // allocated by the processes' first calls
  std::uint64_t other_bytes = 0;                // and by all others
  // Ascending by metric: kAllocInclusive, kDiskRead .. kNetSent, kCallsPerRun, each at most once.
  // A missing metric is unknown.
  std::vector<LabTotal> totals;
  bool operator==(const LabApi&) const = default;
};

// A node of the tree of APIs that called each other, of all threads together.
struct LabStack {
  static constexpr std::uint32_t kRoot = ~std::uint32_t{0};
  std::uint32_t parent = kRoot;  // index of an earlier node
  std::uint32_t api = 0;         // index into LabTable::apis
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;  // allocated while it was the innermost
  bool operator==(const LabStack&) const = default;
};

// One measurement that is in the table.
struct LabPart {
  std::string content_hash;  // 64 hex digits: SHA-256 of its own table, as it was without parts
  std::string name;          // given by the user, else the command; printable
  std::uint64_t seed = 0;
  std::uint32_t rounds = 0;        // finished ones
  std::uint32_t runs = 0;          // accepted
  std::uint32_t left_out = 0;      // discarded runs
  std::int64_t started_us = 0;     // microseconds since 1970-01-01 UTC
  std::string environment;         // kernel, CPU governor and the like; printable
  std::uint32_t counted_runs = 0;  // in which calls and bytes were counted
  std::string apis;                // globs of the APIs that were measured; empty = all; printable
  bool operator==(const LabPart&) const = default;
};

struct LabTable {
  // Ascending by key, of week 0: times (contribution = run of the scenario), bytes, calls per run,
  // first calls. Weights, bounded sums and fullest quarter are empty.
  // Of the machine's class; each has calls, and from 1 to as many contributions.
  std::vector<stats::StatRow> rows;
  std::vector<LabApi> apis;  // ascending by key; every row's API is one of them
  // Depth first: a node, then all that is below it; siblings ascending by API, each once. At most
  // kMaxStackFrames deep. SortStacks() brings them into this order.
  std::vector<LabStack> stacks;
  // Indices (outer, inner): the second was entered before the first returned, on one thread.
  // Ascending, each once.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  std::vector<LabPart> parts;  // ascending by hash, each once
  bool operator==(const LabTable&) const = default;
};

// Suffix of a lab file's name.
inline constexpr char kLabTableSuffix[] = ".lab";

// Deterministic: equal tables, equal bytes. A table of one measurement gets its only part's
// `content_hash` from ContentHash(). kInvalidArgument if it is not valid or has no part, kTooLarge
// beyond the limits (limits.h).
Result<std::string> EncodeLabTable(const LabTable& table);
// kCorrupt unless it is as LabTable and its members describe, kTooLarge beyond the limits,
// kUnsupported if it is of a later version.
Result<LabTable> DecodeLabTable(std::string_view untrusted_bytes);
// Whether a file begins like a lab table, so that commands can distinguish it from other inputs.
bool LooksLikeLabTable(std::string_view untrusted_bytes);

// The table without its parts, hashed. kInvalidArgument if it is not valid.
Result<std::string> ContentHash(const LabTable& table);

// kCorrupt, with the reason, or kTooLarge unless the table is as described above; parts may be
// missing.
Status Validate(const LabTable& untrusted_table);

// Brings nodes into LabTable's order and adds up siblings of one API. REQUIRES: each node's parent
// is an earlier one, or kRoot.
std::vector<LabStack> SortStacks(const std::vector<LabStack>& stacks);

// The sum: rows, APIs and stacks are added, pairs and parts united; the same bits in any order and
// grouping. Counters saturate. kInvalidArgument if a table is invalid, or if a part is in two of
// them (the message names it); kTooLarge if the sum exceeds a limit or the range of sums.
Result<LabTable> MergeLabTables(std::span<const LabTable> tables);

}  // namespace fieldcost::wire
