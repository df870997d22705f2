#include "aggregator/ingest/receipt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "common/base/file.h"
#include "common/base/text.h"
#include "common/base/units.h"
#include "common/crypto/sha256.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::ingest {
namespace {

using Rows = std::vector<std::uint32_t>;

BatchIdentity SampleBatch() {
  return {.agent = crypto::PrivateKey::FromSeed(std::string(32, 'k')).public_key(),
          .epoch = wire::Epoch(2960),
          .sequence = wire::Sequence(17),
          .body_sha256 = crypto::Sha256("body")};
}

const Receipts kReceipts(std::string(32, 's'));

ErrorCode CodeOf(const Result<Rows>& result) { return result ? ErrorCode{} : result.error().code; }

std::string Golden(const std::string& name) {
  const auto golden = ReadFile(std::filesystem::path(FIELDCOST_TEST_DATA) / name, 4 * kKiB);
  EXPECT_TRUE(golden.has_value());
  return golden->substr(0, golden->find('\n'));
}

// The worked example of aggregator/ingest/RECEIPTS.md.
TEST(ReceiptTest, TheWorkedExampleHasTheBytesOfTheGoldenFile) {
  EXPECT_EQ(kReceipts.Issue(SampleBatch(), Rows{1, 300}), Golden("receipt.golden"));
}

TEST(ReceiptTest, RefusedRowsSurviveAndTakeTheShorterForm) {
  std::mt19937 random(5);
  const auto check = [](const Rows& rows, std::size_t most_bytes) {
    const std::string bytes = EncodeRefusedRows(rows);
    EXPECT_LE(bytes.size(), most_bytes);
    EXPECT_EQ(DecodeRefusedRows(bytes).value(), rows);
    EXPECT_EQ(kReceipts.Open(kReceipts.Issue(SampleBatch(), rows), SampleBatch()).value(), rows);
  };
  check({}, 1);
  check({0}, 2);
  check({16383}, 4);
  Rows all(wire::kMaxBatchRows);
  std::iota(all.begin(), all.end(), 0U);
  check(all, 1 + wire::kMaxBatchRows / 8);
  EXPECT_LE(kReceipts.Issue(SampleBatch(), all).size(), wire::kMaxReceiptBytes);
  for (const unsigned density : {2U, 7U, 20U, 300U}) {
    Rows rows;
    for (std::uint32_t row = 0; row < wire::kMaxBatchRows; ++row) {
      if (random() % density == 0) rows.push_back(row);
    }
    check(rows, 1 + std::min(wire::kMaxBatchRows / 8, 2 * rows.size()));
  }
}

TEST(ReceiptTest, ItIsForOneBatchOfOneServerOnly) {
  const std::string receipt = kReceipts.Issue(SampleBatch(), Rows{3});
  EXPECT_EQ(kReceipts.Issue(SampleBatch(), Rows{3}), receipt);
  const auto code = [&](const BatchIdentity& batch) {
    return CodeOf(kReceipts.Open(receipt, batch));
  };
  EXPECT_EQ(code(SampleBatch()), ErrorCode{});
  BatchIdentity other = SampleBatch();
  other.agent = crypto::PrivateKey::FromSeed(std::string(32, 'o')).public_key();
  EXPECT_EQ(code(other), ErrorCode::kPermissionDenied);
  other = SampleBatch();
  other.epoch = wire::Epoch(2961);
  EXPECT_EQ(code(other), ErrorCode::kPermissionDenied);
  other = SampleBatch();
  other.sequence = wire::Sequence(18);
  EXPECT_EQ(code(other), ErrorCode::kPermissionDenied);
  other = SampleBatch();
  other.body_sha256 = crypto::Sha256("another body");
  EXPECT_EQ(code(other), ErrorCode::kPermissionDenied);
  EXPECT_EQ(CodeOf(Receipts(std::string(32, 't')).Open(receipt, SampleBatch())),
            ErrorCode::kPermissionDenied);
}

TEST(ReceiptTest, NoFlippedBitAndNoTruncationIsTaken) {
  const std::string receipt = kReceipts.Issue(SampleBatch(), Rows{1, 300});
  const std::string bytes = *HexDecode(receipt);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    const std::string hex = HexEncode(flipped);
    ASSERT_NE(CodeOf(kReceipts.Open(hex, SampleBatch())), ErrorCode{}) << bit;
  }
  for (std::size_t size = 0; size < receipt.size(); ++size) {
    ASSERT_NE(CodeOf(kReceipts.Open(receipt.substr(0, size), SampleBatch())), ErrorCode{}) << size;
  }
}

TEST(ReceiptTest, DistinguishesMalformedReceiptsFromWrongOnes) {
  const std::string mac(64, '0');
  for (const std::string& bad :
       {std::string(), std::string("zz"), "0100" + mac.substr(2), "0200" + mac, "0000" + mac,
        "ff00" + mac, "0102" + mac, "010080" + mac, "010080808000" + mac,
        "0100ff7f" + std::string("ff7f") + mac,
        "0101" + std::string(2 * (wire::kMaxBatchRows / 8 + 1), '0') + mac,
        std::string(wire::kMaxReceiptBytes + 2, '0')}) {
    EXPECT_EQ(CodeOf(kReceipts.Open(bad, SampleBatch())), ErrorCode::kInvalidArgument) << bad;
  }
  EXPECT_EQ(CodeOf(kReceipts.Open("0100" + mac, SampleBatch())), ErrorCode::kPermissionDenied);
}

TEST(ReceiptTest, TheSecretIsKeptWithModeOnlyForItsOwner) {
  const testing::TempDir dir;
  const auto first = Receipts::LoadOrCreate(dir.path() / "a");
  const auto again = Receipts::LoadOrCreate(dir.path() / "a");
  const auto other = Receipts::LoadOrCreate(dir.path() / "b");
  ASSERT_TRUE(first && again && other);
  EXPECT_EQ(first->Issue(SampleBatch(), {}), again->Issue(SampleBatch(), {}));
  EXPECT_NE(first->Fingerprint(), other->Fingerprint());
  EXPECT_EQ(std::filesystem::status(dir.path() / "a").permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

}  // namespace
}  // namespace fieldcost::ingest
