#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "aggregator/ingest/ingest.h"
#include "tests/aggregator/ingest/sender.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::ingest {

// Base class with an ingest, its own store and a fixed current week.
inline constexpr std::uint32_t kTrustWeek = 2960;

class TrustTest : public ::testing::Test {
 protected:
  TrustTest() {
    SetTestEpoch(EpochOfWeek(kTrustWeek));
    Open({.checkpoint_seconds = 0});
  }

  void Open(store::StoreOptions options, IngestOptions ingest_options = {}) {
    ingest_.reset();
    store_.reset();
    options.data_dir = dir_.path() / "data";
    options.checkpoint_seconds = 0;
    ingest_options.names = {kTestHost};
    ingest_options.roots = {kTestRoot};
    auto store = store::Store::Open(options);
    ASSERT_TRUE(store.has_value()) << store.error().message;
    store_ = std::move(*store);
    ingest_ = std::make_unique<Ingest>(
        *store_, clock_, *Pseudonyms::LoadOrCreate(dir_.path() / "pseudonyms"),
        *Receipts::LoadOrCreate(dir_.path() / "receipts"),
        std::move(*Admission::Load(EnrolmentMode::kOpen, {}, *store_)), std::move(ingest_options));
  }

  http::Response Send(const crypto::PrivateKey& key, std::uint64_t sequence,
                      const wire::BatchContent& content) {
    return ingest_->Handle(SignedRequest(key, sequence, content));
  }
  http::Response Send(std::uint64_t sequence, const wire::BatchContent& content) {
    return Send(key_, sequence, content);
  }
  wire::BatchAnswer MustSend(std::uint64_t sequence, const wire::BatchContent& content) {
    const http::Response response = Send(sequence, content);
    EXPECT_EQ(response.status, 200) << response.body;
    return wire::DecodeAnswer(response.body).value_or(wire::BatchAnswer());
  }

  stats::StatRow Stored(const wire::BatchContent& content, std::size_t row) {
    const wire::BatchRow& sent = content.rows[row];
    return store_->Get({sent.api, sent.metric, content.hardware, sent.week})
        ->value_or(stats::StatRow());
  }
  std::uint64_t Contributions(const wire::BatchContent& content, std::size_t row) {
    return Stored(content, row).scalars.contributions;
  }

  const testing::TempDir dir_;
  testing::FakeClock clock_{WallTime(std::chrono::days(7 * kTrustWeek + 3))};
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<Ingest> ingest_;
  const crypto::PrivateKey key_ = crypto::PrivateKey::FromSeed(std::string(32, 'k'));
  const crypto::PrivateKey other_ = crypto::PrivateKey::FromSeed(std::string(32, 'o'));
};

// A row with one bucket of `count` values of `value` each, or as close as 128 bits allow.
inline wire::BatchRow RowOf(unsigned number, stats::Metric metric, std::uint64_t value,
                            std::uint64_t count) {
  wire::BatchRow row = TestRow(number, kTrustWeek);
  row.metric = metric;
  row.histogram = {};
  stats::CostHistogram one;
  one.Add(value);
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
    const stats::Bucket& bucket = one.bucket(slot);
    if (bucket.count == 0) continue;
    row.histogram.SetBucket(slot, {.count = count,
                                   .sum = bucket.sum * count,
                                   .sum_of_squares = bucket.sum_of_squares * count});
  }
  return row;
}

}  // namespace fieldcost::ingest
