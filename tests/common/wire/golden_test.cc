#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "common/base/file.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"
#include "common/wire/lab_table.h"
#include "common/wire/period_fragment.h"
#include "common/wire/profile.h"
#include "common/wire/wire.pb.h"
#include "common/wire/wire_requests.h"
#include "common/wire/zstd_frame.h"
#include "tests/common/wire/lab_samples.h"
#include "tests/common/wire/samples.h"

namespace fieldcost::wire {
namespace {

constexpr DecompressionLimits kNoLimits = {.max_compressed_bytes = kMiB, .max_decoded_bytes = kMiB};

std::filesystem::path GoldenPath(const std::string& name) {
  return std::filesystem::path(FIELDCOST_GOLDEN_DIR) / name;
}

std::string Golden(const std::string& name) {
  auto bytes = ReadFile(GoldenPath(name), kMiB);
  EXPECT_TRUE(bytes.has_value()) << bytes.error().message;
  return bytes.value_or("");
}

// After an intended change of a format: run once with FIELDCOST_WRITE_GOLDEN=1, review the diff.
void ExpectGolden(const std::string& name, const std::string& bytes) {
  if (std::getenv("FIELDCOST_WRITE_GOLDEN") != nullptr) {
    ASSERT_TRUE(WriteFileAtomically(GoldenPath(name), bytes, 0644).has_value());
  }
  EXPECT_EQ(Golden(name), bytes) << name;
}

std::string Inside(const std::string& frame) {
  Decompressor decompressor;
  return std::string(decompressor.Decompress(frame, kNoLimits).value());
}

// Compressed bytes may differ between versions of zstd, so the content is compared, and the stored
// frame must still be readable.
void ExpectGoldenFrame(const std::string& name, const std::string& frame) {
  if (std::getenv("FIELDCOST_WRITE_GOLDEN") != nullptr) ExpectGolden(name + ".zst", frame);
  ExpectGolden(name, Inside(frame));
  EXPECT_EQ(Inside(Golden(name + ".zst")), Golden(name));
}

TEST(GoldenTest, Batch) {
  ExpectGoldenFrame("batch.pb", EncodeBatch(SampleBatch()).value());
  BatchDecoder decoder;
  ASSERT_TRUE(decoder.Decode(Golden("batch.pb.zst")).has_value());
  ASSERT_EQ(decoder.row_count(), 3U);
  UntrustedRow row;
  decoder.GetRow(1, row);
  EXPECT_EQ(row.histogram, SampleBatch().rows[1].histogram);
  EXPECT_EQ(row.api, SampleBatch().rows[1].api);
}

TEST(GoldenTest, SigningInputOfABatch) {
  const auto key = crypto::PrivateKey::FromSeed(std::string(32, 'k'));
  const std::string service = ServiceId("fieldcost.example", RootFingerprint("the root file"));
  ExpectGolden("signing_input", BatchSigningInput(service, key.public_key().view(), Epoch(222),
                                                  Sequence(3), crypto::Sha256("the body")));
}

TEST(GoldenTest, BatchWithCallsThatWereNotTimed) {
  BatchContent content = SampleBatch();
  content.rows[0].histogram.Add(40, 16);
  ASSERT_EQ(content.rows[0].histogram.count(), 28U);
  ExpectGoldenFrame("batch_untimed.pb", EncodeBatch(content).value());
  EXPECT_NE(Golden("batch_untimed.pb").find("\x92\x01\x03\x0f" + std::string(2, '\0')),
            std::string::npos);
  BatchDecoder decoder;
  ASSERT_TRUE(decoder.Decode(Golden("batch_untimed.pb.zst")).has_value());
  UntrustedRow row;
  decoder.GetRow(0, row);
  EXPECT_EQ(row.histogram, content.rows[0].histogram);
  EXPECT_EQ(row.histogram.timed(), 13U);
}

TEST(GoldenTest, Fragment) {
  ExpectGoldenFrame("fragment.pb", EncodeFragment(SampleRows()).value());
  EXPECT_EQ(DecodeFragment(Golden("fragment.pb.zst")).value(), SampleRows());
}

TEST(GoldenTest, FragmentWithWeights) {
  ExpectGoldenFrame("fragment_weighted.pb", EncodeFragment(WeightedSampleRows()).value());
  EXPECT_EQ(EncodeFragment(DecodeFragment(Golden("fragment_weighted.pb.zst")).value()).value(),
            EncodeFragment(WeightedSampleRows()).value());
}

TEST(GoldenTest, FragmentWithBoundedSums) {
  ExpectGoldenFrame("fragment_bounded.pb", EncodeFragment(BoundedSampleRows()).value());
  const auto rows = DecodeFragment(Golden("fragment_bounded.pb.zst")).value();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].bounded, BoundedSampleRows()[i].bounded);
  }
}

TEST(GoldenTest, FragmentWithFullestQuarters) {
  ExpectGoldenFrame("fragment_week.pb", EncodeFragment(WeekSampleRows()).value());
  const auto rows = DecodeFragment(Golden("fragment_week.pb.zst")).value();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].scalars, WeekSampleRows()[i].scalars);
    EXPECT_EQ(rows[i].fullest_quarter, WeekSampleRows()[i].fullest_quarter);
  }
}

TEST(GoldenTest, FragmentWithATotalOfMoreThanItsParts) {
  ExpectGoldenFrame("fragment_parts.pb", EncodeFragment(PartlyPublishedRows()).value());
  const auto rows = DecodeFragment(Golden("fragment_parts.pb.zst")).value();
  ASSERT_EQ(rows.size(), PartlyPublishedRows().size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].histogram, PartlyPublishedRows()[i].histogram);
    EXPECT_EQ(rows[i].scalars, PartlyPublishedRows()[i].scalars);
    EXPECT_EQ(rows[i].bounded, PartlyPublishedRows()[i].bounded);
  }
}

TEST(GoldenTest, Periods) {
  ExpectGoldenFrame("periods.pb", EncodePeriodFragment(PeriodSampleRows()).value());
  EXPECT_EQ(DecodePeriodFragment(Golden("periods.pb.zst")).value(), PeriodSampleRows());
}

// The bytes after a column's name in a worked example of FRAGMENTS.md, as far as they are shown.
std::string BytesInExample(std::string_view example, const std::string& column) {
  const std::size_t line = example.find("\n" + column + " ");
  if (line == std::string_view::npos) return "";
  constexpr std::size_t kNameWidth = 17;
  std::string bytes;
  for (std::size_t at = line + 1 + kNameWidth;; at += 3) {
    const auto byte = HexDecode(example.substr(at, 2));
    if (!byte) return bytes;
    bytes += *byte;
    if (example[at + 2] != ' ') return bytes;
  }
}

void ExpectInExample(std::string_view heading, const proto::Fragment& fragment) {
  const auto file = ReadFile(std::filesystem::path(FIELDCOST_WIRE_DIR) / "FRAGMENTS.md", kMiB);
  const std::string document = file.value();
  ASSERT_NE(document.find(heading), std::string::npos);
  const std::string_view example = std::string_view(document).substr(document.find(heading));
  const std::pair<const char*, const std::string&> columns[] = {
      {"row_kind", fragment.row_kind()},
      {"quarter_week", fragment.quarter_week()},
      {"contributions", fragment.contributions()},
      {"mean", fragment.mean()},
      {"mean_squared", fragment.mean_squared()},
      {"mean_cubed", fragment.mean_cubed()},
      {"inverse_calls", fragment.inverse_calls()},
      {"within_freedom", fragment.within_freedom()},
      {"within_squares", fragment.within_squares()},
      {"bucket_count", fragment.bucket_count()},
      {"untimed", fragment.untimed()},
      {"bucket_gap", fragment.bucket_gap()},
      {"count", fragment.count()},
      {"sum", fragment.sum()},
      {"squares", fragment.squares()},
      {"share", fragment.share()},
      {"bounded_calls", fragment.bounded_calls()},
      {"bounded_sum", fragment.bounded_sum()}};
  for (const auto& [name, bytes] : columns) {
    EXPECT_EQ(HexEncode(BytesInExample(example, name)), HexEncode(bytes)) << heading << name;
  }
  const std::string bits = BytesInExample(example, "bits");
  EXPECT_GE(bits.size(), 10U);
  EXPECT_TRUE(fragment.bits().starts_with(bits)) << heading;
}

TEST(GoldenTest, TheDocumentShowsTheColumnsOfFragments) {
  proto::Fragment fragment;
  ASSERT_TRUE(fragment.ParseFromString(Golden("fragment_week.pb")));
  ExpectInExample("## Worked example", fragment);
  proto::PeriodFragment periods;
  ASSERT_TRUE(periods.ParseFromString(Golden("periods.pb")));
  ExpectInExample("Worked example, `golden/periods.pb`", periods.rows());
}

TEST(GoldenTest, Profile) {
  const auto published = SampleRows();
  std::vector<stats::StatRow> rows;
  std::copy_if(published.begin(), published.end(), std::back_inserter(rows),
               [](const auto& row) { return row.key.hardware != stats::HardwareClass{}; });
  ExpectGoldenFrame("profile.pb", EncodeProfile(rows).value());
  EXPECT_EQ(DecodeProfile(Golden("profile.pb.zst")).value(), ProfileRows(rows));
}

TEST(GoldenTest, LabTable) {
  ExpectGoldenFrame("lab_table.pb", EncodeLabTable(SampleLabTable()).value());
  EXPECT_EQ(DecodeLabTable(Golden("lab_table.pb.zst")).value(), SampleLabTable());
}

TEST(GoldenTest, Metadata) {
  ExpectGolden("root", SignRoot(SampleRoot(), {SampleKey(1), SampleKey(2)}));
  ExpectGolden("timestamp", SignTimestamp(SampleTimestamp(), SampleKey(3)));
  ExpectGolden("snapshot", SignSnapshot(SampleSnapshot(), SampleKey(4)));
}

TEST(GoldenTest, Policy) {
  ExpectGolden("policy", SignPolicy(SamplePolicy(), SampleKey(5)));
  EXPECT_EQ(VerifyPolicy(Golden("policy"), SampleRootWithPolicy()).value(), SamplePolicy());
}

TEST(GoldenTest, AnswerWithAReceipt) {
  const BatchAnswer answer{.accepted_rows = 2,
                           .rejects = {{.row = 1, .reason = "unknown metric"}},
                           .rejected_rows = 1,
                           .receipt = "010001" + std::string(64, 'a')};
  ExpectGolden("answer_receipt.json", EncodeAnswer(answer));
  EXPECT_EQ(DecodeAnswer(Golden("answer_receipt.json")).value(), answer);
}

TEST(GoldenTest, AnswerToABatchThatIsHeld) {
  const BatchAnswer answer{
      .accepted_rows = 2, .receipt = "0200" + std::string(64, 'a'), .held = true};
  ExpectGolden("answer_held.json", EncodeAnswer(answer));
  EXPECT_EQ(DecodeAnswer(Golden("answer_held.json")).value(), answer);
}

TEST(GoldenTest, WithdrawalAnswer) {
  ExpectGolden("withdrawal_answer.json", EncodeWithdrawalAnswer({.withdrawn_rows = 2}));
}

TEST(GoldenTest, Answer) {
  ExpectGolden("answer.json", EncodeAnswer({.accepted_rows = 2,
                                            .rejects = {{.row = 1, .reason = "unknown metric"}},
                                            .rejected_rows = 1}));
}

}  // namespace
}  // namespace fieldcost::wire
