#include "aggregator/publish/publisher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>

#include "aggregator/publish/file_server.h"
#include "aggregator/publish/limits.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"
#include "common/wire/fragment.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::publish {
namespace {

using ::testing::HasSubstr;
using Rows = std::map<stats::RowKey, stats::StatRow>;

std::string HexOf(std::string_view bytes) {
  return HexEncode({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

class PublishTest : public ::testing::Test {
 protected:
  PublishTest()
      : store_(std::move(*store::Store::Open({.data_dir = data_dir(), .checkpoint_seconds = 0}))) {}

  std::filesystem::path data_dir() const { return dir_.path() / "data"; }

  PublisherOptions Options(std::uint32_t threshold) const {
    return {.data_dir = data_dir(), .contribution_threshold = threshold};
  }

  Publisher MustOpen(const PublisherOptions& options) {
    auto publisher = Publisher::Open(options, clock_);
    EXPECT_TRUE(publisher.has_value()) << publisher.error().message;
    return std::move(*publisher);
  }

  PublishReport MustPublish(Publisher& publisher) {
    const auto report = publisher.Publish(*store_);
    EXPECT_TRUE(report.has_value()) << report.error().message;
    return *report;
  }

  // One agent's batch with one row for each of `apis` APIs. Adds it to the expected sums.
  void Contribute(unsigned agent, unsigned first_api, std::uint32_t week, unsigned log2_cores = 1,
                  unsigned apis = 1, store::Contribution kind = store::Contribution::kFirst) {
    store::AcceptedRows rows;
    for (unsigned api = first_api; api < first_api + apis; ++api) {
      stats::RowKey key;
      key.api = {.soname = "libsample.so.1", .symbol = "sample_" + std::to_string(api)};
      key.hardware = {.architecture = "x86_64", .log2_cores = log2_cores};
      key.week = week;
      stats::CostHistogram histogram;
      for (std::uint64_t i = 1; i < 20; ++i) histogram.Add(i * (agent + 3) * (api + 1) * week);
      rows.Add(key, histogram, kind);
      key.week = 0;
      const auto add = [&](Rows& sums) {
        stats::StatRow& sum = sums[key];
        sum.key = key;
        sum.histogram.Merge(histogram);
        stats::ContributionScalars scalars = stats::ScalarsOf(histogram);
        if (kind != store::Contribution::kFirst) scalars.ForgetCubes();
        sum.scalars.Merge(scalars);
        if (kind != store::Contribution::kFirstUnweighted) {
          sum.weights.Merge(stats::WeightsOf(histogram));
        }
        if (kind == store::Contribution::kFirst) {
          stats::ContributionSizes& sizes = sizes_[key];
          sizes.Merge(stats::SizesOf(histogram));
          sum.bounded = sizes.Bounded();
        }
      };
      add(class_sums_);
      key.hardware = {};
      add(sums_);
    }
    std::string agent_id(store::kAgentIdBytes, '.');
    agent_id[0] = static_cast<char>(agent);
    ASSERT_TRUE(store_
                    ->Accept({.agent_id = agent_id,
                              .epoch = wire::Epoch(1),
                              .sequence = wire::Sequence(++sequences_[agent]),
                              .rows = &rows,
                              .answer = "ok"})
                    .has_value());
  }

  std::string MustRead(const std::filesystem::path& path) {
    auto bytes = ReadFile(path, 64 * kMiB);
    EXPECT_TRUE(bytes.has_value()) << bytes.error().message;
    return std::move(*bytes);
  }

  // Follows timestamp, snapshot and fragments as a client does, checking each step.
  wire::SnapshotMetadata MustVerify(const Publisher& publisher) {
    const auto root = wire::VerifyPinnedRoot(MustRead(publisher.directory() / "root" / "1"));
    EXPECT_TRUE(root.has_value());
    const auto timestamp =
        wire::VerifyTimestamp(MustRead(publisher.directory() / "timestamp"), *root);
    EXPECT_TRUE(timestamp.has_value());
    const std::string bytes =
        MustRead(publisher.directory() / "snapshots" / HexOf(timestamp->snapshot_sha256));
    EXPECT_EQ(crypto::Sha256(bytes), timestamp->snapshot_sha256);
    EXPECT_EQ(bytes.size(), timestamp->snapshot_bytes);
    auto snapshot = wire::VerifySnapshot(bytes, *root);
    EXPECT_TRUE(snapshot.has_value());
    EXPECT_EQ(snapshot->version, timestamp->snapshot_version);
    return std::move(*snapshot);
  }

  Rows PublishedRows(const Publisher& publisher) {
    Rows rows;
    const wire::SnapshotMetadata snapshot = MustVerify(publisher);
    EXPECT_EQ(snapshot.fragments.size(), std::size_t{1} << snapshot.fragment_bits);
    for (std::uint32_t index = 0; index < snapshot.fragments.size(); ++index) {
      const wire::FragmentReference& reference = snapshot.fragments[index];
      const std::string bytes =
          MustRead(publisher.directory() / "fragments" / HexOf(reference.sha256));
      EXPECT_EQ(bytes.size(), reference.size_bytes);
      const auto fragment = wire::DecodeFragment(bytes);
      EXPECT_TRUE(fragment.has_value()) << fragment.error().message;
      EXPECT_EQ(fragment->size(), reference.row_count);
      for (const stats::StatRow& row : *fragment) {
        EXPECT_EQ(
            wire::FragmentIndexOf(row.key.api.soname, row.key.api.symbol, snapshot.fragment_bits),
            index);
        rows[row.key] = row;
        rows[row.key].fullest_week = {};
        told_[row.key] = row.fullest_week;
      }
    }
    return rows;
  }

  // The sums over all classes, with weights rounded as a fragment has them.
  Rows Expected() const { return AsPublished(sums_); }

  static Rows AsPublished(const Rows& sums) {
    Rows rows;
    for (const auto& [key, sum] : sums) {
      rows[key] = wire::DecodeFragment(wire::EncodeFragment({sum}).value()).value().front();
      EXPECT_EQ(rows[key].weights.Contributions(), sum.weights.Contributions());
    }
    return rows;
  }

  std::set<std::string> FragmentFiles(const Publisher& publisher) {
    std::set<std::string> names;
    for (const auto& entry :
         std::filesystem::directory_iterator(publisher.directory() / "fragments")) {
      names.insert(entry.path().filename().string());
    }
    return names;
  }

  const testing::TempDir dir_;
  testing::FakeClock clock_{WallTime(std::chrono::days(20'000))};
  std::unique_ptr<store::Store> store_;
  std::map<unsigned, std::uint64_t> sequences_;
  std::map<stats::RowKey, stats::WeekScalars> told_;         // by PublishedRows()
  Rows sums_;                                                // over classes and weeks
  Rows class_sums_;                                          // over weeks
  std::map<stats::RowKey, stats::ContributionSizes> sizes_;  // of both
};

// With names made up by a few agents, who would prevent every publication from then on.
TEST_F(PublishTest, AFragmentThatIsTooFullLeavesOutTheRowsOfTheFewest) {
  constexpr unsigned kMadeUp = 33'000;  // two texts each: more than a fragment may have
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

TEST_F(PublishTest, WhatIsPublishedIsTheSumOverClassesAndWeeksBitForBit) {
  for (unsigned agent = 0; agent < 4; ++agent) Contribute(agent, 0, 2900 + agent % 2, 1, 30);
  Publisher publisher = MustOpen(Options(1));
  const PublishReport report = MustPublish(publisher);
  EXPECT_EQ(report.rows, 30U);
  EXPECT_EQ(report.withheld, 0U);
  EXPECT_EQ(report.store_sequence, 4U);
  // One class is all classes, and would only be told twice.
  EXPECT_EQ(PublishedRows(publisher), Expected());
}

TEST_F(PublishTest, OfSeveralClassesEachIsPublishedBesideTheSum) {
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
  // Of one contribution each, but over all classes: there is only one.
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

TEST_F(PublishTest, ThresholdCountsDifferentAgentsWithinOneWeek) {
  for (unsigned agent = 0; agent < 3; ++agent) Contribute(agent, 1, 2900, agent);  // 3 in a week
  for (unsigned week = 0; week < 5; ++week) Contribute(7, 2, 2900 + week);  // 1 agent, 5 weeks
  for (unsigned agent = 0; agent < 2; ++agent) Contribute(agent, 3, 2900);  // 2 in a week
  Publisher publisher = MustOpen(Options(3));
  const PublishReport report = MustPublish(publisher);
  EXPECT_EQ(report.rows, 1U);
  EXPECT_EQ(report.withheld, 2U);
  const Rows rows = PublishedRows(publisher);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows.begin()->first.api.symbol, "sample_1");
  EXPECT_EQ(rows.begin()->second, Expected().at(rows.begin()->first));
}

TEST_F(PublishTest, ContributionsFromBeforeWeightsCountForTheThresholdAndSayThatTheyHaveNone) {
  Contribute(1, 1, 2900, 1, 1, store::Contribution::kFirstUnweighted);
  Contribute(2, 1, 2900, 2, 1, store::Contribution::kFirstUnweighted);
  Contribute(3, 1, 2900);
  Publisher publisher = MustOpen(Options(3));
  EXPECT_EQ(MustPublish(publisher).rows, 1U);
  const Rows rows = PublishedRows(publisher);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows, Expected());
  EXPECT_EQ(rows.begin()->second.scalars.contributions, 3U);
  EXPECT_EQ(rows.begin()->second.weights.Contributions(), 1U);
  const stats::WeekScalars& week = told_.begin()->second;
  EXPECT_EQ(week.week, 2900U);
  EXPECT_EQ(week.scalars, rows.begin()->second.scalars);
  EXPECT_EQ(week.scalars.cubed_contributions, 1U);
  EXPECT_FALSE(week.scalars.knows_cubes());
}

TEST_F(PublishTest, BoundedSumsSayOfHowManyContributionsTheyAre) {
  Contribute(1, 1, 2900, 1, 1, store::Contribution::kFirstUnweighted);
  Contribute(2, 1, 2900, 2, 1, store::Contribution::kFirstUnsized);
  Contribute(3, 1, 2900, 2);
  Contribute(4, 1, 2901);
  Publisher publisher = MustOpen(Options(3));
  MustPublish(publisher);
  const Rows rows = PublishedRows(publisher);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows, Expected());
  EXPECT_EQ(rows.begin()->second.scalars.contributions, 4U);
  EXPECT_EQ(rows.begin()->second.weights.Contributions(), 3U);
  EXPECT_EQ(rows.begin()->second.bounded.contributions, 2U);
  EXPECT_EQ(rows.begin()->second.bounded.calls, 2U * 19);
  EXPECT_EQ(told_.begin()->second, stats::WeekScalars{}) << "the rest would be of one agent";
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
    names.push_back(HexOf(MustVerify(publisher).fragments[0].sha256));
  }
  EXPECT_EQ(FragmentFiles(publisher), (std::set<std::string>{names[2], names[3], names[4]}));
}

TEST_F(PublishTest, PassesOfAnySizeGiveTheSameFragments) {
  // Enough different APIs for several fragments.
  Contribute(1, 0, 2900, 1, 6000);
  PublisherOptions options = Options(1);
  Publisher whole = MustOpen(options);
  MustPublish(whole);
  const wire::SnapshotMetadata first = MustVerify(whole);
  EXPECT_GT(first.fragment_bits, 0U);
  options.rows_per_pass = 1;
  Publisher split = MustOpen(options);
  EXPECT_EQ(MustPublish(split).new_fragments, first.fragment_bits == MustVerify(split).fragment_bits
                                                  ? 0U
                                                  : MustVerify(split).fragments.size());
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
  // The catalogue grows by 2 % a day and shrinks by 1 % the day after, to 10,000 times its size.
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

class FileServerTest : public PublishTest {
 protected:
  FileServerTest() {
    Contribute(1, 1, 2900);
    publisher_ = std::make_unique<Publisher>(MustOpen(Options(1)));
    MustPublish(*publisher_);
    files_ = std::make_unique<FileServer>(publisher_->directory(), 1);
    fragment_ = MustVerify(*publisher_).fragments[0].sha256;
    bytes_ = MustRead(publisher_->directory() / "fragments" / HexOf(fragment_));
  }

  http::Response Get(const std::string& target, http::Headers headers = {}) const {
    return files_->Handle({.method = "GET", .target = target, .headers = std::move(headers)});
  }

  std::unique_ptr<Publisher> publisher_;
  std::unique_ptr<FileServer> files_;
  std::string fragment_;
  std::string bytes_;
};

TEST_F(FileServerTest, ContentNamedFilesMayBeKeptForEverAndOthersMustBeAskedFor) {
  const http::Response fragment = Get(wire::FragmentPath(fragment_));
  EXPECT_EQ(fragment.status, 200);
  EXPECT_EQ(fragment.body, bytes_);
  EXPECT_THAT(std::string(http::Find(fragment.headers, "Cache-Control")), HasSubstr("immutable"));
  for (const std::string& path :
       {std::string(wire::kRootPath), std::string(wire::kTimestampPath)}) {
    const http::Response response = Get(path);
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(http::Find(response.headers, "Cache-Control"), "no-cache");
  }
  EXPECT_EQ(Get(wire::RootVersionPath(1)).body, Get(wire::kRootPath).body);
}

TEST_F(FileServerTest, AnUnchangedFileIsNotSentAgain) {
  const http::Response first = Get(wire::kTimestampPath);
  const std::string etag(http::Find(first.headers, "ETag"));
  const http::Response second = Get(wire::kTimestampPath, {{"If-None-Match", etag}});
  EXPECT_EQ(second.status, 304);
  EXPECT_TRUE(second.body.empty());
  MustPublish(*publisher_);
  EXPECT_EQ(Get(wire::kTimestampPath, {{"If-None-Match", etag}}).status, 200);
}

TEST_F(FileServerTest, RangesGiveExactlyThoseBytes) {
  const std::string path = wire::FragmentPath(fragment_);
  const std::size_t size = bytes_.size();
  const std::string n = std::to_string(size);
  const struct {
    std::string range;
    int status;
    std::string body;
    std::string content_range;
  } cases[] = {
      {"bytes=0-9", 206, bytes_.substr(0, 10), "bytes 0-9/" + n},
      {"bytes=10-", 206, bytes_.substr(10), "bytes 10-" + std::to_string(size - 1) + "/" + n},
      {"bytes=-4", 206, bytes_.substr(size - 4),
       "bytes " + std::to_string(size - 4) + "-" + std::to_string(size - 1) + "/" + n},
      {"bytes=1-99999999", 206, bytes_.substr(1), "bytes 1-" + std::to_string(size - 1) + "/" + n},
      {"bytes=" + n + "-", 416, "", "bytes */" + n},
      {"bytes=5-2", 200, bytes_, ""},
      {"bytes=0-1,4-5", 200, bytes_, ""},
      {"lines=1-2", 200, bytes_, ""},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.range);
    const http::Response response = Get(path, {{"Range", c.range}});
    EXPECT_EQ(response.status, c.status);
    if (c.status != 416) {
      EXPECT_EQ(response.body, c.body);
    }
    EXPECT_EQ(http::Find(response.headers, "Content-Range"), c.content_range);
  }
}

// RFC 9110 section 13.1.5: the rest of a file is only for who has the beginning of the same one.
TEST_F(FileServerTest, TheRestIsSentOnlyOfTheFileThatTheFirstPartIsOf) {
  const std::string path = wire::FragmentPath(fragment_);
  const std::string etag(http::Find(Get(path).headers, "ETag"));
  const auto status_if = [&](const std::string& condition) {
    const http::Response response = Get(path, {{"Range", "bytes=0-9"}, {"If-Range", condition}});
    EXPECT_EQ(response.body, response.status == 206 ? bytes_.substr(0, 10) : bytes_) << condition;
    return response.status;
  };
  EXPECT_EQ(status_if(etag), 206);
  EXPECT_EQ(status_if("\"another\""), 200);
  EXPECT_EQ(status_if("W/" + etag), 200);
  EXPECT_EQ(status_if("*"), 200);
  EXPECT_EQ(status_if(etag + ", " + etag), 200);
  EXPECT_EQ(status_if("Sun, 22 Nov 2026 10:00:00 GMT"), 200) << "we send no Last-Modified";
  EXPECT_EQ(Get(path, {{"If-Range", "\"another\""}}).status, 200);
}

TEST_F(FileServerTest, OnlyGetHasRanges) {
  const std::string path = wire::FragmentPath(fragment_);
  for (const char* range : {"bytes=0-9", "bytes=99999999-"}) {
    const http::Response head =
        files_->Handle({.method = "HEAD", .target = path, .headers = {{"Range", range}}});
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.body.size(), bytes_.size()) << "what Content-Length tells";
    EXPECT_EQ(http::Find(head.headers, "Content-Range"), "");
  }
}

TEST_F(FileServerTest, OnlyPublishedNamesReachTheFileSystem) {
  for (const char* target :
       {"/", "/v1", "/v1/metadata/root/0", "/v1/metadata/root/01", "/v1/metadata/root/../timestamp",
        "/v1/fragments/", "/v1/fragments/../../keys/root.key", "/v1/metadata/timestamp?x",
        "/v1/metadata/root/2", "/v1/fragments/%2e%2e"}) {
    EXPECT_EQ(Get(target).status, 404) << target;
  }
  std::string upper = wire::FragmentPath(fragment_);
  upper.back() = 'G';
  EXPECT_EQ(Get(upper).status, 404);
  const http::Response post =
      files_->Handle({.method = "POST", .target = wire::kTimestampPath, .body = "x"});
  EXPECT_EQ(post.status, 405);
  EXPECT_EQ(http::Find(post.headers, "Allow"), "GET, HEAD");
}

}  // namespace
}  // namespace fieldcost::publish
