#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "aggregator/store/store.h"
#include "common/stats/stat_row.h"

namespace fieldcost::store {

// Deterministic streams of batches and their expected sums, computed with the dense CostHistogram
// and not with the store's own code.

struct TestBatch {
  std::string agent_id;
  wire::Epoch epoch{1};
  wire::Sequence sequence{1};
  AcceptedRows rows;
  std::string answer;
  // The batch as agents send it: the same rows plus some refused ones. Empty: only `rows` is given.
  std::string body;
  std::vector<std::uint32_t> refused;

  AcceptedBatch View() const;
  // Withdraws exactly this batch, which must outlive the result.
  Withdrawal Undo() const;
};

std::string TestAgent(unsigned agent);
stats::RowKey TestKey(unsigned number);

// Everything that a store keeps for a row.
struct TestRow : stats::StatRow {
  stats::ContributionSizes sizes;
  bool operator==(const TestRow&) const = default;
};
TestRow MakeTestRow(const stats::RowKey& key, const CompactRow& sums);
using Sums = std::map<stats::RowKey, TestRow>;

// Makes batch `sequence` of `agent`, with some of 40 keys as rows; two of three batches have a
// body. Adds the rows to `sums` unless it is null.
void MakeTestBatch(unsigned agent, std::uint64_t sequence, TestBatch& batch, Sums* sums);

// Returns every row of the store.
Sums AllRows(Store& store);

// All data that a store publishes from: stored rows and totals.
struct Dump {
  std::map<stats::RowKey, CompactRow> rows;
  Totals totals;
  bool operator==(const Dump&) const = default;
};
Dump DumpOf(Store& store);

// In the crash tests, all agents except the first withdraw every third batch once the next one is
// accepted.
bool IsToBeWithdrawn(unsigned agent, std::uint64_t sequence);

}  // namespace fieldcost::store
