#include "common/wire/profile.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "common/wire/fragment.h"
#include "tests/common/wire/samples.h"

namespace fieldcost::wire {
namespace {

using ::testing::HasSubstr;

// The worked example of USER_FILES.md: the batch's rows.
std::vector<stats::StatRow> OneMachine() {
  const BatchContent batch = SampleBatch();
  std::vector<stats::StatRow> rows;
  for (const BatchRow& row : batch.rows) {
    rows.push_back({.key = {.api = row.api,
                            .metric = row.metric,
                            .hardware = batch.hardware,
                            .week = row.week},
                    .histogram = row.histogram,
                    .scalars = {}});
  }
  return rows;
}

void ExpectRefused(const std::vector<stats::StatRow>& sorted_rows, const std::string& why) {
  const auto bytes = EncodeFragment(sorted_rows);
  ASSERT_TRUE(bytes.has_value()) << bytes.error().message;
  const auto rows = DecodeProfile(*bytes);
  ASSERT_FALSE(rows.has_value());
  EXPECT_EQ(rows.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(rows.error().message, HasSubstr(why));
}

TEST(ProfileTest, DecodingGivesBackTheSumsOverAllWeeks) {
  std::vector<stats::StatRow> rows = OneMachine();
  for (const stats::StatRow& row : OneMachine()) {
    rows.push_back(row);
    rows.back().key.week += 3;
  }
  std::reverse(rows.begin(), rows.end());
  const auto profile = DecodeProfile(EncodeProfile(rows).value());
  ASSERT_TRUE(profile.has_value()) << profile.error().message;
  EXPECT_EQ(*profile, ProfileRows(rows));
  ASSERT_EQ(profile->size(), 3U);
  for (const stats::StatRow& row : *profile) {
    EXPECT_EQ(row.key.week, 0U);
    EXPECT_EQ(row.scalars, stats::ScalarsOf(row.histogram));
    EXPECT_EQ(row.histogram.count() % 2, 0U);
  }
  EXPECT_EQ((*profile)[0].key.api.symbol, "sqlite3_exec");
  EXPECT_EQ((*profile)[0].histogram.count(), 2U);
  EXPECT_EQ(EncodeProfile(*profile).value(), EncodeProfile(rows).value());
}

TEST(ProfileTest, AcceptsAnEmptyProfile) {
  EXPECT_EQ(DecodeProfile(EncodeProfile({}).value()).value().size(), 0U);
  std::vector<stats::StatRow> rows = OneMachine();
  rows.resize(1);
  rows[0].histogram = {};
  EXPECT_EQ(DecodeProfile(EncodeProfile(rows).value()).value().size(), 0U);
}

TEST(ProfileTest, RefusesRowsThatAreNotTheSumsOfOneMachine) {
  EXPECT_EQ(DecodeProfile(EncodeFragment(SampleRows()).value()).error().code, ErrorCode::kCorrupt);
  const std::vector<stats::StatRow> good = ProfileRows(OneMachine());
  ASSERT_TRUE(DecodeProfile(EncodeFragment(good).value()).has_value());
  auto rows = good;
  rows[1].key.hardware.log2_cores = 5;
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  ExpectRefused(rows, "two kinds of machines");
  EXPECT_EQ(EncodeProfile(rows).error().code, ErrorCode::kInvalidArgument);
  rows = good;
  rows.back().key.week = 2921;
  ExpectRefused(rows, "of a single week");
  rows = good;
  rows[0].scalars.Merge(rows[0].scalars);
  ExpectRefused(rows, "not the sums of one machine");
  rows = good;
  rows[0].weights = stats::WeightsOf(rows[0].histogram);
  ExpectRefused(rows, "not the sums of one machine");
  rows = good;
  rows[0].bounded = stats::BoundedSumsOf(rows[0].histogram);
  ExpectRefused(rows, "not the sums of one machine");
  rows = good;
  rows[0].fullest_quarter = {.week = 2921, .scalars = rows[0].scalars};
  ExpectRefused(rows, "not the sums of one machine");
  rows = good;
  rows[0].histogram = {};
  rows[0].scalars = {};
  ExpectRefused(rows, "without calls");
  rows = good;
  for (stats::StatRow& row : rows) row.key.hardware = {};
  EXPECT_FALSE(DecodeProfile(EncodeFragment(rows).value()).has_value());
  EXPECT_EQ(EncodeProfile(rows).error().code, ErrorCode::kInvalidArgument);
}

TEST(ProfileTest, MoreRowsThanAMachineHasAreRefusedBeforeTheyTakeMemory) {
  std::vector<stats::StatRow> rows;
  stats::StatRow row = OneMachine()[2];
  row.key.week = 0;
  for (std::size_t i = 0; i <= kMaxProfileRows; ++i) {
    row.key.api.symbol = fmt::format("f{:06}", i);
    rows.push_back(row);
  }
  EXPECT_EQ(EncodeProfile(rows).error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(DecodeProfile(EncodeFragment(rows).value()).error().code, ErrorCode::kTooLarge);
  rows.pop_back();
  const std::string bytes = EncodeProfile(rows).value();
  EXPECT_EQ(DecodeProfile(bytes).value().size(), kMaxProfileRows);
  EXPECT_FALSE(DecodeProfile(bytes.substr(0, bytes.size() - 1)).has_value());
  EXPECT_FALSE(DecodeProfile("").has_value());
}

}  // namespace
}  // namespace fieldcost::wire
