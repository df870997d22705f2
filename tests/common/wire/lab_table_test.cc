#include "common/wire/lab_table.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "common/wire/fragment.h"
#include "common/wire/wire.pb.h"
#include "common/wire/wire_limits.h"
#include "common/wire/zstd_frame.h"
#include "tests/common/wire/lab_samples.h"
#include "tests/common/wire/samples.h"

namespace fieldcost::wire {
namespace {

using ::testing::HasSubstr;

constexpr DecompressionLimits kNoLimits = {.max_compressed_bytes = kMiB, .max_decoded_bytes = kMiB};

std::string Inside(std::string_view frame) {
  Decompressor decompressor;
  return std::string(decompressor.Decompress(frame, kNoLimits).value());
}

void ExpectRefused(const LabTable& table, const std::string& why) {
  const Status valid = Validate(table);
  ASSERT_FALSE(valid.has_value()) << why;
  EXPECT_THAT(valid.error().message, HasSubstr(why));
  const auto bytes = EncodeLabTable(table);
  ASSERT_FALSE(bytes.has_value());
  EXPECT_EQ(bytes.error().code, ErrorCode::kInvalidArgument);
  EXPECT_FALSE(MergeLabTables(std::span(&table, 1)).has_value());
}

TEST(LabTableTest, DecodingGivesBackWhatWasEncoded) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const LabTable table = RandomLabTable(seed);
    const auto bytes = EncodeLabTable(table);
    ASSERT_TRUE(bytes.has_value()) << bytes.error().message;
    EXPECT_TRUE(LooksLikeLabTable(*bytes));
    const auto again = DecodeLabTable(*bytes);
    ASSERT_TRUE(again.has_value()) << again.error().message;
    EXPECT_EQ(*again, table);
    EXPECT_EQ(EncodeLabTable(*again).value(), *bytes);
  }
}

TEST(LabTableTest, HashCoversTheContentWithoutParts) {
  LabTable table = SampleLabTable();
  const std::string hash = table.parts[0].content_hash;
  EXPECT_EQ(ContentHash(table).value(), hash);
  table.parts.clear();
  EXPECT_EQ(ContentHash(table).value(), hash);
  table.apis[0].calls += 1;
  EXPECT_NE(ContentHash(table).value(), hash);
  // A table without measurements cannot be distinguished from others.
  EXPECT_EQ(EncodeLabTable(table).error().code, ErrorCode::kInvalidArgument);
}

// In any order, including sums of sums.
TEST(LabTableTest, MergingInAnyOrderAndGroupingGivesTheSameBytes) {
  constexpr std::size_t kTables = 50;
  std::vector<LabTable> tables;
  for (std::size_t i = 0; i < kTables; ++i) tables.push_back(RandomLabTable(i));
  const std::string expected = EncodeLabTable(MergeLabTables(tables).value()).value();
  std::mt19937_64 random(1);
  for (int order = 0; order < 1000; ++order) {
    std::shuffle(tables.begin(), tables.end(), random);
    std::vector<LabTable> left = tables;
    while (left.size() > 1) {
      // Merges some of those that are left.
      const std::size_t count = std::min<std::size_t>(left.size(), 2 + random() % 30);
      LabTable sum = MergeLabTables(std::span(left).last(count)).value();
      left.resize(left.size() - count);
      left.insert(left.begin() + static_cast<std::ptrdiff_t>(random() % (left.size() + 1)),
                  std::move(sum));
    }
    ASSERT_EQ(EncodeLabTable(left[0]).value(), expected) << order;
  }
}

TEST(LabTableTest, MergingAddsRowsApisAndStacksAndUnitesPairs) {
  LabTableBuilder first;
  first.Run("b", {10, 20}).Stack({"a"}, 1, 5).Stack({"a", "b"}, 2, 7).Input("b", 1, 8, 10);
  LabTableBuilder second;
  second.Run("b", {30}).Stack({"b"}, 4, 1).Stack({"a", "b"}, 3, 8).Input("b", 1, 9, 30);
  second.Input("b", 0, 100, 30).Stack({"a", "b", "a"}, 1, 1);
  const auto sum = MergeLabTables(std::vector{first.Table("one"), second.Table("two")}).value();
  ASSERT_EQ(sum.apis.size(), 2U);
  EXPECT_EQ(sum.apis[0].calls, 2U);
  EXPECT_EQ(sum.apis[1].calls, 9U);
  EXPECT_EQ(sum.apis[1].log_cost.count, 3U);
  ASSERT_EQ(sum.apis[1].arguments.size(), 2U);
  EXPECT_EQ(sum.apis[1].arguments[0].number, 0U);
  EXPECT_EQ(sum.apis[1].arguments[1].sums.by_bucket[shm::SlotOf(8)].count, 2U);
  constexpr std::uint32_t kRoot = LabStack::kRoot;
  EXPECT_EQ(sum.stacks, (std::vector<LabStack>{
                            {kRoot, 0, 1, 5}, {0, 1, 5, 15}, {1, 0, 1, 1}, {kRoot, 1, 4, 1}}));
  using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  EXPECT_EQ(sum.pairs, (Pairs{{0, 0}, {0, 1}, {1, 0}}));
  ASSERT_EQ(sum.rows.size(), 2U);
  EXPECT_EQ(sum.rows[0].histogram.sum(), 60U);
  EXPECT_EQ(sum.rows[0].scalars.contributions, 2U);
  EXPECT_EQ(sum.parts.size(), 2U);
}

// The total of one run of each measurement; unknown if a measurement of the API lacks it.
TEST(LabTableTest, MergingAddsTotals) {
  constexpr auto kCalls = stats::Metric::kCallsPerRun;
  constexpr auto kRead = stats::Metric::kDiskRead;
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  LabTableBuilder first;
  first.Total("f", kCalls, 3, 4).Total("f", kRead, 10, 10).Total("g", kCalls, kMost - 1, kMost);
  LabTableBuilder second;
  second.Total("f", kCalls, 5, 5).Total("g", kCalls, 2, 2).Total("h", kCalls, 7, 7);
  const auto sum = MergeLabTables(std::vector{first.Table("one"), second.Table("two")}).value();
  EXPECT_EQ(sum.apis[0].totals, (std::vector<LabTotal>{{kCalls, 8, 9}}));
  EXPECT_EQ(sum.apis[1].totals, (std::vector<LabTotal>{{kCalls, kMost, kMost}}));
  EXPECT_EQ(sum.apis[2].totals, (std::vector<LabTotal>{{kCalls, 7, 7}}));
}

TEST(LabTableTest, AMeasurementThatIsInTwoTablesIsNamed) {
  const LabTable one = RandomLabTable(1);
  const LabTable both = MergeLabTables(std::vector{one, RandomLabTable(2)}).value();
  const auto twice = MergeLabTables(std::vector{RandomLabTable(3), both, one});
  ASSERT_FALSE(twice.has_value());
  EXPECT_EQ(twice.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(twice.error().message, HasSubstr("part 1"));
  EXPECT_THAT(twice.error().message, HasSubstr(one.parts[0].content_hash.substr(0, 12)));
}

TEST(LabTableTest, RefusesSumsThatAreTooLarge) {
  LabTableBuilder builder;
  builder.Run("f", {~std::uint64_t{0}});
  LabTable half = builder.Table("half");
  stats::CostHistogram& histogram = half.rows[0].histogram;
  while ((histogram.count() >> 62) == 0) histogram.Merge(stats::CostHistogram(histogram));
  half.rows[0].histogram.Merge(stats::CostHistogram(histogram));
  LabTable other = half;
  other.parts[0].content_hash.back() ^= 1;
  const auto sum = MergeLabTables(std::vector{half, other});
  ASSERT_FALSE(sum.has_value());
}

TEST(LabTableTest, SortsStacksOfAnyOrder) {
  constexpr std::uint32_t kRoot = LabStack::kRoot;
  const std::vector<LabStack> stacks = {{kRoot, 5, 1, 0}, {kRoot, 3, 1, 0}, {0, 9, 2, 1},
                                        {1, 4, 3, 1},     {0, 2, 4, 1},     {0, 9, 5, 1}};
  EXPECT_EQ(SortStacks(stacks),
            (std::vector<LabStack>{
                {kRoot, 3, 1, 0}, {0, 4, 3, 1}, {kRoot, 5, 1, 0}, {2, 2, 4, 1}, {2, 9, 7, 2}}));
  EXPECT_TRUE(SortStacks({}).empty());
}

TEST(LabTableTest, RefusesStacksThatDoNotFormATree) {
  const LabTable good = SampleLabTable();
  ASSERT_EQ(good.stacks.size(), 3U);  // exec, exec > step, step
  LabTable table = good;
  table.stacks[1].parent = 1;  // its own parent
  ExpectRefused(table, "stack 1: not below");
  table = good;
  table.stacks[0].parent = 1;  // a cycle
  table.stacks[1].parent = 0;
  ExpectRefused(table, "stack 0: not below");
  table = good;
  table.stacks[1].parent = 2;  // a later parent
  ExpectRefused(table, "stack 1: not below");
  table = good;
  table.stacks[2].api = table.stacks[0].api;  // occurs twice
  ExpectRefused(table, "stack 2: not in ascending order");
  table = good;
  std::swap(table.stacks[0].api, table.stacks[2].api);
  ExpectRefused(table, "stack 2: not in ascending order");
  table = good;
  table.stacks[1].api = 3;
  ExpectRefused(table, "stack 1: no such API");
  table = good;
  table.stacks = {{LabStack::kRoot, 0, 1, 0}, {0, 0, 1, 0}, {1, 1, 1, 0}, {0, 1, 1, 0}};
  EXPECT_TRUE(Validate(table).has_value());
  table.stacks.push_back({1, 2, 1, 0});  // child of a subtree that has ended
  ExpectRefused(table, "stack 4: not below");
  table.stacks.clear();
  for (std::uint32_t i = 0; i <= kMaxStackFrames; ++i) table.stacks.push_back({i - 1, 0, 1, 0});
  EXPECT_EQ(EncodeLabTable(table).error().code, ErrorCode::kTooLarge);
  table.stacks.pop_back();
  EXPECT_TRUE(EncodeLabTable(table).has_value());
}

TEST(LabTableTest, PairsOutOfRangeOrOrderAreRefused) {
  const LabTable good = SampleLabTable();
  LabTable table = good;
  table.pairs.emplace_back(2, 3);
  ExpectRefused(table, "pair 1: no such API");
  table.pairs.back() = {1, 2};  // exists already
  ExpectRefused(table, "pair 1: not in ascending order");
  table.pairs.back() = {0, 0};
  ExpectRefused(table, "pair 1: not in ascending order");
  table.pairs.back() = {2, 2};
  EXPECT_TRUE(Validate(table).has_value());
}

TEST(LabTableTest, ApisThatCannotBeAreRefused) {
  const LabTable good = SampleLabTable();
  ASSERT_EQ(good.apis.size(), 3U);  // main, sqlite3_exec, sqlite3_step
  LabTable table = good;
  std::swap(table.apis[0], table.apis[1]);
  ExpectRefused(table, "API 1: not in ascending order");
  table = good;
  table.apis[0].api.symbol = "two words";
  ExpectRefused(table, "API 0: symbol is not UTF-8");
  table = good;
  table.apis[2].log_cost.sum = ~std::uint64_t{0};
  ExpectRefused(table, "API 2: sums that costs cannot have");
  table = good;
  table.apis[2].arguments[0].number = kMaxLabArgument + 1;
  ExpectRefused(table, "API 2: arguments out of range");
  table = good;
  table.apis[2].arguments.push_back(table.apis[2].arguments[0]);
  ExpectRefused(table, "API 2: arguments out of range or not ascending");
  table = good;
  table.apis[2].arguments[0].sums.by_bucket[5].sum = 1;
  ExpectRefused(table, "argument 2: sums that costs cannot have");
  table = good;
  table.apis.erase(table.apis.begin() + 1);
  table.pairs.clear();
  table.stacks.clear();
  ExpectRefused(table, "of an API that is not listed");
}

TEST(LabTableTest, RefusesRowsThatNoLabWouldWrite) {
  const LabTable good = SampleLabTable();
  LabTable table = good;
  table.rows[0].key.week = 2921;
  ExpectRefused(table, "of a single week");
  table = good;
  table.rows[0].key.hardware = {};
  ExpectRefused(table, "architecture is empty");
  table = good;
  table.rows[0].weights = stats::WeightsOf(table.rows[0].histogram);
  ExpectRefused(table, "that a lab table does not have");
  table = good;
  table.rows[0].bounded = stats::BoundedSumsOf(table.rows[0].histogram);
  ExpectRefused(table, "that a lab table does not have");
  table = good;
  table.rows[0].scalars.Merge(table.rows[0].scalars);  // 2 runs, 1 call
  ExpectRefused(table, "2 runs with 1 calls");
  table = good;
  table.rows[0].histogram = {};
  table.rows[0].scalars = {};
  ExpectRefused(table, "0 runs");
  table = good;
  std::swap(table.rows[0], table.rows[1]);
  ExpectRefused(table, "not in ascending order");
}

TEST(LabTableTest, PartsAreHashedPrintableAndEachOnce) {
  const LabTable good = SampleLabTable();
  LabTable table = good;
  table.parts.push_back(table.parts[0]);
  ExpectRefused(table, "part 1: not in ascending order");
  table = good;
  table.parts[0].content_hash[0] = 'G';
  ExpectRefused(table, "part 0: no hash");
  table = good;
  table.parts[0].name = "a\033[2J";
  ExpectRefused(table, "part 0: its texts are not printable");
  table.parts[0].name = R"(grep 'a\.b' Größe)";
  EXPECT_TRUE(Validate(table).has_value());
  table.parts[0].environment = "two\nlines";
  ExpectRefused(table, "part 0: its texts are not printable");
  table = good;
  table.parts[0].name = std::string(kMaxLabNameBytes + 1, 'a');
  EXPECT_EQ(EncodeLabTable(table).error().code, ErrorCode::kTooLarge);
}

TEST(LabTableTest, TruncatedAndChangedBytesAreRefusedOrAnotherTable) {
  const std::string frame = EncodeLabTable(SampleLabTable()).value();
  for (std::size_t size = 0; size < frame.size(); ++size) {
    EXPECT_FALSE(DecodeLabTable(frame.substr(0, size)).has_value()) << size;
  }
  const std::string content = Inside(frame);
  for (std::size_t at = 0; at < content.size(); ++at) {
    // Its only part is at the end.
    EXPECT_FALSE(DecodeLabTable(Compress(content.substr(0, at), 1).value()).has_value()) << at;
    for (const int bit : {0, 1, 3, 7}) {
      std::string changed = content;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      const auto table = DecodeLabTable(Compress(changed, 1).value());
      EXPECT_TRUE(!table.has_value() || EncodeLabTable(*table).has_value()) << at;
    }
  }
}

TEST(LabTableTest, ColumnsThatDoNotFitTogetherAreRefused) {
  proto::LabTable good;
  ASSERT_TRUE(good.ParseFromString(Inside(EncodeLabTable(SampleLabTable()).value())));
  const auto expect_refused = [&](const char* why, ErrorCode code, auto change) {
    proto::LabTable message = good;
    change(message);
    const auto table = DecodeLabTable(Compress(message.SerializeAsString(), 1).value());
    ASSERT_FALSE(table.has_value()) << why;
    EXPECT_EQ(table.error().code, code) << table.error().message;
    EXPECT_THAT(table.error().message, HasSubstr(why));
  };
  const auto corrupt = ErrorCode::kCorrupt;
  expect_refused("not a lab table", corrupt, [](auto& m) { m.set_kind("fieldcost lab tuble"); });
  expect_refused("format version", ErrorCode::kUnsupported,
                 [](auto& m) { m.set_format_version(kLabFormatVersion + 1); });
  expect_refused("columns of the APIs", corrupt, [](auto& m) { m.add_api_calls(1); });
  expect_refused("columns of the arguments", corrupt, [](auto& m) { m.add_argument_number(1); });
  expect_refused("columns of the inputs", corrupt, [](auto& m) { m.add_input_slot(1); });
  expect_refused("columns of the stacks", corrupt, [](auto& m) { m.add_stack_bytes(1); });
  expect_refused("columns of the pairs", corrupt, [](auto& m) { m.add_pair_outer(1); });
  expect_refused("counted than there are", corrupt,
                 [](auto& m) { m.set_api_argument_count(2, 2); });
  expect_refused("belong to no API", corrupt, [](auto& m) { m.set_api_argument_count(2, 0); });
  expect_refused("counted than there are", corrupt,
                 [](auto& m) { m.set_argument_bucket_count(0, ~0U); });
  expect_refused("input slot", corrupt, [](auto& m) { m.set_input_slot(1, 65); });
  expect_refused("columns of the totals", corrupt, [](auto& m) { m.add_total_least(1); });
  expect_refused("columns of the APIs", corrupt, [](auto& m) { m.add_api_total_count(1); });
  expect_refused("totals are counted than", corrupt, [](auto& m) { m.set_api_total_count(2, 3); });
  expect_refused("totals that belong to no", corrupt, [](auto& m) { m.set_api_total_count(2, 1); });
  expect_refused("a total of no metric", corrupt, [](auto& m) { m.set_total_metric(0, 99); });
  expect_refused("no such metric", corrupt, [](auto& m) { m.set_total_metric(0, 1); });
  expect_refused("not ascending", corrupt,
                 [](auto& m) { m.set_total_metric(2, m.total_metric(1)); });
  expect_refused("a total from 7 to 6", corrupt, [](auto& m) { m.set_total_least(2, 7); });
  expect_refused("input slot", corrupt, [](auto& m) { m.set_input_slot(1, m.input_slot(0)); });
  expect_refused("index out of range", corrupt,
                 [](auto& m) { m.mutable_rows()->mutable_table()->set_row_api(0, 3); });
  expect_refused("no hash", corrupt,
                 [](auto& m) { m.mutable_part(0)->set_content_sha256("short"); });
  expect_refused("holds no measurement", corrupt, [](auto& m) { m.clear_part(); });
  expect_refused("too many", ErrorCode::kTooLarge, [](auto& m) {
    for (std::size_t i = 0; i < kMaxLabParts; ++i) m.add_part();
  });
}

TEST(LabTableTest, OtherFilesDoNotLookLikeOne) {
  EXPECT_FALSE(LooksLikeLabTable(""));
  EXPECT_FALSE(LooksLikeLabTable("fieldcost lab table"));
  EXPECT_FALSE(LooksLikeLabTable(EncodeFragment(SampleRows()).value()));
  const std::string frame = EncodeLabTable(SampleLabTable()).value();
  EXPECT_FALSE(LooksLikeLabTable(frame.substr(0, 8)));
  EXPECT_FALSE(DecodeLabTable(EncodeFragment(SampleRows()).value()).has_value());
}

}  // namespace
}  // namespace fieldcost::wire
