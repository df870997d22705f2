#include "agent/policy/api_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "agent/policy/choose_weights.h"
#include "common/base/file.h"
#include "common/shm/selection.h"
#include "tests/common/catalog/publisher.h"
#include "tests/support/fake_clock.h"

namespace fieldcost::policy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::pair<std::uint64_t, std::uint32_t>> Pairs(
    const std::vector<shm::WeightEntry>& weights) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> pairs;
  for (const shm::WeightEntry& entry : weights) pairs.emplace_back(entry.api_hash, entry.weight);
  return pairs;
}

TEST(ApiWeightsTest, WeightFallsWithWhatIsKnownButNeverToNothing) {
  struct Row {
    std::uint64_t contributions;
    std::uint32_t weight;
  };
  constexpr Row kTable[] = {
      {0, 65536},        {1, 64887},    // 65536 * 100 / 101 = 64887.1
      {5, 62415},                       // the smallest number that is published
      {100, 32768},                     // half at T
      {300, 16384},      {6299, 1024},  // 65536 * 100 / 6399 = 1024.2
      {6300, 1024},                     // exactly 1024
      {6400, 1024},                     // the minimum
      {1'000'000, 1024}, {std::numeric_limits<std::uint64_t>::max(), 1024},
  };
  for (const Row& row : kTable) EXPECT_EQ(WeightOf(row.contributions), row.weight);
}

TEST(ApiWeightsTest, EntriesAreSortedByHashAndUnknownApisHaveNone) {
  EXPECT_THAT(Pairs(WeightsFrom({{9, 100}, {1, 300}, {5, 0}, {3, 1'000'000}})),
              ElementsAre(std::pair(1, 16384), std::pair(3, 1024), std::pair(9, 32768)));
  EXPECT_THAT(WeightsFrom({}), IsEmpty());
}

TEST(ApiWeightsTest, OfTwoApisWithOneHashTheSmallerWeightCounts) {
  EXPECT_THAT(Pairs(WeightsFrom({{9, 100}, {9, 300}, {9, 5}})), ElementsAre(std::pair(9, 16384)));
}

TEST(ApiWeightsTest, OfTooManyTheBestKnownAreKept) {
  std::vector<ApiContributions> apis;
  for (std::uint64_t i = 0; i < shm::kMaxWeights + 1000; ++i) {
    // Hashes in no order; the first thousand are the least known.
    apis.push_back({.api_hash = i * 0x9e3779b97f4a7c15, .contributions = i < 1000 ? 1 : i});
  }
  const auto weights = WeightsFrom(apis);
  ASSERT_EQ(weights.size(), shm::kMaxWeights);
  EXPECT_TRUE(std::is_sorted(weights.begin(), weights.end(),
                             [](const auto& a, const auto& b) { return a.api_hash < b.api_hash; }));
  for (const shm::WeightEntry& entry : weights) EXPECT_LT(entry.weight, WeightOf(1));
}

class CatalogWeightsTest : public ::testing::Test {
 protected:
  static constexpr WallTime kNow{std::chrono::hours(24 * 20'000)};

  // A row over all weeks and classes.
  static stats::StatRow Row(const std::string& symbol, std::uint64_t contributions) {
    stats::StatRow row = testing::MakeRow("libx.so.1", symbol, 5, 7);
    row.key.week = 0;
    row.key.hardware = {};
    const stats::ContributionScalars one = row.scalars;
    for (std::uint64_t i = 1; i < contributions; ++i) row.scalars.Merge(one);
    EXPECT_EQ(row.scalars.contributions, contributions);
    row.weights = {};  // would be of one contribution
    row.bounded = {};
    return row;
  }

  void Publish(const std::vector<stats::StatRow>& rows) {
    publisher_.Publish(rows, 2, kNow);
    catalog::SyncOptions options = publisher_.Client(directory_.path());
    options.full = true;
    const auto report = Sync(options, clock_);
    ASSERT_TRUE(report) << report.error().message;
  }

  std::uint32_t Serial() const { return runs::PolicySerial(paths_.policy_file()); }
  void Write() {
    const Status status = WriteWith(settings::AgentConfig{}, WeightSource::kCatalogue);
    ASSERT_TRUE(status) << status.error().message;
  }
  Status WriteWith(const settings::AgentConfig& config, WeightSource source) {
    return runs::WritePolicyFile(paths_, config, true, ChooseWeights(paths_, config, source));
  }
  // The weights in the policy file.
  std::vector<std::pair<std::uint64_t, std::uint32_t>> Written() const {
    const auto bytes = ReadFile(paths_.policy_file(), runs::kMaxPolicyBytes);
    EXPECT_TRUE(bytes);
    shm::PolicyHeader header;
    std::memcpy(&header, bytes->data(), sizeof header);
    std::vector<shm::WeightEntry> weights(header.weight_count);
    const std::size_t at = sizeof header + header.allowed_module_count * sizeof(shm::AllowedModule);
    EXPECT_EQ(bytes->size(), at + weights.size() * sizeof(shm::WeightEntry));
    std::copy_n(bytes->data() + at, bytes->size() - at, reinterpret_cast<char*>(weights.data()));
    return Pairs(weights);
  }
  // Simulates that the catalogue has not been changed for an hour.
  void AgeCatalog() const {
    for (const char* suffix : {"", "-wal"}) {
      std::error_code error;
      std::filesystem::last_write_time(
          paths_.catalog_file.string() + suffix,
          std::filesystem::file_time_type::clock::now() - std::chrono::hours(1), error);
    }
  }

  testing::TempDir directory_;
  testing::FakeClock clock_{kNow};
  testing::Publisher publisher_{kNow};
  settings::AgentPaths paths_{.config_file = directory_.path() / "agent.toml",
                              .state_dir = directory_.path() / "state",
                              .catalog_file = directory_.path() / "catalog.db",
                              .catalog_root_file = {}};
};

TEST_F(CatalogWeightsTest, ContributionsOfAllVersionsInTheBestKnownMetricCount) {
  stats::StatRow other_version = Row("f", 3);
  other_version.key.api.package_version = "2-1";
  stats::StatRow other_metric = Row("f", 4);
  other_metric.key.metric = stats::Metric::kAllocInclusive;
  stats::StatRow one_week = Row("f", 90);
  one_week.key.week = 2900;
  stats::StatRow symbol_version = Row("g", 6);
  symbol_version.key.api.symbol_version = "V_2";
  Publish({Row("f", 2), other_version, other_metric, one_week, Row("g", 1), symbol_version});
  auto apis = ContributionsIn(paths_.catalog_file);
  ASSERT_TRUE(apis) << apis.error().message;
  std::map<std::uint64_t, std::uint64_t> known;
  for (const ApiContributions& api : *apis) known[api.api_hash] = api.contributions;
  EXPECT_EQ(known, (std::map<std::uint64_t, std::uint64_t>{
                       {shm::ApiHash("libx.so.1", "f", ""), 5},
                       {shm::ApiHash("libx.so.1", "g", ""), 1},
                       {shm::ApiHash("libx.so.1", "g", "V_2"), 6},
                   }));
}

TEST_F(CatalogWeightsTest, NoCatalogueMeansNoWeights) {
  const auto apis = ContributionsIn(paths_.catalog_file);
  ASSERT_TRUE(apis);
  EXPECT_THAT(*apis, IsEmpty());
  Write();
  EXPECT_THAT(Written(), IsEmpty());
}

TEST_F(CatalogWeightsTest, MadeUpDataGivesNoWeights) {
  publisher_.snapshot.synthetic = true;
  Publish({Row("f", 100)});
  const auto apis = ContributionsIn(paths_.catalog_file);
  ASSERT_TRUE(apis) << apis.error().message;
  EXPECT_THAT(*apis, IsEmpty());
}

TEST_F(CatalogWeightsTest, PolicysWeightsMultiplyThoseOfAllSymbolVersions) {
  stats::StatRow version = Row("f", 100);
  version.key.api.symbol_version = "V_2";
  Publish({Row("f", 300), version, Row("g", 100)});
  const auto apis = ContributionsIn(paths_.catalog_file);
  ASSERT_TRUE(apis);
  const std::vector<wire::PolicyWeight> policy = {
      {.soname = "libx.so.1", .symbol = "f", .weight_per_65536 = 32768},
      {.soname = "libx.so.1", .symbol = "h", .weight_per_65536 = 0}};
  EXPECT_THAT(
      Pairs(WeightsFrom(*apis, policy)),
      ::testing::UnorderedElementsAre(std::pair(shm::ApiHash("libx.so.1", "f", ""), 8192),
                                      std::pair(shm::ApiHash("libx.so.1", "f", "V_2"), 16384),
                                      std::pair(shm::ApiHash("libx.so.1", "g", ""), 32768),
                                      std::pair(shm::ApiHash("libx.so.1", "h", ""), 0)));
}

TEST_F(CatalogWeightsTest, AnotherPolicyMakesTheWeightsAnew) {
  const std::uint64_t f = shm::ApiHash("libx.so.1", "f", "");
  Publish({Row("f", 100)});
  AgeCatalog();
  Write();
  EXPECT_THAT(Written(), ElementsAre(std::pair(f, 32768)));
  settings::AgentConfig config;
  config.field_policy_version = 1;
  config.policy_weights = {{.soname = "libx.so.1", .symbol = "f", .weight_per_65536 = 32768}};
  ASSERT_TRUE(WriteWith(config, WeightSource::kCatalogue));
  EXPECT_THAT(Written(), ElementsAre(std::pair(f, 16384)));
  Write();
  EXPECT_THAT(Written(), ElementsAre(std::pair(f, 32768))) << "it is not in force any more";
}

TEST_F(CatalogWeightsTest, PresentPolicySourceDoesNotReadTheCatalogue) {
  const std::uint64_t f = shm::ApiHash("libx.so.1", "f", "");
  Publish({Row("f", 100)});
  AgeCatalog();
  settings::AgentConfig config;
  ASSERT_TRUE(WriteWith(config, WeightSource::kPresentPolicy));
  EXPECT_THAT(Written(), IsEmpty());
  Write();
  EXPECT_THAT(Written(), ElementsAre(std::pair(f, 32768)));
  // The catalogue is unchanged, so the weights are kept without reading it, even if something else
  // changes.
  ASSERT_TRUE(WriteFileAtomically(paths_.catalog_file, "not a catalogue", 0600));
  std::filesystem::remove(paths_.catalog_file.string() + "-wal");
  config.picks_per_run = 3;
  ASSERT_TRUE(WriteWith(config, WeightSource::kPresentPolicy));
  EXPECT_THAT(Written(), ElementsAre(std::pair(f, 32768)));
}

TEST_F(CatalogWeightsTest, DamagedWeightsAreMadeAgainFromTheCatalogue) {
  Publish({Row("f", 100), Row("g", 300)});
  Write();
  const auto good = Written();
  AgeCatalog();
  const auto policy = ReadFile(paths_.policy_file(), runs::kMaxPolicyBytes);
  ASSERT_TRUE(policy);
  std::string unsorted = *policy;
  const auto last = unsorted.end() - sizeof(shm::WeightEntry);
  std::swap_ranges(last - sizeof(shm::WeightEntry), last, last);
  std::string too_heavy = *policy;
  too_heavy[too_heavy.size() - 5] = 1;  // the highest byte of the last weight
  for (const std::string& damaged : {unsorted, too_heavy}) {
    ASSERT_TRUE(WriteFileAtomically(paths_.policy_file(), damaged, 0600));
    Write();
    EXPECT_EQ(Written(), good);
  }
}

TEST_F(CatalogWeightsTest, PolicyFollowsTheCatalogueAndItsSerialTheBytes) {
  const std::uint64_t f = shm::ApiHash("libx.so.1", "f", "");
  Publish({Row("f", 100)});
  Write();
  EXPECT_THAT(Written(), ElementsAre(std::pair(f, 32768)));
  EXPECT_EQ(Serial(), 1U);
  Write();
  EXPECT_EQ(Serial(), 1U);
  Publish({Row("f", 300)});
  Write();
  EXPECT_THAT(Written(), ElementsAre(std::pair(f, 16384)));
  EXPECT_EQ(Serial(), 2U);
  std::filesystem::remove(paths_.catalog_file);
  std::filesystem::remove(paths_.catalog_file.string() + "-wal");
  Write();
  EXPECT_THAT(Written(), IsEmpty());
  EXPECT_EQ(Serial(), 3U);
}

TEST_F(CatalogWeightsTest, CatalogueThatHasNotChangedIsNotReadAgain) {
  Publish({Row("f", 100)});
  Write();
  // Unreadable now, but older than the policy, so it is not read.
  ASSERT_TRUE(WriteFileAtomically(paths_.catalog_file, "not a catalogue", 0600));
  std::filesystem::remove(paths_.catalog_file.string() + "-wal");
  AgeCatalog();
  ::testing::internal::CaptureStderr();
  Write();
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(Written().size(), 1U);
}

TEST_F(CatalogWeightsTest, ReadingACatalogueDoesNotChangeIt) {
  Publish({Row("f", 100)});
  const std::int64_t before = CatalogChangeNs(paths_.catalog_file);
  ASSERT_TRUE(ContributionsIn(paths_.catalog_file));
  EXPECT_EQ(CatalogChangeNs(paths_.catalog_file), before);
}

TEST_F(CatalogWeightsTest, CatalogueThatCannotBeReadLeavesTheWeightsAsTheyAre) {
  Publish({Row("f", 100)});
  Write();
  ASSERT_TRUE(WriteFileAtomically(paths_.catalog_file, "not a catalogue", 0600));
  std::filesystem::remove(paths_.catalog_file.string() + "-wal");
  ::testing::internal::CaptureStderr();
  Write();
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), ::testing::HasSubstr("weights"));
  EXPECT_EQ(Written().size(), 1U);
  EXPECT_EQ(Serial(), 1U);
}

}  // namespace
}  // namespace fieldcost::policy
