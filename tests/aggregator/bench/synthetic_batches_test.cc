#include "aggregator/bench/synthetic_batches.h"

#include <gtest/gtest.h>

#include <atomic>

#include "common/base/text.h"
#include "common/crypto/ed25519.h"
#include "common/crypto/sha256.h"
#include "common/wire/wire_limits.h"

namespace fieldcost::bench {
namespace {

constexpr TrafficOptions kSmall = {.keys = 20'000, .agents = 2, .batches_per_agent = 2, .week = 9};

TEST(SyntheticBatchesTest, ASeedAlwaysGivesTheSameBatches) {
  const std::vector<SentBatch> batches = MakeTraffic(kSmall);
  const std::vector<SentBatch> again = MakeTraffic(kSmall);
  ASSERT_EQ(batches.size(), 4U);
  for (std::size_t i = 0; i < batches.size(); ++i) {
    EXPECT_EQ(batches[i].agent, i % 2);
    EXPECT_EQ(batches[i].sequence, i / 2 + 1);
    EXPECT_EQ(batches[i].body, again[i].body);
  }
  TrafficOptions other = kSmall;
  other.seed = 2;
  EXPECT_NE(MakeTraffic(other)[0].body, batches[0].body);
}

TEST(SyntheticBatchesTest, BatchesAreFullAndTheirBucketsAreCounted) {
  for (const SentBatch& batch : MakeTraffic(kSmall)) {
    const wire::BatchContent content = wire::DecodeBatch(batch.body).value();
    const std::size_t bytes = wire::EncodedBatchBytes(content);
    EXPECT_LE(bytes, wire::kBatchTargetBytes);
    EXPECT_GE(bytes, wire::kBatchTargetBytes * 9 / 10);
    std::uint64_t adds = 0;
    for (const wire::BatchRow& row : content.rows) {
      EXPECT_EQ(row.week, kSmall.week);
      row.histogram.ForEachUsed([&](unsigned, const stats::Bucket&) { ++adds; });
    }
    EXPECT_GT(adds, content.rows.size());
    EXPECT_EQ(BucketAddsOf(batch), adds);
  }
}

TEST(SyntheticBatchesTest, OnlyTheFirstBatchWithAnApiContributes) {
  const std::vector<SentBatch> batches = MakeTraffic(kSmall);
  const wire::BatchContent first = wire::DecodeBatch(batches[0].body).value();
  const wire::BatchContent second = wire::DecodeBatch(batches[2].body).value();
  std::size_t repeated = 0;
  for (const wire::BatchRow& row : first.rows) EXPECT_TRUE(row.first_contribution);
  for (const wire::BatchRow& row : second.rows) repeated += row.first_contribution ? 0 : 1;
  EXPECT_GT(repeated, 0U);
  EXPECT_LT(repeated, second.rows.size());
}

TEST(SyntheticBatchesTest, RequestsAreSignedForTheirService) {
  const SentBatch batch = MakeTraffic(kSmall)[1];
  const http::Request request = RequestOf(batch, "host/root");
  const auto key = crypto::ParsePublicKey(http::Find(request.headers, wire::kAgentHeader));
  ASSERT_TRUE(key.has_value());
  const auto signature = HexDecode(http::Find(request.headers, wire::kSignatureHeader));
  ASSERT_TRUE(signature.has_value());
  const std::string signed_bytes =
      wire::BatchSigningInput("host/root", key->view(), wire::Epoch(batch.epoch),
                              wire::Sequence(batch.sequence), crypto::Sha256(batch.body));
  EXPECT_TRUE(crypto::Verify(*key, signed_bytes, *signature));
}

TEST(SyntheticBatchesTest, GenerationCanBeStopped) {
  std::atomic<int> calls{0};
  TrafficOptions many = kSmall;
  many.agents = 1'000'000;
  many.batches_per_agent = 1;
  EXPECT_TRUE(MakeTraffic(many, [&](std::uint64_t) { return ++calls < 3; }).empty());
  EXPECT_LE(calls, 4);
}

}  // namespace
}  // namespace fieldcost::bench
