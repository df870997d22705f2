// Publication from a store: which rows, in which files, and signed with which keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aggregator/publish/fragment_bits.h"
#include "aggregator/publish/publish_limits.h"
#include "tests/aggregator/publish/publish_fixture.h"

namespace fieldcost::publish {
namespace {

using ::testing::HasSubstr;

// A few agents invent names; this must not block all later publications.
TEST_F(PublishTest, AFragmentThatIsTooFullLeavesOutTheRowsOfTheFewest) {
  constexpr unsigned kMadeUp = 33'000;  // two strings each: more than a fragment may have
  store::AcceptedRows rows;
  stats::CostHistogram histogram;
  histogram.Add(9);
  stats::RowKey key;
  key.week = 2900;
  for (unsigned version = 0; version < kMadeUp; ++version) {
    key.api = {.soname = "libsample.so.1",
               .package_version = "1." + std::to_string(100'000 + version),
               .build_id = std::to_string(100'000 + version),
               .symbol = "sample_1"};
    rows.Add(key, histogram, store::Contribution::kFirst);
  }
  ASSERT_TRUE(store_
                  ->Accept({.agent_id = std::string(store::kAgentIdBytes, 'x'),
                            .epoch = wire::Epoch(1),
                            .sequence = wire::Sequence(1),
                            .rows = &rows,
                            .answer = "ok"})
                  .has_value());
  for (unsigned agent = 1; agent <= 3; ++agent) Contribute(agent, 0, 2900, 1, 20);
  Publisher publisher = MustOpen(Options(1));
  const PublishReport report = MustPublish(publisher);
  EXPECT_GT(report.crowded_out, 0U);
  EXPECT_EQ(report.rows + report.crowded_out, kMadeUp + 20);
  const Rows published = PublishedRows(publisher);
  EXPECT_EQ(published.size(), report.rows);
  for (const auto& [honest, row] : sums_) EXPECT_TRUE(published.contains(honest));
}

TEST_F(PublishTest, PublishesTheExactSumOverClassesAndWeeks) {
  for (unsigned agent = 0; agent < 4; ++agent) Contribute(agent, 0, 2900 + agent % 2, 1, 30);
  Publisher publisher = MustOpen(Options(1));
  const PublishReport report = MustPublish(publisher);
  EXPECT_EQ(report.rows, 30U);
  EXPECT_EQ(report.withheld, 0U);
  EXPECT_EQ(report.store_sequence, 4U);
  // A single class equals all classes and would only be published twice.
  EXPECT_EQ(PublishedRows(publisher), Expected());
}

TEST_F(PublishTest, PublishesEachOfSeveralClassesAndTheirSum) {
  for (unsigned agent = 0; agent < 4; ++agent) {
    Contribute(agent, 0, 2900 + agent % 2, agent % 2, 30);
  }
  Publisher publisher = MustOpen(Options(2));
  const PublishReport report = MustPublish(publisher);
  EXPECT_EQ(report.rows, 90U);
  EXPECT_EQ(report.withheld, 0U);
  Rows expected = Expected();
  expected.merge(AsPublished(class_sums_));
  EXPECT_EQ(PublishedRows(publisher), expected);
}

TEST_F(PublishTest, ARowOverAllClassesStaysWhereOneOfAClassDoesNotFit) {
  for (unsigned agent = 0; agent < 4; ++agent) Contribute(agent, 0, 2900, agent % 2, 20);
  // These rows have one contribution each. Only rows over all classes exist, since there is one
  // class.
  store::AcceptedRows rows;
  stats::CostHistogram histogram;
  histogram.Add(9);
  stats::RowKey key = class_sums_.begin()->first;
  key.week = 2900;
  for (unsigned version = 0; version < kMaxRowsOfFragment; ++version) {
    key.api.package_version = std::to_string(version);
    rows.Add(key, histogram, store::Contribution::kFirst);
  }
  ASSERT_TRUE(store_
                  ->Accept({.agent_id = std::string(store::kAgentIdBytes, 'x'),
                            .epoch = wire::Epoch(1),
                            .sequence = wire::Sequence(1),
                            .rows = &rows,
                            .answer = "ok"})
                  .has_value());
  Publisher publisher = MustOpen(Options(1));
  const PublishReport report = MustPublish(publisher);
  EXPECT_GT(report.crowded_out, 0U);
  const Rows published = PublishedRows(publisher);
  EXPECT_EQ(published.size(), report.rows);
  std::size_t crowded_classes = 0;
  for (const auto& [honest, row] : class_sums_) crowded_classes += 1 - published.count(honest);
  EXPECT_GT(crowded_classes, 0U);
  for (const auto& [honest, row] : sums_) EXPECT_TRUE(published.contains(honest));
}

TEST_F(PublishTest, LeavesOutOnlyWhatDoesNotFitIntoASum) {
  // Each row's squares are 2^126, so only three of five weeks fit into the sum.
  stats::CostHistogram histogram;
  histogram.Add(std::uint64_t{1} << 63);
  stats::RowKey key{.api = {.soname = "libsample.so.1", .symbol = "large"}};
  for (unsigned week = 0; week < 5; ++week) {
    store::AcceptedRows rows;
    key.week = 2900 + week;
    rows.Add(key, histogram, store::Contribution::kFirst);
    ASSERT_TRUE(store_
                    ->Accept({.agent_id = std::string(store::kAgentIdBytes, 'x'),
                              .epoch = wire::Epoch(1),
                              .sequence = wire::Sequence(week + 1),
                              .rows = &rows,
                              .answer = "ok"})
                    .has_value());
  }
  Publisher publisher = MustOpen(Options(1));
  const PublishReport report = MustPublish(publisher);
  EXPECT_EQ(report.rows, 1U);
  EXPECT_EQ(report.unsound, 0U);
  ASSERT_EQ(report.inconsistent.size(), 2U);
  EXPECT_EQ(report.inconsistent[0].week, 2903U);
  EXPECT_EQ(PublishedRows(publisher).begin()->second.scalars.contributions, 3U);
}

TEST_F(PublishTest, ThresholdCountsDifferentAgentsWithinOneWeek) {
  for (unsigned agent = 0; agent < 3; ++agent) Contribute(agent, 1, 2900, agent);  // 3 in 1 week
  for (unsigned week = 0; week < 5; ++week)
    Contribute(7, 2, 2900 + 13 * week);                                     // 1 agent, 5 quarters
  for (unsigned agent = 0; agent < 2; ++agent) Contribute(agent, 3, 2900);  // 2 in 1 week
  Publisher publisher = MustOpen(Options(3));
  const PublishReport report = MustPublish(publisher);
  EXPECT_EQ(report.rows, 1U);
  EXPECT_EQ(report.withheld, 2U);
  const Rows rows = PublishedRows(publisher);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows.begin()->first.api.symbol, "sample_1");
  EXPECT_EQ(rows.begin()->second, Expected().at(rows.begin()->first));
}

TEST_F(PublishTest, BoundedSumsSayOfHowManyContributionsTheyAre) {
  Contribute(1, 1, 2900, 1);
  Contribute(2, 1, 2900, 2);
  Contribute(3, 1, 2900, 2);
  Contribute(4, 1, 2913);  // in the next quarter
  Publisher publisher = MustOpen(Options(3));
  MustPublish(publisher);
  const Rows rows = PublishedRows(publisher);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows, Expected());
  EXPECT_EQ(rows.begin()->second.scalars.contributions, 4U);
  EXPECT_EQ(rows.begin()->second.weights.Contributions(), 4U);
  EXPECT_EQ(rows.begin()->second.bounded.contributions, 4U);
  EXPECT_EQ(rows.begin()->second.bounded.calls, 4U * 19);
  EXPECT_EQ(told_.begin()->second, stats::QuarterScalars{}) << "the rest would be of one agent";
}

TEST_F(PublishTest, VersionsRiseAcrossRestartsAndUnchangedFragmentsKeepTheirFiles) {
  Contribute(1, 1, 2900);
  std::set<std::string> files;
  for (std::uint64_t version = 1; version <= 3; ++version) {
    clock_.Advance(std::chrono::hours(1));
    Publisher publisher = MustOpen(Options(1));
    const PublishReport report = MustPublish(publisher);
    EXPECT_EQ(report.version, version);
    EXPECT_EQ(report.new_fragments, version == 1 ? 1U : 0U);
    if (version == 1) files = FragmentFiles(publisher);
    EXPECT_EQ(FragmentFiles(publisher), files);
    EXPECT_EQ(MustVerify(publisher).version, version);
  }
}

TEST_F(PublishTest, OldFilesStayForThePreviousTwoSnapshotsOnly) {
  Publisher publisher = MustOpen(Options(1));
  std::vector<std::string> names;
  for (unsigned round = 0; round < 5; ++round) {
    Contribute(round, 1, 2900);
    MustPublish(publisher);
    names.push_back(HexEncode(MustVerify(publisher).fragments[0].sha256));
  }
  EXPECT_EQ(FragmentFiles(publisher), (std::set<std::string>{names[2], names[3], names[4]}));
}

TEST_F(PublishTest, PassesOfAnySizeGiveTheSameFragments) {
  // Enough different APIs to fill several fragments.
  Contribute(1, 0, 2900, 1, 6000);
  PublisherOptions options = Options(1);
  Publisher whole = MustOpen(options);
  MustPublish(whole);
  const wire::SnapshotMetadata first = MustVerify(whole);
  EXPECT_GT(first.fragment_bits, 0U);
  options.rows_per_pass = 1;
  Publisher split = MustOpen(options);
  const std::uint64_t new_fragments = MustPublish(split).new_fragments;
  const wire::SnapshotMetadata second = MustVerify(split);
  EXPECT_EQ(new_fragments,
            first.fragment_bits == second.fragment_bits ? 0U : second.fragments.size());
  EXPECT_EQ(PublishedRows(split), Expected());
}

TEST_F(PublishTest, AnEmptyStorePublishesAnEmptyCatalogue) {
  Publisher publisher = MustOpen(Options(5));
  EXPECT_EQ(MustPublish(publisher).rows, 0U);
  EXPECT_TRUE(PublishedRows(publisher).empty());
}

TEST_F(PublishTest, TheRootKeyIsNotNeededAfterTheFirstStart) {
  MustOpen(Options(1));
  ASSERT_TRUE(std::filesystem::remove(data_dir() / "keys" / "root.key"));
  Publisher publisher = MustOpen(Options(1));
  MustPublish(publisher);
  MustVerify(publisher);
  EXPECT_FALSE(std::filesystem::exists(data_dir() / "keys" / "root.key"));
}

TEST_F(PublishTest, AForeignOrMissingOnlineKeyIsRefusedByName) {
  MustOpen(Options(1));
  ASSERT_TRUE(std::filesystem::remove(data_dir() / "keys" / "snapshot.key"));
  auto refused = Publisher::Open(Options(1), clock_);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(crypto::PrivateKey::LoadOrCreate(data_dir() / "keys" / "snapshot.key").has_value());
  refused = Publisher::Open(Options(1), clock_);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnauthenticated);
  EXPECT_THAT(refused.error().message, HasSubstr("snapshot.key"));
}

TEST(FragmentBitsTest, TheNumberOfFragmentsDoesNotFlap) {
  EXPECT_EQ(ChooseFragmentBits(0, std::nullopt), 0U);
  EXPECT_EQ(ChooseFragmentBits(1000, std::nullopt), 0U);
  PreviousFragments previous{.bits = 0, .rows = 1000, .bytes = 100'000};
  std::uint64_t changes = 0;
  // The catalogue alternately grows by 2 % and shrinks by 1 %, until it is 10,000 times as large.
  double rows = 1000;
  for (int day = 0; rows < 10'000'000; ++day) {
    rows *= day % 2 == 0 ? 1.02 : 0.99;
    const unsigned bits = ChooseFragmentBits(static_cast<std::uint64_t>(rows), previous);
    changes += bits != previous.bits ? 1 : 0;
    EXPECT_GE(bits, previous.bits);
    previous = {.bits = bits,
                .rows = static_cast<std::uint64_t>(rows),
                .bytes = static_cast<std::uint64_t>(rows) * 100};
    const double average = static_cast<double>(previous.bytes) / static_cast<double>(1U << bits);
    ASSERT_LE(average, kLargeFragmentBytes);
    ASSERT_TRUE(bits == 0 || average >= kSmallFragmentBytes);
  }
  EXPECT_LE(changes, 14U);
}

// A revocation's preview and the publication after it count the same way: keys per quarter.
TEST_F(PublishTest, PreviewOfARevocationCountsThePairsThatAreThenWithheld) {
  constexpr std::uint32_t kThreshold = 3;
  constexpr std::uint32_t kWeek = 200 * wire::kWeeksPerEpoch;
  for (const unsigned agent : {1U, 2U, 3U, 4U}) Contribute(agent, 0, kWeek);
  // Three keys in one quarter, but at most two in any week.
  for (const unsigned agent : {1U, 2U}) Contribute(agent, 1, kWeek);
  Contribute(4, 1, kWeek + wire::kWeeksPerEpoch - 1);
  // Two keys in one quarter and the third in another: withheld in any case.
  for (const unsigned agent : {1U, 2U}) Contribute(agent, 2, kWeek);
  Contribute(4, 2, kWeek + wire::kWeeksPerEpoch);
  Publisher publisher = MustOpen(Options(kThreshold));
  const PublishReport before = MustPublish(publisher);
  ASSERT_EQ(before.withheld, 1U);
  std::string agent_id(store::kAgentIdBytes, '.');
  agent_id[0] = 4;
  const auto effect = store_->EffectOfRemoving(agent_id, kThreshold);
  ASSERT_TRUE(effect.has_value()) << effect.error().message;
  ASSERT_TRUE(store_->RemoveAll(agent_id).has_value());
  const PublishReport after = MustPublish(publisher);
  EXPECT_EQ(after.withheld, 2U);
  EXPECT_EQ(effect->below_threshold, after.withheld - before.withheld);
}

}  // namespace
}  // namespace fieldcost::publish
