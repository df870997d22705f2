#include "common/wire/fragment.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <set>

#include "common/crypto/sha256.h"
#include "common/wire/wire.pb.h"
#include "common/wire/zstd_frame.h"
#include "tests/common/wire/samples.h"

namespace fieldcost::wire {
namespace {

constexpr DecompressionLimits kNoLimits = {.max_compressed_bytes = kMiB, .max_decoded_bytes = kMiB};

proto::Fragment MessageOf(const std::vector<stats::StatRow>& rows) {
  Decompressor decompressor;
  proto::Fragment fragment;
  const std::string bytes = EncodeFragment(rows).value();
  EXPECT_TRUE(
      fragment.ParseFromString(std::string(decompressor.Decompress(bytes, kNoLimits).value())));
  return fragment;
}

proto::Fragment SampleMessage() { return MessageOf(WeekSampleRows()); }

ErrorCode CodeOf(const std::string& bytes) {
  const auto rows = DecodeFragment(bytes);
  return rows.has_value() ? ErrorCode{} : rows.error().code;
}

ErrorCode CodeAfter(const std::function<void(proto::Fragment&)>& spoil) {
  proto::Fragment fragment = SampleMessage();
  spoil(fragment);
  return CodeOf(Compress(fragment.SerializeAsString(), 3).value());
}

TEST(FragmentTest, DecodingGivesBackWhatWasEncoded) {
  const auto bytes = EncodeFragment(SampleRows());
  ASSERT_TRUE(bytes.has_value()) << bytes.error().message;
  const auto rows = DecodeFragment(*bytes);
  ASSERT_TRUE(rows.has_value()) << rows.error().message;
  EXPECT_EQ(*rows, SampleRows());
}

TEST(FragmentTest, WeightsSurviveRoundedToShares) {
  std::mt19937_64 random(3);
  auto rows = WeightedSampleRows();
  for (stats::StatRow& row : rows) {
    row.histogram = {};
    row.scalars = {};
    row.weights = {};
    const auto contributions = random() % 40 + 1;
    for (std::uint64_t i = 0; i < contributions; ++i) {
      stats::CostHistogram part;
      for (auto left = random() % 90 + 1; left > 0; --left) {
        part.Add(random() >> (10 + random() % 54));
      }
      row.histogram.Merge(part);
      row.scalars.Merge(ScalarsOf(part));
      row.weights.Merge(WeightsOf(part));
    }
  }
  const auto decoded = DecodeFragment(EncodeFragment(rows).value());
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto same = (*decoded)[i];
    EXPECT_EQ(same.weights.Contributions(), rows[i].weights.Contributions());
    const stats::Uint128 unit = rows[i].weights.Total() >> 16;
    for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
      const stats::Uint128 is = same.weights.slots[slot];
      const stats::Uint128 was = rows[i].weights.slots[slot];
      EXPECT_TRUE((is > was ? is - was : was - is) < unit) << slot;
    }
    same.weights = rows[i].weights;
    EXPECT_EQ(same, rows[i]) << "all else is exact";
  }
  // Publishing again or storing in the catalogue does not change the row further.
  EXPECT_EQ(DecodeFragment(EncodeFragment(*decoded).value()).value(), *decoded);
}

TEST(FragmentTest, BoundedSumsSurviveWhereThereAreAny) {
  auto rows = SampleRows();
  rows[1].bounded = BoundedSumsOf(rows[1].histogram);
  for (int i = 0; i < 3; ++i) rows[2].histogram.Add(std::uint64_t{1} << 63);
  rows[2].bounded = {.contributions = 1, .calls = 3, .sum = rows[2].histogram.sum()};
  ASSERT_TRUE(rows[2].bounded.sum >> 64 != 0);
  EXPECT_EQ(DecodeFragment(EncodeFragment(rows).value()).value(), rows);
}

TEST(FragmentTest, FullestQuartersSurviveWhereThereAreAny) {
  EXPECT_EQ(DecodeFragment(EncodeFragment(WeekSampleRows()).value()).value()[0].fullest_quarter,
            WeekSampleRows()[0].fullest_quarter);
  std::vector<stats::StatRow> rows = {SampleRows()[0]};
  ASSERT_EQ(rows[0].key.week, 0U);
  rows[0].scalars.Merge(ScalarsOf(rows[0].histogram));
  rows[0].histogram.Merge(rows[0].histogram);
  rows[0].fullest_quarter = {.week = 2921, .scalars = ScalarsOf(SampleRows()[0].histogram)};
  EXPECT_EQ(DecodeFragment(EncodeFragment(rows).value()).value(), rows);
}

TEST(FragmentTest, CallsThatWereNotTimedSurviveWhereThereAreAny) {
  auto rows = SampleRows();
  rows[1].histogram.Add(40, 1024);
  rows[1].scalars = {};
  rows[1].weights = {};
  EXPECT_EQ(DecodeFragment(EncodeFragment(rows).value()).value(), rows);
  rows[1].histogram.SetUntimed(rows[1].histogram.count());
  EXPECT_FALSE(EncodeFragment(rows)) << "none was timed";
}

TEST(FragmentTest, NegativeMeansSurvive) {
  std::vector<stats::StatRow> rows = {SampleRows()[0]};
  rows[0].histogram = {};
  rows[0].histogram.Add(0);
  rows[0].scalars = ScalarsOf(rows[0].histogram);
  ASSERT_TRUE(rows[0].scalars.sum_mean < 0);
  EXPECT_EQ(DecodeFragment(EncodeFragment(rows).value()).value(), rows);
}

TEST(FragmentTest, AnEmptyFragmentIsFine) {
  EXPECT_TRUE(DecodeFragment(EncodeFragment({}).value()).value().empty());
}

TEST(FragmentTest, TheSameRowsGiveTheSameBytes) {
  EXPECT_EQ(EncodeFragment(SampleRows()).value(), EncodeFragment(SampleRows()).value());
}

TEST(FragmentTest, RowsOutOfOrderOrInvalidAreNotEncoded) {
  const auto code = [](const std::function<void(std::vector<stats::StatRow>&)>& spoil) {
    auto rows = SampleRows();
    spoil(rows);
    const auto bytes = EncodeFragment(rows);
    return bytes.has_value() ? ErrorCode{} : bytes.error().code;
  };
  EXPECT_EQ(code([](auto& rows) { std::swap(rows[0], rows[1]); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code([](auto& rows) { rows[1] = rows[0]; }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code([](auto& rows) { rows[0].key.api.symbol = ""; }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code([](auto& rows) { rows[0].histogram.SetBucket(3, {.count = 1}); }),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(code([](auto& rows) { rows[0].scalars.contributions = 0; }),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(code([](auto& rows) { rows[0].weights.slots[7] = stats::kWeightOne; }),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(code([](auto& rows) { rows[0].bounded.sum = 1; }), ErrorCode::kInvalidArgument);
}

TEST(FragmentTest, TruncationAtEveryByteIsRefused) {
  const std::string bytes = EncodeFragment(SampleRows()).value();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_EQ(CodeOf(bytes.substr(0, size)), ErrorCode::kCorrupt) << size;
  }
}

TEST(FragmentTest, FlippedBitsInAGoodFrameNeverGiveInvalidRows) {
  const std::string bytes = SampleMessage().SerializeAsString();
  int refused = 0;
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    const auto rows = DecodeFragment(Compress(flipped, 1).value());
    if (!rows.has_value()) {
      ++refused;
      continue;
    }
    ASSERT_TRUE(EncodeFragment(*rows).has_value()) << "bit " << bit;
  }
  EXPECT_GT(refused, 0);
}

using Spoil = std::function<void(proto::Fragment&)>;

TEST(FragmentTest, SpoiledKeysAreRefused) {
  const std::vector<Spoil> spoils = {
      [](auto& f) { f.add_row_hardware(0); },
      [](auto& f) { f.set_row_hardware(0, 2); },
      [](auto& f) { f.set_row_hardware(0, 1); },  // not in order of first use
      [](auto& f) { *f.add_hardware() = f.hardware(0); },
      [](auto& f) { f.add_hardware()->set_architecture("arm"); },
      [](auto& f) {  // a second index for a class
        *f.add_hardware() = f.hardware(1);
        f.set_row_hardware(3, 2);
      },
      [](auto& f) { f.mutable_table()->set_row_metric(0, 99); },
      [](auto& f) { f.mutable_table()->add_row_metric(1); },
      [](auto& f) { f.mutable_table()->add_row_week(0); },
      [](auto& f) { f.mutable_table()->set_row_week(1, 0x1000); },
      [](auto& f) { f.mutable_table()->set_strings(0, "a b"); },
      [](auto& f) { f.mutable_table()->mutable_row_api()->SwapElements(0, 5); },
      [](auto& f) { f.mutable_table()->set_row_api(0, 9); },
      [](auto& f) { f.mutable_table()->add_row_bucket_count(0); },
      [](auto& f) { f.mutable_table()->add_row_untimed(0); },
      [](auto& f) { f.mutable_table()->add_bucket_slot(0); },
      [](auto& f) { f.mutable_table()->add_bucket_count(0); },
      [](auto& f) { f.mutable_table()->add_bucket_sum_low(0); },
      [](auto& f) { f.mutable_table()->add_bucket_sum_high(0); },
      [](auto& f) { f.mutable_table()->add_bucket_squares_low(0); },
      [](auto& f) { f.mutable_table()->add_bucket_squares_high(0); },
  };
  for (std::size_t i = 0; i < spoils.size(); ++i) {
    EXPECT_EQ(CodeAfter(spoils[i]), ErrorCode::kCorrupt) << "spoil " << i;
  }
  EXPECT_EQ(CodeAfter([](auto& f) { f.set_format_version(2); }), ErrorCode::kUnsupported);
}

TEST(FragmentTest, AnApiHasOneIndex) {
  // Two APIs' rows, and then both with the same name: groups, and what rows are compared with,
  // would depend on the index.
  std::vector<stats::StatRow> rows = {SampleRows()[2], SampleRows()[2]};
  rows[1].key.api.symbol += "_v2";
  rows[1].key.metric = stats::Metric::kAllocInclusive;
  proto::Fragment fragment = MessageOf(rows);
  ASSERT_EQ(CodeOf(Compress(fragment.SerializeAsString(), 3).value()), ErrorCode{});
  fragment.mutable_table()->set_api_symbol(1, fragment.table().api_symbol(0));
  EXPECT_EQ(CodeOf(Compress(fragment.SerializeAsString(), 3).value()), ErrorCode::kCorrupt);
}

// Each column, and the bits.
using Text = std::string* (proto::Fragment::*)();
constexpr Text kTexts[] = {&proto::Fragment::mutable_row_kind,
                           &proto::Fragment::mutable_quarter_week,
                           &proto::Fragment::mutable_contributions,
                           &proto::Fragment::mutable_mean,
                           &proto::Fragment::mutable_mean_squared,
                           &proto::Fragment::mutable_mean_cubed,
                           &proto::Fragment::mutable_inverse_calls,
                           &proto::Fragment::mutable_within_freedom,
                           &proto::Fragment::mutable_within_squares,
                           &proto::Fragment::mutable_bucket_count,
                           &proto::Fragment::mutable_untimed,
                           &proto::Fragment::mutable_bucket_gap,
                           &proto::Fragment::mutable_count,
                           &proto::Fragment::mutable_sum,
                           &proto::Fragment::mutable_squares,
                           &proto::Fragment::mutable_share,
                           &proto::Fragment::mutable_bounded_calls,
                           &proto::Fragment::mutable_bounded_sum,
                           &proto::Fragment::mutable_bits};

TEST(FragmentTest, MissingAndAdditionalNumbersAreRefused) {
  for (const Text text : kTexts) {
    const bool is_empty = (SampleMessage().*text)()->empty();
    EXPECT_EQ(CodeAfter([&](auto& f) { (f.*text)()->push_back('\0'); }), ErrorCode::kCorrupt);
    if (is_empty) continue;
    EXPECT_EQ(CodeAfter([&](auto& f) { (f.*text)()->pop_back(); }), ErrorCode::kCorrupt);
    EXPECT_EQ(CodeAfter([&](auto& f) { (f.*text)()->clear(); }), ErrorCode::kCorrupt);
  }
}

// Rows have one encoding, so the writer makes the same bytes of everything that is accepted.
TEST(FragmentTest, EveryFlippedBitIsRefusedOrGivesTheEncodingOfOtherRows) {
  Decompressor decompressor;
  for (const auto& rows : {WeekSampleRows(), PartlyPublishedRows()}) {
    const proto::Fragment good = MessageOf(rows);
    int accepted = 0;
    for (const Text text : kTexts) {
      proto::Fragment fragment = good;
      std::string& bytes = *(fragment.*text)();
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        const char was = bytes[i];
        for (int bit = 0; bit < 8; ++bit) {
          bytes[i] = static_cast<char>(was ^ (1 << bit));
          const std::string message = fragment.SerializeAsString();
          const auto decoded = DecodeFragment(Compress(message, 1).value());
          if (!decoded) continue;
          ++accepted;
          const std::string again = EncodeFragment(*decoded).value();
          ASSERT_EQ(decompressor.Decompress(again, kNoLimits).value(), message);
        }
        bytes[i] = was;
      }
    }
    EXPECT_GT(accepted, 0);
  }
}

TEST(FragmentTest, BombsAreRefused) {
  EXPECT_EQ(CodeOf(Compress(std::string(kMaxFragmentDecodedBytes + 1, '\0'), 1).value()),
            ErrorCode::kTooLarge);
  EXPECT_EQ(CodeOf(std::string(kMaxFragmentBytes + 1, 'x')), ErrorCode::kTooLarge);
}

TEST(FragmentIndexTest, TheIndexIsTheHashsFirstBits) {
  // sha256("libsqlite3.so.0!sqlite3_step")
  const std::string hash = crypto::Sha256("libsqlite3.so.0!sqlite3_step");
  const auto first = static_cast<std::uint8_t>(hash[0]);
  const auto second = static_cast<std::uint8_t>(hash[1]);
  EXPECT_EQ(FragmentIndexOf("libsqlite3.so.0", "sqlite3_step", 0), 0U);
  EXPECT_EQ(FragmentIndexOf("libsqlite3.so.0", "sqlite3_step", 1), first >> 7);
  EXPECT_EQ(FragmentIndexOf("libsqlite3.so.0", "sqlite3_step", 8), first);
  EXPECT_EQ(FragmentIndexOf("libsqlite3.so.0", "sqlite3_step", 16), first * 256U + second);
}

TEST(FragmentIndexTest, ApisSpreadOverAllFragments) {
  std::set<std::uint32_t> used;
  for (int i = 0; i < 1000; ++i) {
    const std::uint32_t index = FragmentIndexOf("libc.so.6", fmt::format("symbol_{}", i), 4);
    ASSERT_LT(index, 16U);
    used.insert(index);
  }
  EXPECT_EQ(used.size(), 16U);
}

}  // namespace
}  // namespace fieldcost::wire
