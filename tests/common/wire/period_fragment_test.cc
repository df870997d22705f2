#include "common/wire/period_fragment.h"

#include <gtest/gtest.h>

#include <functional>

#include "common/wire/fragment.h"
#include "common/wire/wire.pb.h"
#include "common/wire/zstd_frame.h"
#include "tests/common/wire/samples.h"

namespace fieldcost::wire {
namespace {

using Rows = std::vector<stats::StatRow>;

proto::PeriodFragment SampleMessage() {
  Decompressor decompressor;
  proto::PeriodFragment message;
  const std::string frame = EncodePeriodFragment(PeriodSampleRows()).value();
  const auto bytes =
      decompressor.Decompress(frame, {.max_compressed_bytes = kMiB, .max_decoded_bytes = kMiB});
  EXPECT_TRUE(message.ParseFromString(std::string(bytes.value())));
  return message;
}

ErrorCode CodeOf(const std::string& bytes) {
  const auto rows = DecodePeriodFragment(bytes);
  return rows.has_value() ? ErrorCode{} : rows.error().code;
}

ErrorCode CodeAfter(const std::function<void(proto::PeriodFragment&)>& spoil) {
  proto::PeriodFragment message = SampleMessage();
  spoil(message);
  return CodeOf(Compress(message.SerializeAsString(), 3).value());
}

TEST(PeriodTest, APeriodBeginsEveryFourWeeks) {
  EXPECT_EQ(FirstWeekOfPeriod(2920), 2920U);
  EXPECT_EQ(FirstWeekOfPeriod(2923), 2920U);
  EXPECT_EQ(FirstWeekOfPeriod(2924), 2924U);
}

TEST(PeriodFragmentTest, DecodingGivesBackWhatWasEncoded) {
  const Rows rows = PeriodSampleRows();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(DecodePeriodFragment(EncodePeriodFragment(rows).value()).value(), rows);
  EXPECT_EQ(EncodePeriodFragment(rows).value(), EncodePeriodFragment(rows).value());
  EXPECT_TRUE(DecodePeriodFragment(EncodePeriodFragment({}).value()).value().empty());
}

TEST(PeriodFragmentTest, OtherRowsAreNotEncoded) {
  using Spoil = void (*)(Rows&);
  const Spoil spoils[] = {
      [](Rows& rows) { std::swap(rows[0], rows[1]); },
      [](Rows& rows) { rows[0].key.week += 1; },
      [](Rows& rows) { rows[0].key.week = 0; },
      [](Rows& rows) { rows.back().key.hardware = SampleBatch().hardware; },
      [](Rows& rows) { rows[0].histogram = {}; },
      [](Rows& rows) { rows[0].scalars = {}; },
      [](Rows& rows) { rows[0].scalars.contributions = 0; },
      [](Rows& rows) { rows[0].weights = WeightsOf(rows[0].histogram); },
      [](Rows& rows) { rows[0].bounded = BoundedSumsOf(rows[0].histogram); },
      [](Rows& rows) { rows[0].fullest_quarter = {.week = 2912, .scalars = rows[0].scalars}; },
  };
  for (std::size_t i = 0; i < std::size(spoils); ++i) {
    Rows rows = PeriodSampleRows();
    spoils[i](rows);
    const auto bytes = EncodePeriodFragment(rows);
    ASSERT_FALSE(bytes.has_value()) << "spoil " << i;
    EXPECT_EQ(bytes.error().code, ErrorCode::kInvalidArgument) << "spoil " << i;
  }
}

TEST(PeriodFragmentTest, SpoiledOnesAreRefused) {
  using Spoil = std::function<void(proto::PeriodFragment&)>;
  const Spoil spoils[] = {
      [](auto& f) { f.set_kind("fieldcost lab table"); },
      [](auto& f) { f.clear_kind(); },
      [](auto& f) { f.mutable_rows()->mutable_table()->set_row_week(0, 2921); },
      [](auto& f) { f.mutable_rows()->mutable_table()->set_row_week(0, 0); },
      [](auto& f) { f.mutable_rows()->mutable_hardware(0)->set_architecture("x86_64"); },
      [](auto& f) { f.mutable_rows()->mutable_row_kind()->at(0) = '\x10'; },
      [](auto& f) { f.mutable_rows()->mutable_bits()->pop_back(); },
  };
  for (std::size_t i = 0; i < std::size(spoils); ++i) {
    EXPECT_EQ(CodeAfter(spoils[i]), ErrorCode::kCorrupt) << "spoil " << i;
  }
  EXPECT_EQ(CodeAfter([](auto& f) { f.set_format_version(2); }), ErrorCode::kUnsupported);
  EXPECT_EQ(CodeAfter([](auto& f) { f.mutable_rows()->set_format_version(2); }),
            ErrorCode::kUnsupported);
}

TEST(PeriodFragmentTest, NeitherKindOfFragmentIsAcceptedAsTheOther) {
  EXPECT_FALSE(DecodeFragment(EncodePeriodFragment(PeriodSampleRows()).value()));
  EXPECT_FALSE(DecodePeriodFragment(EncodeFragment(PeriodSampleRows()).value()));
}

TEST(PeriodFragmentTest, TruncationAtEveryByteIsRefused) {
  const std::string bytes = EncodePeriodFragment(PeriodSampleRows()).value();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_EQ(CodeOf(bytes.substr(0, size)), ErrorCode::kCorrupt) << size;
  }
}

TEST(PeriodFragmentTest, TooManyRowsAndBombsAreRefused) {
  const auto few = DecodePeriodFragment(EncodePeriodFragment(PeriodSampleRows()).value(), 2);
  ASSERT_FALSE(few.has_value());
  EXPECT_EQ(few.error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(CodeOf(Compress(std::string(kMaxFragmentDecodedBytes + 1, '\0'), 1).value()),
            ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace fieldcost::wire
