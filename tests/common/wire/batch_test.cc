#include "common/wire/batch.h"

#include <gtest/gtest.h>

#include "tests/common/wire/samples.h"

namespace fieldcost::wire {
namespace {

BatchContent DecodeAll(const BatchDecoder& decoder) {
  BatchContent content{.field_policy_version = decoder.field_policy_version(),
                       .hardware = decoder.hardware()};
  UntrustedRow row;
  for (std::size_t i = 0; i < decoder.row_count(); ++i) {
    decoder.GetRow(i, row);
    EXPECT_FALSE(row.malformed);
    content.rows.push_back({.api = row.api,
                            .metric = static_cast<stats::Metric>(row.metric_number),
                            .week = row.week,
                            .first_contribution = row.first_contribution,
                            .histogram = row.histogram});
  }
  return content;
}

TEST(BatchTest, DecodingGivesBackWhatWasEncoded) {
  const auto body = EncodeBatch(SampleBatch());
  ASSERT_TRUE(body.has_value());
  BatchDecoder decoder;
  const Status status = decoder.Decode(*body);
  ASSERT_TRUE(status.has_value()) << status.error().message;
  EXPECT_EQ(DecodeAll(decoder), SampleBatch());
}

TEST(BatchTest, ADecoderIsGoodForManyBatchesAndRecoversFromBadOnes) {
  BatchDecoder decoder;
  for (const std::size_t rows : {500U, 3U, 0U, 2000U}) {
    ASSERT_TRUE(decoder.Decode(*EncodeBatch(ManyRows(rows))).has_value());
    EXPECT_EQ(DecodeAll(decoder), ManyRows(rows));
    EXPECT_EQ(decoder.Decode("rubbish").error().code, ErrorCode::kCorrupt);
    EXPECT_EQ(decoder.row_count(), 0U);
  }
}

TEST(BatchTest, TheSameContentGivesTheSameBytes) {
  EXPECT_EQ(*EncodeBatch(ManyRows(300)), *EncodeBatch(ManyRows(300)));
}

TEST(BatchTest, SumsOf128BitsSurvive) {
  BatchContent content = SampleBatch();
  stats::CostHistogram& histogram = content.rows[0].histogram;
  histogram.Add(~std::uint64_t{0});
  ASSERT_GT(stats::High64(histogram.bucket(64).sum_of_squares), 0U);
  BatchDecoder decoder;
  ASSERT_TRUE(decoder.Decode(*EncodeBatch(content)).has_value());
  EXPECT_EQ(DecodeAll(decoder), content);
}

TEST(BatchTest, CallsThatWereNotTimedSurviveWhereverTheyAre) {
  for (const std::size_t weighted : {0U, 1U}) {
    BatchContent content = SampleBatch();
    ASSERT_GE(content.rows.size(), 3U);
    content.rows[weighted].histogram.Add(700, 16);
    BatchDecoder decoder;
    ASSERT_TRUE(decoder.Decode(*EncodeBatch(content)).has_value());
    EXPECT_EQ(DecodeAll(decoder), content);
  }
}

TEST(BatchTest, TheEncodedSizeIsKnownBeforeCompression) {
  EXPECT_LT(EncodedBatchBytes(ManyRows(10)), EncodedBatchBytes(ManyRows(11)));
  // A row with a single bucket costs little more than its symbol's text.
  EXPECT_LT(EncodedBatchBytes(ManyRows(1000)), 50 * 1000U);
}

TEST(BatchTest, RowsThatFitAreKnownToTheByte) {
  for (const bool untimed : {false, true}) {
    BatchContent content = ManyRows(300);
    // A column that only later rows have.
    if (untimed) content.rows[200].histogram.Add(7, 16);
    for (const std::size_t rows : {1, 2, 100, 127, 128, 129, 200, 201, 202, 299}) {
      BatchContent prefix = content;
      prefix.rows.resize(rows);
      const std::size_t bytes = EncodedBatchBytes(prefix);
      EXPECT_EQ(RowsThatFit(content, bytes), rows);
      EXPECT_EQ(RowsThatFit(content, bytes - 1), std::max<std::size_t>(rows - 1, 1));
    }
    EXPECT_EQ(RowsThatFit(content, EncodedBatchBytes(content)), content.rows.size());
    EXPECT_EQ(RowsThatFit(content, 0), 1U);
  }
}

TEST(BatchTest, AHostsOwnBatchIsReadBackInFull) {
  const BatchContent content = ManyRows(300);
  EXPECT_EQ(DecodeBatch(*EncodeBatch(content)).value(), content);
  EXPECT_EQ(DecodeBatch("no batch").error().code, ErrorCode::kCorrupt);
}

TEST(BatchTest, ABatchOfTheTargetSizeIsAccepted) {
  std::size_t rows = 1000;
  while (EncodedBatchBytes(ManyRows(rows)) < kBatchTargetBytes) rows += 500;
  const auto body = EncodeBatch(ManyRows(rows));
  ASSERT_TRUE(body.has_value()) << body.error().message;
  BatchDecoder decoder;
  EXPECT_TRUE(decoder.Decode(*body).has_value());
  EXPECT_EQ(decoder.row_count(), rows);
}

TEST(BatchTest, TooManyRowsAreNotEncoded) {
  EXPECT_TRUE(EncodeBatch(ManyRows(kMaxBatchRows)).has_value());
  EXPECT_EQ(EncodeBatch(ManyRows(kMaxBatchRows + 1)).error().code, ErrorCode::kTooLarge);
}

TEST(BatchTest, TheSigningInputHoldsEveryFieldAtItsPlace) {
  const std::string input = BatchSigningInput("a.example", std::string(32, 'k'), Epoch(0x0102),
                                              Sequence(3), std::string(32, 'h'));
  std::string expected = "fieldcost batch v1";
  expected += '\0';
  expected += std::string(32, 'k');
  expected += std::string("\x02\x01\0\0\0\0\0\0", 8);
  expected += std::string("\x03\0\0\0\0\0\0\0", 8);
  expected += std::string(32, 'h');
  expected += "a.example";
  EXPECT_EQ(input, expected);
}

TEST(BatchDeathTest, AKeyOfAnotherLengthIsNotSignedWithAndNoRowsDoNotFit) {
  EXPECT_DEATH(BatchSigningInput("a.example", "short", Epoch(1), Sequence(1), std::string(32, 'h')),
               "kKeyBytes");
  EXPECT_DEATH(BatchSigningInput("a.example", std::string(32, 'k'), Epoch(1), Sequence(1), ""),
               "kSha256Bytes");
  EXPECT_DEATH(RowsThatFit({}, 1024), "rows.empty");
}

TEST(ValidateApiKeyTest, OnlyPrintableTextsWithinTheLimitsAreAccepted) {
  const stats::ApiKey good = SampleBatch().rows[0].api;
  EXPECT_TRUE(ValidateApiKey(good).has_value());
  EXPECT_TRUE(ValidateApiKey({.soname = "libc.so.6", .symbol = "read"}).has_value());
  const auto refused = [&good](auto change) {
    stats::ApiKey bad = good;
    change(bad);
    const Status status = ValidateApiKey(bad);
    return !status.has_value() && status.error().code == ErrorCode::kCorrupt;
  };
  EXPECT_TRUE(refused([](auto& key) { key.soname = ""; }));
  EXPECT_TRUE(refused([](auto& key) { key.soname = std::string(64, 'a'); }));
  EXPECT_TRUE(refused([](auto& key) { key.soname = "/home/me/libx.so"; }));
  EXPECT_TRUE(refused([](auto& key) { key.soname = "lib!x.so"; }));
  EXPECT_TRUE(refused([](auto& key) { key.symbol = ""; }));
  EXPECT_TRUE(refused([](auto& key) { key.symbol = "a b"; }));
  EXPECT_TRUE(refused([](auto& key) { key.symbol = "a\x1b[2J"; }));
  EXPECT_TRUE(refused([](auto& key) { key.soname = "\xc3\xa4"; }));
  EXPECT_TRUE(refused([](auto& key) { key.symbol_version = "\xc3\xa4"; }));
  EXPECT_TRUE(refused([](auto& key) { key.symbol = std::string(256, 'a'); }));
  EXPECT_TRUE(refused([](auto& key) { key.package_version = std::string(64, '1'); }));
  EXPECT_TRUE(refused([](auto& key) { key.symbol_version = "x\n"; }));
  EXPECT_TRUE(refused([](auto& key) { key.build_id = "ABCD"; }));
  EXPECT_TRUE(refused([](auto& key) { key.build_id = "abc"; }));
  EXPECT_TRUE(refused([](auto& key) { key.build_id = std::string(66, 'a'); }));
}

TEST(ValidateApiKeyTest, SymbolsHaveLettersOfAllLanguagesAndNothingInvisible) {
  stats::ApiKey key = SampleBatch().rows[0].api;
  for (const char* const symbol :
       {"größe", "计算", "_ZN4größ6ändernEv", "main.(*T).λ", "runtime·memmove", "𝔘nicode",
        "_RNvC6utf8u4grn_", "operator\"\"_km"}) {
    key.symbol = symbol;
    EXPECT_TRUE(ValidateApiKey(key).has_value()) << symbol;
  }
  const std::string letters = [] {
    std::string text;
    while (text.size() < 254) text += "ä";
    return text;
  }();
  key.symbol = letters;
  EXPECT_TRUE(ValidateApiKey(key).has_value());
  for (const std::string& symbol :
       {letters + "ä", std::string("a\xc2\x9b[2J"), std::string("a\xe2\x80\xae"),
        std::string("a\xc2\xa0"), std::string("a\xe2\x80\x8b"), std::string("a\xef\xbb\xbf"),
        std::string("a\xff"), std::string("a\xc3"), std::string("\xc0\x80"),
        std::string("\xed\xa0\x80"), std::string("ä ö"), std::string("ä\0", 3),
        std::string("\xf3\xa0\x81\x81")}) {
    key.symbol = symbol;
    EXPECT_FALSE(ValidateApiKey(key).has_value()) << symbol;
  }
}

TEST(ValidateHardwareClassTest, OnlyPlausibleMachinesAreAccepted) {
  const stats::HardwareClass good = SampleBatch().hardware;
  EXPECT_TRUE(ValidateHardwareClass(good).has_value());
  const auto refused = [&good](auto change) {
    stats::HardwareClass bad = good;
    change(bad);
    return !ValidateHardwareClass(bad).has_value();
  };
  EXPECT_TRUE(refused([](auto& hardware) { hardware = {}; }));
  EXPECT_TRUE(refused([](auto& hardware) { hardware.architecture = "x86 64"; }));
  EXPECT_TRUE(refused([](auto& hardware) { hardware.cpu_family = std::string(64, 'x'); }));
  EXPECT_TRUE(refused([](auto& hardware) { hardware.os_release = "\x7f"; }));
  EXPECT_TRUE(refused([](auto& hardware) { hardware.log2_cores = kMaxLog2Cores + 1; }));
  EXPECT_TRUE(refused([](auto& hardware) { hardware.log2_memory_mib = kMaxLog2MemoryMib + 1; }));
}

}  // namespace
}  // namespace fieldcost::wire
