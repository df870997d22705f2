#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "aggregator/store/store.h"
#include "common/stats/stat_row.h"

namespace fieldcost::store {

// Deterministic streams of batches, and the sums they must come to, added with the dense
// CostHistogram and not with the store's own code.

struct TestBatch {
  std::string agent_id;
  wire::Epoch epoch{1};
  wire::Sequence sequence{1};
  AcceptedRows rows;
  std::string answer;
  // The same rows, and some that were refused, as agents send them; empty: only `rows` are given.
  std::string body;
  std::vector<std::uint32_t> refused;

  AcceptedBatch View() const;
  // Takes exactly this batch away. The batch must outlive it.
  Withdrawal Undo() const;
};

std::string TestAgent(unsigned agent);
stats::RowKey TestKey(unsigned number);

// Everything that a store keeps of a row.
struct TestRow : stats::StatRow {
  stats::ContributionSizes sizes;
  bool operator==(const TestRow&) const = default;
};
TestRow MakeTestRow(const stats::RowKey& key, const CompactRow& sums);
using Sums = std::map<stats::RowKey, TestRow>;

// The batch `sequence` of `agent`: some rows among 40 keys. Adds them to `sums` too if not null.
// Two of three have a body.
void MakeTestBatch(unsigned agent, std::uint64_t sequence, TestBatch& batch, Sums* sums);

// Every row of the store.
Sums AllRows(Store& store);

// Every bit that a store publishes from: stored rows and totals.
struct Dump {
  std::map<stats::RowKey, CompactRow> rows;
  Totals totals;
  bool operator==(const Dump&) const = default;
};
Dump DumpOf(Store& store);

// The crash tests' agents but the first take away every third batch once the next one is accepted.
bool IsToBeWithdrawn(unsigned agent, std::uint64_t sequence);

}  // namespace fieldcost::store
