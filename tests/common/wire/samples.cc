#include "tests/common/wire/samples.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/crypto/sha256.h"
#include "common/wire/epoch.h"
#include "common/wire/period_fragment.h"

namespace fieldcost::wire {
namespace {

stats::ApiKey StepKey() {
  return {.soname = "libsqlite3.so.0",
          .package_version = "3.40.1-2+deb12u1",
          .build_id = "f3a1c0de00112233445566778899aabbccddeeff",
          .symbol = "sqlite3_step",
          .symbol_version = ""};
}

stats::CostHistogram HistogramOf(std::initializer_list<std::uint64_t> values, int times) {
  stats::CostHistogram histogram;
  for (int i = 0; i < times; ++i) {
    for (const std::uint64_t value : values) histogram.Add(value);
  }
  return histogram;
}

WallTime At(std::int64_t unix_seconds) { return WallTime(std::chrono::seconds(unix_seconds)); }

constexpr std::int64_t kPublished = 1767225600;  // 2026-01-01 00:00 UTC
constexpr std::int64_t kDay = 86400;

}  // namespace

BatchContent SampleBatch() {
  const stats::ApiKey step = StepKey();
  stats::ApiKey exec = step;
  exec.symbol = "sqlite3_exec";
  return {.field_policy_version = 7,
          .hardware = {.architecture = "x86_64",
                       .cpu_family = "GenuineIntel-6",
                       .log2_cores = 1,
                       .log2_memory_mib = 14,
                       .os_release = "debian-12"},
          .rows = {{.api = step,
                    .metric = stats::Metric::kWallTime,
                    .week = 2921,
                    .first_contribution = true,
                    .histogram = HistogramOf({0, 20, 40, 5000000000}, 3)},
                   {.api = step,
                    .metric = stats::Metric::kAllocInclusive,
                    .week = 2921,
                    .first_contribution = false,
                    .histogram = HistogramOf({3, 7, 22}, 100)},
                   {.api = exec,
                    .metric = stats::Metric::kWallTime,
                    .week = 2921,
                    .first_contribution = true,
                    .histogram = HistogramOf({1000}, 1)}}};
}

std::vector<stats::StatRow> SampleRows() {
  const BatchContent batch = SampleBatch();
  std::vector<stats::StatRow> rows;
  for (const BatchRow& row : batch.rows) {
    for (const stats::HardwareClass& hardware : {stats::HardwareClass{}, batch.hardware}) {
      const bool is_of_one_week =
          hardware == batch.hardware && row.metric == stats::Metric::kAllocInclusive;
      rows.push_back({.key = {.api = row.api,
                              .metric = row.metric,
                              .hardware = hardware,
                              .week = is_of_one_week ? row.week : 0},
                      .histogram = row.histogram,
                      .scalars = ScalarsOf(row.histogram)});
    }
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  return rows;
}

std::vector<stats::StatRow> WeightedSampleRows() {
  std::vector<stats::StatRow> rows = SampleRows();
  for (stats::StatRow& row : rows) row.weights = WeightsOf(row.histogram);
  return rows;
}

std::vector<stats::StatRow> BoundedSampleRows() {
  std::vector<stats::StatRow> rows = WeightedSampleRows();
  for (stats::StatRow& row : rows) row.bounded = BoundedSumsOf(row.histogram);
  return rows;
}

std::vector<stats::StatRow> WeekSampleRows() {
  std::vector<stats::StatRow> rows = BoundedSampleRows();
  for (stats::StatRow& row : rows) {
    if (row.key.metric != stats::Metric::kWallTime) continue;
    row.fullest_quarter = {.week = FirstWeekOfQuarter(2921), .scalars = row.scalars};
  }
  return rows;
}

std::vector<stats::StatRow> PartlyPublishedRows() {
  constexpr std::uint32_t kMachines = 7;
  const std::uint32_t quarters[] = {FirstWeekOfQuarter(2921), FirstWeekOfQuarter(2900)};
  stats::StatRow total{.key = {.api = StepKey(), .metric = stats::Metric::kWallTime},
                       .fullest_quarter = {.week = quarters[0]}};
  std::vector<stats::StatRow> classes;
  for (std::uint32_t machine = 0; machine < kMachines; ++machine) {
    stats::CostHistogram calls = HistogramOf({20 + machine, 43 * machine + 60, 900 + machine}, 4);
    calls.Add(4000 + machine, 16);
    const std::uint32_t quarter = quarters[machine % 2];
    if (machine % 3 == 0) {
      stats::StatRow row{.key = total.key, .fullest_quarter = {.week = quarter}};
      row.key.hardware = SampleBatch().hardware;
      row.key.hardware.log2_cores = machine / 3;
      classes.push_back(std::move(row));
    }
    for (stats::StatRow* sum : {&total, &classes.back()}) {
      const stats::ContributionScalars scalars = ScalarsOf(calls);
      sum->histogram.Merge(calls);
      sum->scalars.Merge(scalars);
      sum->weights.Merge(WeightsOf(calls));
      sum->bounded.Merge(BoundedSumsOf(calls));
      if (sum->fullest_quarter.week == quarter) sum->fullest_quarter.scalars.Merge(scalars);
    }
  }
  classes.pop_back();  // the last machine's class is not published
  std::vector<stats::StatRow> rows = {total};
  rows.insert(rows.end(), classes.begin(), classes.end());
  return rows;
}

std::vector<stats::StatRow> PeriodSampleRows() {
  const BatchContent batch = SampleBatch();
  std::vector<stats::StatRow> rows;
  for (const std::uint32_t week : {2916U, 2920U}) {
    stats::StatRow row{.key = {.api = batch.rows[0].api,
                               .metric = stats::Metric::kWallTime,
                               .week = FirstWeekOfPeriod(week)}};
    for (int machine = 0; machine < (week == 2916 ? 1 : 2); ++machine) {
      row.histogram.Merge(batch.rows[0].histogram);
      row.scalars.Merge(ScalarsOf(batch.rows[0].histogram));
    }
    rows.push_back(std::move(row));
  }
  rows.push_back({.key = {.api = batch.rows[1].api,
                          .metric = stats::Metric::kAllocInclusive,
                          .week = FirstWeekOfPeriod(2921)},
                  .histogram = batch.rows[1].histogram,
                  .scalars = ScalarsOf(batch.rows[1].histogram)});
  return rows;
}

crypto::PrivateKey SampleKey(char seed) {
  return crypto::PrivateKey::FromSeed(std::string(32, seed));
}

RootMetadata SampleRoot() {
  return {.version = 1,
          .expires = At(kPublished + 365 * kDay),
          .root_threshold = 2,
          .root_keys = {SampleKey(1).public_key(), SampleKey(2).public_key()},
          .timestamp_keys = {SampleKey(3).public_key()},
          .snapshot_keys = {SampleKey(4).public_key()},
          .operated_by = {.name = "Exämple Project",
                          .contact = "privacy@example.org",
                          .privacy = "Backups are deleted after 30 days."}};
}

SnapshotMetadata SampleSnapshot() {
  return {
      .version = 12,
      .expires = At(kPublished + 14 * kDay),
      .published = At(kPublished),
      .store_sequence = 3456,
      .contribution_threshold = 5,
      .synthetic = true,
      .fragment_bits = 1,
      .fragments = {{.sha256 = crypto::Sha256("first"), .size_bytes = 70000, .row_count = 900},
                    {.sha256 = crypto::Sha256("second"), .size_bytes = 71000, .row_count = 1000}}};
}

TimestampMetadata SampleTimestamp() {
  const std::string snapshot = SignSnapshot(SampleSnapshot(), SampleKey(4));
  return {.version = 34,
          .expires = At(kPublished + 2 * kDay),
          .published = At(kPublished),
          .snapshot_version = 12,
          .snapshot_sha256 = crypto::Sha256(snapshot),
          .snapshot_bytes = snapshot.size(),
          .refresh_seconds = 3600};
}

RootMetadata SampleRootWithPolicy() {
  RootMetadata root = SampleRoot();
  root.policy_keys = {SampleKey(5).public_key()};
  return root;
}

PolicyMetadata SamplePolicy() {
  return {.version = 3,
          .expires = At(kPublished + 90 * kDay),
          .published = At(kPublished),
          .selection_per_65536 = 4096,
          .max_programs = 0,
          .modules = {{.soname = "libsqlite3.so.0", .package = "libsqlite3-0"},
                      {.soname = "libz.so.1", .package = ""}},
          .weights = {{.soname = "libz.so.1", .symbol = "crc32", .weight_per_65536 = 32768}}};
}

BatchContent ManyRows(std::size_t rows) {
  BatchContent content = SampleBatch();
  content.rows.clear();
  for (std::size_t i = 0; i < rows; ++i) {
    BatchRow row{.api = StepKey(), .week = 2921};
    row.api.symbol = fmt::format("symbol_{}", i);
    row.histogram.Add(i * 7919 + 1);
    content.rows.push_back(std::move(row));
  }
  return content;
}

}  // namespace fieldcost::wire
