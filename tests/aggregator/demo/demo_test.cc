#include "aggregator/demo/demo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "common/base/file.h"
#include "common/base/text.h"
#include "common/base/units.h"
#include "common/wire/fragment.h"
#include "common/wire/profile.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::demo {
namespace {

using ::testing::HasSubstr;
using testing::TempDir;
using Rows = std::map<stats::RowKey, stats::StatRow>;

std::set<std::string> NamesIn(const std::filesystem::path& directory) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

DemoReport MustMake(const std::filesystem::path& directory, FleetOptions fleet) {
  auto report = MakeDemo({.directory = directory, .fleet = fleet}, SystemClock());
  EXPECT_TRUE(report.has_value()) << report.error().message;
  return report.value_or(DemoReport{});
}

std::string MustRead(const std::filesystem::path& path) {
  auto bytes = ReadFile(path, 64 * kMiB);
  EXPECT_TRUE(bytes.has_value()) << bytes.error().message;
  return bytes.value_or("");
}

std::vector<stats::StatRow> PublishedRows(const std::filesystem::path& directory) {
  std::vector<stats::StatRow> all;
  for (const std::string& name : NamesIn(directory / "publish" / "fragments")) {
    auto rows = wire::DecodeFragment(MustRead(directory / "publish" / "fragments" / name));
    EXPECT_TRUE(rows.has_value());
    all.insert(all.end(), rows->begin(), rows->end());
  }
  return all;
}

wire::SnapshotMetadata OnlySnapshot(const std::filesystem::path& directory) {
  const auto root = wire::VerifyPinnedRoot(MustRead(directory / "publish" / "root" / "1"));
  const auto names = NamesIn(directory / "publish" / "snapshots");
  EXPECT_EQ(names.size(), 1U);
  auto snapshot =
      wire::VerifySnapshot(MustRead(directory / "publish" / "snapshots" / *names.begin()), *root);
  EXPECT_TRUE(snapshot.has_value());
  return snapshot.value_or(wire::SnapshotMetadata{});
}

TEST(DemoTest, TheStoreIsExactlyTheSumOfWhatTheFleetMade) {
  const TempDir dir;
  const FleetOptions options{.seed = 5, .agents = kMinAgents};
  const Fleet fleet(options);
  std::filesystem::create_directory(dir.path() / "keys");
  const auto store = store::Store::Open({.data_dir = dir.path()});
  ASSERT_TRUE(store.has_value());
  const auto filled = Fill(fleet, **store, dir.path() / "keys");
  ASSERT_TRUE(filled.has_value()) << filled.error().message;

  Rows expected;
  std::map<stats::RowKey, stats::ContributionSizes> sizes;
  std::uint64_t rows = 0;
  // An agent contributes at most once per quarter to each API and metric.
  std::set<std::tuple<std::uint32_t, wire::Epoch, stats::ApiKey, stats::Metric>> contributed;
  for (std::uint32_t week = options.first_week(); week <= options.last_week; ++week) {
    for (std::uint32_t agent = 0; agent < options.agents; ++agent) {
      const wire::BatchContent batch = fleet.BatchOf(agent, week);
      for (const wire::BatchRow& row : batch.rows) {
        const stats::RowKey key{
            .api = row.api, .metric = row.metric, .hardware = batch.hardware, .week = week};
        stats::StatRow& sum = expected[key];
        sum.key = key;
        sum.histogram.Merge(row.histogram);
        ++rows;
        if (!contributed.emplace(agent, wire::EpochOfWeek(week), row.api, row.metric).second) {
          continue;
        }
        sum.scalars.Merge(stats::ScalarsOf(row.histogram));
        sum.weights.Merge(stats::WeightsOf(row.histogram));
        sizes[key].Merge(stats::SizesOf(row.histogram));
      }
    }
  }
  EXPECT_EQ(filled->batches, options.agents * kWeeks);
  EXPECT_EQ(filled->rows, rows);
  const auto snapshot = (*store)->TakeSnapshot();
  ASSERT_TRUE(snapshot.has_value());
  std::size_t found = 0;
  ASSERT_TRUE(snapshot
                  ->ForEach([&](const stats::RowKey& key, const store::CompactRow& row) -> Status {
                    ++found;
                    EXPECT_EQ(expected.count(key), 1U);
                    EXPECT_EQ(row.ToHistogram(), expected[key].histogram);
                    EXPECT_EQ(row.scalars, expected[key].scalars);
                    EXPECT_EQ(row.ToWeights(), expected[key].weights);
                    EXPECT_EQ(row.sizes, sizes[key]);
                    return {};
                  })
                  .has_value());
  EXPECT_EQ(found, expected.size());
}

TEST(DemoTest, ASeedGivesTheSamePublishedBitsAndAnotherSeedOthers) {
  const TempDir dir;
  const DemoReport first = MustMake(dir.path() / "a", {.seed = 2, .agents = kMinAgents});
  const DemoReport second = MustMake(dir.path() / "b", {.seed = 2, .agents = kMinAgents});
  MustMake(dir.path() / "c", {.seed = 3, .agents = kMinAgents});
  EXPECT_EQ(first.published.rows, second.published.rows);
  // Fragments are named by a hash of their contents.
  const auto fragments = [&](const char* name) {
    return NamesIn(dir.path() / name / "publish" / "fragments");
  };
  EXPECT_EQ(fragments("a"), fragments("b"));
  EXPECT_NE(fragments("a"), fragments("c"));
  EXPECT_EQ(MustRead(dir.path() / "a" / "planted.json"),
            MustRead(dir.path() / "b" / "planted.json"));
}

TEST(DemoTest, PublishesExactlyThePlantedChanges) {
  const TempDir dir;
  const DemoReport report = MustMake(dir.path() / "demo", {.seed = 1, .agents = 60});
  EXPECT_EQ(report.published.withheld, 0U);
  std::set<stats::HardwareClass> classes;
  std::map<std::string, double> typical;  // "soname version symbol" -> mean log2 ns
  for (const stats::StatRow& row : PublishedRows(dir.path() / "demo")) {
    EXPECT_THAT(row.key.api.package_version, HasSubstr("+synthetic"));
    if (row.key.metric != stats::Metric::kWallTime) continue;
    classes.insert(row.key.hardware);
    if (row.key.hardware != stats::HardwareClass{}) continue;
    // Each machine contributes once per quarter; a few never picked a rare function.
    EXPECT_GE(row.scalars.contributions, 40U);
    EXPECT_LE(row.scalars.contributions, 2 * 60U);
    typical[row.key.api.soname + " " + row.key.api.package_version + " " + row.key.api.symbol] =
        static_cast<double>(static_cast<std::int64_t>(row.scalars.sum_mean)) / 65536 /
        static_cast<double>(row.scalars.contributions);
  }
  EXPECT_EQ(classes.size(), 1U + 4U);  // all classes together, and each of the fleet's
  int compared = 0;
  for (const LibraryModel& library : Libraries()) {
    for (std::size_t version = 1; version < kVersions; ++version) {
      for (const ApiModel& api : library.apis) {
        const auto of = [&](std::size_t which) {
          return typical.at(
              fmt::format("{} {} {}", library.soname, library.versions[which], api.symbol));
        };
        const double planted =
            std::log2(static_cast<double>(CostPercent(library, version, api.symbol)) /
                      static_cast<double>(CostPercent(library, version - 1, api.symbol)));
        EXPECT_NEAR(of(version) - of(version - 1), planted, 0.2) << library.soname << api.symbol;
        ++compared;
      }
    }
  }
  EXPECT_EQ(compared, 2 * (14 + 12 + 13));
}

TEST(DemoTest, MarksEveryPublicationAsSynthetic) {
  const TempDir dir;
  MustMake(dir.path() / "demo", {.seed = 1, .agents = kMinAgents});
  EXPECT_TRUE(OnlySnapshot(dir.path() / "demo").synthetic);

  // Holds also if the directory is served by a normal service that knows nothing of the demo.
  std::filesystem::remove_all(dir.path() / "demo" / "publish" / "snapshots");
  const auto store = store::Store::Open({.data_dir = dir.path() / "demo"});
  ASSERT_TRUE(store.has_value());
  auto publisher = publish::Publisher::Open({.data_dir = dir.path() / "demo"}, SystemClock());
  ASSERT_TRUE(publisher.has_value()) << publisher.error().message;
  ASSERT_TRUE(publisher->Publish(**store).has_value());
  EXPECT_TRUE(OnlySnapshot(dir.path() / "demo").synthetic);
}

TEST(DemoTest, TheProfileIsOneMachineWithTheNewestVersionsAndItsAilments) {
  const Fleet fleet({.seed = 1, .agents = 60});
  const auto bytes = ProfileOf(fleet);
  ASSERT_TRUE(bytes.has_value()) << bytes.error().message;
  const auto rows = wire::DecodeProfile(*bytes);
  ASSERT_TRUE(rows.has_value()) << rows.error().message;
  std::set<std::string> versions;
  std::map<std::string, double> mean;
  for (const stats::StatRow& row : *rows) {
    versions.insert(row.key.api.package_version);
    if (row.key.metric == stats::Metric::kWallTime) {
      mean[row.key.api.symbol] = row.histogram.Mean();
    }
  }
  EXPECT_EQ(versions.size(), Libraries().size());
  std::map<std::string, stats::CostHistogram> healthy_histograms;
  for (const std::uint32_t weeks_before : {0U, 1U, 2U}) {
    for (const wire::BatchRow& row : fleet.BatchOf(60, kDefaultLastWeek - weeks_before).rows) {
      if (row.metric != stats::Metric::kWallTime) continue;
      healthy_histograms[row.api.symbol].Merge(row.histogram);
    }
  }
  std::map<std::string, double> healthy;
  for (const auto& [symbol, histogram] : healthy_histograms) healthy[symbol] = histogram.Mean();
  for (const Ailment& ailment : PlantedAilments()) {
    const std::string symbol(ailment.symbol);
    ASSERT_TRUE(mean.count(symbol) == 1 && healthy.count(symbol) == 1) << symbol;
    EXPECT_NEAR(mean[symbol] / healthy[symbol], ailment.percent / 100.0, 0.3) << symbol;
  }
  EXPECT_NEAR(mean["sqlite3_reset"] / healthy["sqlite3_reset"], 1, 0.15);
}

TEST(DemoTest, OnlyAnEmptyDirectoryAndSensibleNumbersAreTaken) {
  const TempDir dir;
  const auto error_of = [&](FleetOptions fleet) {
    return MakeDemo({.directory = dir.path() / "new", .fleet = fleet}, SystemClock()).error();
  };
  EXPECT_EQ(error_of({.agents = kMinAgents - 1}).code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(error_of({.agents = kMaxAgents + 1}).code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(error_of({.last_week = kWeeks - 1}).code, ErrorCode::kInvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(dir.path() / "new"));
  std::filesystem::create_directory(dir.path() / "new");
  std::ofstream(dir.path() / "new" / "thesis.txt") << "mine";
  const Error taken = error_of({});
  EXPECT_EQ(taken.code, ErrorCode::kAlreadyExists);
  EXPECT_THAT(taken.message, HasSubstr("is not empty"));
  EXPECT_EQ(NamesIn(dir.path() / "new").size(), 1U);
}

}  // namespace
}  // namespace fieldcost::demo
