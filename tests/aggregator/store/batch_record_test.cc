#include "aggregator/store/batch_record.h"

#include <gtest/gtest.h>

#include <random>

#include "aggregator/store/store_row_codec.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/base/units.h"
#include "tests/aggregator/store/batches.h"

namespace fieldcost::store {
namespace {

std::string Record(std::span<const std::uint32_t> refused, std::string_view body) {
  return BatchRecordHead(refused) + std::string(body);
}

TEST(BatchRecordTest, ReadingReturnsTheAcceptedRows) {
  BatchRecordReader reader;
  AcceptedRows rows;
  TestBatch batch;
  unsigned with_body = 0;
  for (unsigned agent = 0; agent < 9; ++agent) {
    for (std::uint64_t sequence = 1; sequence < 20; ++sequence) {
      MakeTestBatch(agent, sequence, batch, nullptr);
      if (batch.body.empty()) continue;
      const Status status = reader.Read(Record(batch.refused, batch.body), rows);
      ASSERT_TRUE(status.has_value()) << status.error().message;
      ASSERT_EQ(rows.bytes(), batch.rows.bytes());
      ++with_body;
    }
  }
  EXPECT_GT(with_body, 50U);
}

TEST(BatchRecordTest, TheGoldenRecordHasTheRowsOfTheReadme) {
  const auto golden =
      ReadFile(std::filesystem::path(FIELDCOST_TEST_DATA) / "inbox_batch.golden", 64 * kKiB);
  ASSERT_TRUE(golden.has_value());
  const auto record = HexDecode(golden->substr(0, golden->find('\n')));
  ASSERT_TRUE(record.has_value());
  BatchRecordReader reader;
  AcceptedRows rows;
  const Status status = reader.Read(*record, rows);
  ASSERT_TRUE(status.has_value()) << status.error().message;

  stats::CostHistogram histogram;
  for (const std::uint64_t value : {3, 3, 7}) histogram.Add(value);
  AcceptedRows expected;
  stats::RowKey key = TestKey(1);
  expected.Add(key, histogram, Contribution::kFirst);
  key.api.symbol = "function_2";
  expected.Add(key, histogram, Contribution::kNone);
  EXPECT_EQ(rows.bytes(), expected.bytes());
  const std::uint32_t refused[] = {1};
  EXPECT_EQ(record->substr(0, 3), BatchRecordHead(refused));
}

TEST(BatchRecordTest, RefusedRowsAreWrittenAsDistances) {
  const std::uint32_t refused[] = {1, 300, 301};
  EXPECT_EQ(BatchRecordHead(refused), std::string("\x03\x03\x01\xaa\x02\x00", 6));
  EXPECT_EQ(BatchRecordHead({}), std::string("\x03\x00", 2));
}

TEST(BatchRecordTest, ARecordThatWasNeverWrittenIsNotRead) {
  BatchRecordReader reader;
  AcceptedRows rows;
  TestBatch batch;
  for (std::uint64_t sequence = 1; batch.refused.empty() || batch.body.empty(); ++sequence) {
    MakeTestBatch(2, sequence, batch, nullptr);
  }
  const std::string good = Record(batch.refused, batch.body);
  ASSERT_TRUE(reader.Read(good, rows).has_value());
  // Without the list of refused rows, the refused row would be added.
  EXPECT_EQ(reader.Read(Record({}, batch.body), rows).error().code, ErrorCode::kCorrupt);
  // A refused row number beyond the batch.
  const std::uint32_t beyond[] = {batch.refused[0], 5000};
  EXPECT_EQ(reader.Read(Record(beyond, batch.body), rows).error().code, ErrorCode::kCorrupt);
  EXPECT_FALSE(reader.Read(batch.rows.bytes(), rows).has_value());
  for (std::size_t size = 0; size < good.size(); ++size) {
    ASSERT_FALSE(reader.Read(good.substr(0, size), rows).has_value()) << size;
  }
  std::mt19937_64 random(5);
  for (int i = 0; i < 2000; ++i) {
    std::string bad = good;
    bad[random() % bad.size()] ^= static_cast<char>(1 + random() % 255);
    (void)reader.Read(bad, rows);  // any result is allowed, but no crash
  }
  ASSERT_TRUE(reader.Read(good, rows).has_value());
  EXPECT_EQ(rows.bytes(), batch.rows.bytes());
}

}  // namespace
}  // namespace fieldcost::store
