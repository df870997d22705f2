#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>

#include "aggregator/publish/publisher.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"
#include "common/wire/fragment.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::publish {

using Rows = std::map<stats::RowKey, stats::StatRow>;

// A store that agents contribute to, the expected publication and the actual one.
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

  // Accepts one agent's batch with one row for each of `apis` APIs, and adds it to the expected
  // sums.
  void Contribute(unsigned agent, unsigned first_api, std::uint32_t week, unsigned log2_cores = 1,
                  unsigned apis = 1) {
    store::AcceptedRows rows;
    for (unsigned api = first_api; api < first_api + apis; ++api) {
      stats::RowKey key;
      key.api = {.soname = "libsample.so.1", .symbol = "sample_" + std::to_string(api)};
      key.hardware = {.architecture = "x86_64", .log2_cores = log2_cores};
      key.week = week;
      stats::CostHistogram histogram;
      for (std::uint64_t i = 1; i < 20; ++i) histogram.Add(i * (agent + 3) * (api + 1) * week);
      rows.Add(key, histogram, store::Contribution::kFirst);
      key.week = 0;
      const auto add = [&](Rows& sums) {
        stats::StatRow& sum = sums[key];
        sum.key = key;
        sum.histogram.Merge(histogram);
        sum.scalars.Merge(stats::ScalarsOf(histogram));
        sum.weights.Merge(stats::WeightsOf(histogram));
        stats::ContributionSizes& sizes = sizes_[key];
        sizes.Merge(stats::SizesOf(histogram));
        sum.bounded = sizes.Bounded();
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

  // Follows timestamp, snapshot and fragments as a client does, verifying each step.
  wire::SnapshotMetadata MustVerify(const Publisher& publisher) {
    const auto root = wire::VerifyPinnedRoot(MustRead(publisher.directory() / "root" / "1"));
    EXPECT_TRUE(root.has_value());
    const auto timestamp =
        wire::VerifyTimestamp(MustRead(publisher.directory() / "timestamp"), *root);
    EXPECT_TRUE(timestamp.has_value());
    const std::string bytes =
        MustRead(publisher.directory() / "snapshots" / HexEncode(timestamp->snapshot_sha256));
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
          MustRead(publisher.directory() / "fragments" / HexEncode(reference.sha256));
      EXPECT_EQ(bytes.size(), reference.size_bytes);
      const auto fragment = wire::DecodeFragment(bytes);
      EXPECT_TRUE(fragment.has_value()) << fragment.error().message;
      EXPECT_EQ(fragment->size(), reference.row_count);
      for (const stats::StatRow& row : *fragment) {
        EXPECT_EQ(
            wire::FragmentIndexOf(row.key.api.soname, row.key.api.symbol, snapshot.fragment_bits),
            index);
        rows[row.key] = row;
        rows[row.key].fullest_quarter = {};
        told_[row.key] = row.fullest_quarter;
      }
    }
    return rows;
  }

  // The sums over all classes, with weights rounded as in a fragment.
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
  std::map<stats::RowKey, stats::QuarterScalars> told_;      // set by PublishedRows()
  Rows sums_;                                                // over classes and weeks
  Rows class_sums_;                                          // over weeks
  std::map<stats::RowKey, stats::ContributionSizes> sizes_;  // for both
};

}  // namespace fieldcost::publish
