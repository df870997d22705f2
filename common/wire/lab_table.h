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

// The results of `fieldcost measure` for one or more scenarios. The file stays with the user, is
// read by all reading commands, and is merged by addition (USER_FILES.md). Pure functions,
// thread-safe.

// The total over all calls of an API in a run of a scenario: the minimum and maximum over the
// counted runs, which are equal if every run does the same. Totals of several measurements are
// added.
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
  // The exact number in the first counted run that called it, including inner calls of recursions.
  std::uint64_t calls = 0;
  stats::LogSums log_cost;                      // ns of all timed calls
  std::vector<stats::ShapeArgument> arguments;  // ascending by number, each at most once
  std::uint64_t first_call_bytes = 0;           // allocated by the processes' first calls
  std::uint64_t other_bytes = 0;                // ... and by all other calls
  // Ascending by metric: kAllocInclusive, kDiskRead .. kNetSent, kCallsPerRun, each at most once.
  // A missing metric is unknown.
  std::vector<LabTotal> totals;
  bool operator==(const LabApi&) const = default;
};

// A node of the tree of APIs that called each other, merged over all threads.
struct LabStack {
  static constexpr std::uint32_t kRoot = ~std::uint32_t{0};
  std::uint32_t parent = kRoot;  // index of an earlier node
  std::uint32_t api = 0;         // index into LabTable::apis
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;  // allocated while it was the innermost
  bool operator==(const LabStack&) const = default;
};

// One measurement contained in the table.
struct LabPart {
  std::string content_hash;  // 64 hex digits: SHA-256 of its original table without parts
  std::string name;          // given by the user, otherwise the command; printable
  std::uint64_t seed = 0;
  std::uint32_t rounds = 0;        // completed
  std::uint32_t runs = 0;          // accepted
  std::uint32_t left_out = 0;      // discarded runs
  std::int64_t started_us = 0;     // microseconds since 1970-01-01 UTC
  std::string environment;         // kernel, CPU governor and the like; printable
  std::uint32_t counted_runs = 0;  // in which calls and bytes were counted
  std::string apis;                // globs of the measured APIs; empty = all; printable
  bool operator==(const LabPart&) const = default;
};

struct LabTable {
  // Ascending by key, for week 0 and the machine's class: times (contribution = run of the
  // scenario), bytes, calls per run, first calls. Weights, bounded sums and fullest quarter are
  // empty. Each row has calls, and at least 1 and at most as many contributions.
  std::vector<stats::StatRow> rows;
  std::vector<LabApi> apis;  // ascending by key; every row's API is one of them
  // In depth-first order: each node is followed by its descendants; siblings ascend by API, each at
  // most once. At most kMaxStackFrames deep. SortStacks() creates this order.
  std::vector<LabStack> stacks;
  // Indices (outer, inner) of APIs where the second was entered before the first returned, on the
  // same thread. Ascending, each once.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  std::vector<LabPart> parts;  // ascending by hash, each once
  bool operator==(const LabTable&) const = default;
};

// Suffix of a lab file's name.
inline constexpr char kLabTableSuffix[] = ".lab";

// Deterministic: equal tables give equal bytes. In a table of one measurement, the only part's
// `content_hash` is set by ContentHash(). kInvalidArgument if it is invalid or has no part;
// kTooLarge if it exceeds the limits (wire_limits.h).
Result<std::string> EncodeLabTable(const LabTable& table);
// kCorrupt unless it satisfies the rules stated in LabTable and its members; kTooLarge if it
// exceeds the limits; kUnsupported if its version is newer.
Result<LabTable> DecodeLabTable(std::string_view untrusted_bytes);
// Whether a file begins like a lab table, so that commands can distinguish it from other inputs.
bool LooksLikeLabTable(std::string_view untrusted_bytes);

// The hash of the table without its parts. kInvalidArgument if it is invalid.
Result<std::string> ContentHash(const LabTable& table);

// Checks the rules above; parts may be missing. kCorrupt, with the reason, or kTooLarge.
Status Validate(const LabTable& untrusted_table);

// Sorts nodes into LabTable's order and merges siblings of the same API. REQUIRES: each node's
// parent is an earlier node or kRoot.
std::vector<LabStack> SortStacks(const std::vector<LabStack>& stacks);

// Merges tables: adds rows, APIs and stacks; unites pairs and parts. The result has the same bits
// in any order and grouping. Counters saturate. kInvalidArgument if a table is invalid, or if two
// tables contain the same part (the message names it); kTooLarge if the result exceeds a limit or
// the range of sums.
Result<LabTable> MergeLabTables(std::span<const LabTable> tables);

}  // namespace fieldcost::wire
