#include "tests/aggregator/store/batches.h"

#include <random>

#include "common/base/check.h"

namespace fieldcost::store {
AcceptedBatch TestBatch::View() const {
  return {.agent_id = agent_id,
          .epoch = epoch,
          .sequence = sequence,
          .rows = &rows,
          .received = {.body = body, .refused = refused},
          .answer = answer};
}

Withdrawal TestBatch::Undo() const {
  return {.agent_id = agent_id,
          .epoch = epoch,
          .sequence = sequence,
          .rows = [this](const std::optional<std::string>&) -> Result<const AcceptedRows*> {
            return &rows;
          },
          .late_answer = "withdrawn"};
}

bool IsToBeWithdrawn(unsigned agent, std::uint64_t sequence) {
  return agent != 0 && sequence % 3 == 1;
}

TestRow MakeTestRow(const stats::RowKey& key, const CompactRow& sums) {
  return {{key, sums.ToHistogram(), sums.scalars, sums.ToWeights(), sums.sizes.Bounded()},
          sums.sizes};
}

std::string TestAgent(unsigned agent) {
  std::string id(kAgentIdBytes, 'a');
  id[0] = static_cast<char>(agent);
  return id;
}

stats::RowKey TestKey(unsigned number) {
  stats::RowKey key;
  key.api.soname = number % 2 == 0 ? "libalpha.so.1" : "libbeta.so.2";
  key.api.package_version = "1.0-" + std::to_string(number % 3);
  key.api.build_id = "00ff";
  key.api.symbol = "function_" + std::to_string(number);
  key.metric = number % 5 == 0 ? stats::Metric::kAllocInclusive : stats::Metric::kWallTime;
  key.hardware = {.architecture = "x86_64",
                  .cpu_family = "GenuineIntel-6",
                  .log2_cores = 1,
                  .log2_memory_mib = 14,
                  .os_release = "debian-12"};
  key.week = 2900 + number % 2;
  return key;
}

// Adds a row of a batch to `sums`.
static void AddToSums(const stats::RowKey& key, const stats::CostHistogram& histogram, bool first,
                      Sums& sums) {
  TestRow& row = sums[key];
  row.key = key;
  row.histogram.Merge(histogram);
  if (!first) return;
  row.scalars.Merge(stats::ScalarsOf(histogram));
  row.weights.Merge(stats::WeightsOf(histogram));
  row.sizes.Merge(stats::SizesOf(histogram));
  row.bounded = row.sizes.Bounded();
}

void MakeTestBatch(unsigned agent, std::uint64_t sequence, TestBatch& batch, Sums* sums) {
  std::mt19937_64 random(agent * 1'000'003 + sequence);
  batch.agent_id = TestAgent(agent);
  batch.sequence = wire::Sequence(sequence);
  batch.answer = "answer " + std::to_string(agent) + " " + std::to_string(sequence);
  batch.rows.Clear();
  batch.body.clear();
  batch.refused.clear();
  wire::BatchContent content;
  for (unsigned number = static_cast<unsigned>(random() % 4); number < 40;
       number += 1 + static_cast<unsigned>(random() % 9)) {
    stats::CostHistogram histogram;
    const unsigned values = 1 + static_cast<unsigned>(random() % 20);
    for (unsigned i = 0; i < values; ++i) histogram.Add(random() >> (random() % 48 + 16));
    const bool first = random() % 3 == 0;
    const stats::RowKey key = TestKey(number);
    batch.rows.Add(key, histogram, first ? Contribution::kFirst : Contribution::kNone);
    content.hardware = key.hardware;
    if (number % 7 == 3) {  // put a refused row before this one
      batch.refused.push_back(static_cast<std::uint32_t>(content.rows.size()));
      content.rows.push_back(
          {.api = {.soname = "/bad"}, .metric = key.metric, .week = 0, .histogram = histogram});
    }
    content.rows.push_back({.api = key.api,
                            .metric = key.metric,
                            .week = key.week,
                            .first_contribution = first,
                            .histogram = histogram});
    if (sums != nullptr) AddToSums(key, histogram, first, *sums);
  }
  if ((agent + sequence) % 3 == 0) return;
  auto body = wire::EncodeBatch(content);
  FIELDCOST_CHECK(body.has_value());
  batch.body = std::move(*body);
}

Sums AllRows(Store& store) {
  Sums rows;
  const auto snapshot = store.TakeSnapshot();
  FIELDCOST_CHECK(snapshot.has_value());
  const Status status =
      snapshot->ForEach([&](const stats::RowKey& key, const CompactRow& row) -> Status {
        FIELDCOST_CHECK(rows.empty() || rows.rbegin()->first < key);
        rows[key] = MakeTestRow(key, row);
        return {};
      });
  FIELDCOST_CHECK(status.has_value());
  return rows;
}

Dump DumpOf(Store& store) {
  Dump dump;
  const auto snapshot = store.TakeSnapshot();
  FIELDCOST_CHECK(snapshot.has_value());
  dump.totals = snapshot->totals();
  const Status status =
      snapshot->ForEach([&](const stats::RowKey& key, const CompactRow& row) -> Status {
        dump.rows[key] = row;
        return {};
      });
  FIELDCOST_CHECK(status.has_value());
  return dump;
}

}  // namespace fieldcost::store
