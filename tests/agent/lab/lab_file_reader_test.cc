#include "agent/lab/lab_file_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <limits>

#include "agent/lab/lab_plan_file.h"
#include "common/base/file.h"
#include "common/base/units.h"
#include "tests/agent/lab/lab_bytes.h"
#include "tests/support/golden_bytes.h"
#include "tests/support/temp_dir.h"

// Lab files are untrusted. Each of these is rejected, or its impossible part is, and is counted.

namespace fieldcost::lab {
namespace {

using shm::LabApi;
using shm::LabHeader;
using shm::LabLogSums;
using shm::LabMapBlock;
using shm::LabNode;
using shm::LabTimeBlock;
using ::testing::ElementsAre;
using testing::ExpectGolden;
using testing::GoldenLines;
using ::testing::HasSubstr;
using testing::LabApiAt;
using testing::LabBlockAt;
using testing::LabBytes;
using testing::LabIoBlockAt;
using testing::LabNodeAt;
using testing::LabPairWordAt;
using ::testing::Pair;

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

LabApi Called(const char* symbol) {
  LabApi api{};
  std::strcpy(api.module, "libgold.so.1");
  std::strcpy(api.symbol, symbol);
  std::strcpy(api.version, "GOLD_1.0");
  std::strcpy(api.path, "/usr/lib/libgold.so.1");
  std::memcpy(api.build_id, "\x01\x23\x45\x67", 4);
  api.build_id_bytes = 4;
  api.flags = shm::kLabDescribed;
  return api;
}

// The cell of a single call with this cost.
shm::Cell CellOf(std::uint64_t value) {
  shm::Cell cell{};
  shm::RunBucket& bucket = cell.buckets[shm::SlotOf(value)];
  bucket.count = 1;
  bucket.sum = value;
  bucket.sumsq_low = value * value;
  return cell;
}

LabMapBlock MapBlock(std::uint32_t api, std::uint64_t calls) {
  LabMapBlock block{};
  block.head = {.api = api, .slot = 0, .calls = calls, .nested = calls / 2, .abandoned = 0};
  block.without_bytes = calls - calls / 2 - 1;
  block.inclusive = CellOf(100);
  block.exclusive = CellOf(40);
  block.sizes = CellOf(40);
  block.arguments[0][shm::SlotOf(7)] = calls;
  return block;
}

LabTimeBlock TimeBlock(std::uint32_t api) {
  LabTimeBlock block{};
  block.head = {.api = api, .slot = 0, .calls = 1, .nested = 0, .abandoned = 0};
  block.time = CellOf(1000);
  block.cycles = CellOf(2500);
  block.all = {.count = 1, .sum = 2551, .sum_squares = 2551 * 2551};
  block.by_argument[shm::SlotOf(7)] = block.all;
  return block;
}

template <typename Part>
void Change(LabBytes& bytes, std::uint64_t at, const std::function<void(Part&)>& change) {
  Part part = bytes.Get<Part>(at);
  change(part);
  bytes.Put(at, part);
}

template <typename Part>
std::function<void(LabBytes&)> At(std::uint64_t at, std::function<void(Part&)> change) {
  return [=](LabBytes& bytes) { Change<Part>(bytes, at, change); };
}

// A small program: it calls outer() once, which calls inner() twice; inner() calls itself, and one
// of its calls writes 5000 bytes to a file.
LabBytes MapFile() {
  LabBytes bytes(shm::kLabMap);
  Change<LabHeader>(bytes, 0, [](LabHeader& header) {
    header.pid = 4711;
    header.candidate_count = 2;
    header.block_count = 2;
    header.io_block_count = 1;
    header.node_counts[0] = 4;
    std::strcpy(header.program, "gold");
  });
  LabApi inner = Called("inner");
  inner.first_call_bytes = 101;
  bytes.Put(LabApiAt(0), inner);
  bytes.Put(LabApiAt(1), Called("outer"));
  bytes.Put(LabPairWordAt(0, 0), std::uint64_t{1});
  bytes.Put(LabPairWordAt(1, 0), std::uint64_t{1});
  bytes.Put(LabNodeAt(0, 1),
            LabNode{.parent = 0, .api = 1, .calls = 1, .bytes = 40, .reserved = 0});
  bytes.Put(LabNodeAt(0, 2), LabNode{.parent = 1, .api = 0, .calls = 2, .bytes = 0, .reserved = 0});
  bytes.Put(LabNodeAt(0, 3), LabNode{.parent = 2, .api = 0, .calls = 1, .bytes = 9, .reserved = 0});
  bytes.Put(LabBlockAt(shm::kLabMap, 0), MapBlock(1, 1));
  LabMapBlock inner_block = MapBlock(0, 3);
  inner_block.io = 1;
  bytes.Put(LabBlockAt(shm::kLabMap, 1), inner_block);
  shm::LabIoBlock io{};
  io.moved[1] = CellOf(5000);
  bytes.Put(LabIoBlockAt(0), io);
  return bytes;
}

LabBytes TimeFile() {
  LabBytes bytes(shm::kLabTime);
  Change<LabHeader>(bytes, 0, [](LabHeader& header) {
    header.pid = 4711;
    header.candidate_count = 1;
    header.block_count = 1;
    header.bias_ps = 2500;
    std::strcpy(header.program, "gold");
  });
  LabApi api = Called("inner");
  api.first_call_ns = 1001;
  bytes.Put(LabApiAt(0), api);
  bytes.Put(LabBlockAt(shm::kLabTime, 0), TimeBlock(0));
  return bytes;
}

TEST(LabFileReaderTest, MapContainsCalleesAndCallers) {
  const auto file = ReadLabFile(MapFile());
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->program, "gold");
  EXPECT_EQ(file->refused, 0U);
  ASSERT_EQ(file->apis.size(), 2U);
  EXPECT_EQ(stats::DisplayName(file->apis[0].api), "libgold.so.1!inner");
  EXPECT_EQ(file->apis[0].api.symbol_version, "GOLD_1.0");
  EXPECT_EQ(file->apis[0].api.build_id, "01234567");
  EXPECT_EQ(file->apis[0].calls, 3U);
  EXPECT_EQ(file->apis[0].nested, 1U);
  EXPECT_EQ(file->apis[0].first_call_bytes, 100U);
  EXPECT_TRUE(file->apis[0].inclusive.sum() == 100);
  EXPECT_EQ(file->apis[0].inclusive.count(), 2U);
  EXPECT_EQ(file->apis[0].inclusive.bucket(0).count, 1U) << "the call that allocated nothing";
  EXPECT_EQ(file->apis[0].exclusive.count(), 2U);
  EXPECT_EQ(file->apis[0].arguments[0][shm::SlotOf(7)], 3U);
  EXPECT_THAT(file->pairs, ElementsAre(Pair(0U, 0U), Pair(1U, 0U)));
  ASSERT_EQ(file->nodes.size(), 3U);
  EXPECT_EQ(file->nodes[0].parent, LabFileNode::kRoot);
  EXPECT_EQ(file->nodes[1].parent, 0U);
  EXPECT_EQ(file->nodes[2].parent, 1U);
  EXPECT_EQ(file->nodes[2].bytes, 9U);
}

TEST(LabFileReaderTest, CountsTheBytesThatCallsMovedAndZeroForTheOthers) {
  const auto file = ReadLabFile(MapFile());
  ASSERT_TRUE(file) << file.error().message;
  const LabFileApi& inner = file->apis[0];
  EXPECT_EQ(inner.not_measured, 0U);
  EXPECT_TRUE(inner.moved[1].sum() == 5000);
  for (const stats::CostHistogram& moved : inner.moved) EXPECT_EQ(moved.count(), 2U);
  const LabFileApi& outer = file->apis[1];
  for (const stats::CostHistogram& moved : outer.moved) {
    EXPECT_TRUE(moved.count() == 1 && moved.sum() == 0) << "a call that moved nothing";
  }
}

// Unknown values are not reported as 0, for any reason.
TEST(LabFileReaderTest, BytesThatAreHiddenOrImpossibleAreNotKnown) {
  const auto api = [](std::function<void(LabApi&)> change) {
    return At<LabApi>(LabApiAt(0), change);
  };
  const auto block = [](std::function<void(LabMapBlock&)> change) {
    return At<LabMapBlock>(LabBlockAt(shm::kLabMap, 1), change);
  };
  const auto io = [](std::function<void(shm::LabIoBlock&)> change) {
    return At<shm::LabIoBlock>(LabIoBlockAt(0), change);
  };
  const std::vector<std::function<void(LabBytes&)>> changes = {
      api([](LabApi& one) { one.not_measured = shm::kDiskInsideLibc | shm::kNetInsideLibc; }),
      block([](LabMapBlock& one) { one.io = shm::kLabIoBlocks + 1; }),
      block([](LabMapBlock& one) { one.io = kMost; }),
      io([](shm::LabIoBlock& one) { one.moved[3].buckets[64].count = 1; }),
      io([](shm::LabIoBlock& one) {
        one.moved[1].buckets[shm::SlotOf(5000)] = {3, 15000, 75000000, 0};
      })};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    SCOPED_TRACE(i);
    LabBytes bytes = MapFile();
    changes[i](bytes);
    const auto file = ReadLabFile(bytes);
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->refused, 0U);
    EXPECT_EQ(file->apis[0].calls, 3U);
    EXPECT_NE(file->apis[0].not_measured, 0U);
    for (const stats::CostHistogram& moved : file->apis[0].moved) EXPECT_TRUE(moved.empty());
    EXPECT_EQ(file->apis[1].not_measured, 0U);
  }
}

TEST(LabFileReaderTest, TimingRunContainsCostsOfCalls) {
  const auto file = ReadLabFile(TimeFile());
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_EQ(file->apis.size(), 1U);
  EXPECT_EQ(file->apis[0].first_call_ns, 1000U);
  EXPECT_TRUE(file->apis[0].time.sum() == 1000);
  EXPECT_TRUE(file->apis[0].cycles.sum() == 2500);
  EXPECT_EQ(file->apis[0].log_time.sum, 2551U);
  EXPECT_EQ(file->apis[0].by_argument.by_bucket[shm::SlotOf(7)].count, 1U);
}

TEST(LabFileReaderTest, AProgramMayCallWhatItsHeaderDoesNotCountYet) {
  LabBytes bytes = MapFile();
  Change<LabHeader>(bytes, 0, [](LabHeader& header) { header.candidate_count = 1; });
  const auto file = ReadLabFile(bytes);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->apis.size(), 2U);
}

// Every length, and every other size that a header may contain.
TEST(LabFileReaderTest, AFileOfAnotherSizeIsRefused) {
  for (const std::uint64_t size :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{8}, std::uint64_t{4095},
        std::uint64_t{4096}, shm::LabPairsOffset(), shm::LabNodesOffset(), shm::LabBlocksOffset(),
        shm::LabFileBytes(shm::kLabMap) - 1, shm::LabFileBytes(shm::kLabMap) + 1,
        shm::LabFileBytes(shm::kLabTime), kMost}) {
    LabBytes bytes = MapFile();
    bytes.Resize(size);
    EXPECT_FALSE(ReadLabFile(bytes)) << size;
    Change<LabHeader>(bytes, 0, [&](LabHeader& header) { header.size_bytes = size; });
    EXPECT_FALSE(ReadLabFile(bytes)) << size;
  }
}

struct Damage {
  const char* name;
  ErrorCode code;
  const char* says;
  std::function<void(LabBytes&)> change;
};

Damage InHeader(const char* name, ErrorCode code, const char* says,
                std::function<void(LabHeader&)> change) {
  return {name, code, says, At<LabHeader>(0, std::move(change))};
}
Damage InApi(const char* name, const char* says, std::function<void(LabApi&)> change) {
  return {name, ErrorCode::kCorrupt, says, At<LabApi>(LabApiAt(0), std::move(change))};
}
template <std::size_t kSize>
void Fill(char (&text)[kSize]) {
  std::memset(text, 'x', kSize);
}

std::vector<Damage> DamagesOfHeader() {
  const ErrorCode corrupt = ErrorCode::kCorrupt;
  return {
      InHeader("magic", corrupt, "not a lab file", [](LabHeader& h) { h.magic[7] = 'x'; }),
      InHeader("version", ErrorCode::kUnsupported, "version 99",
               [](LabHeader& h) { h.version = 99; }),
      InHeader("unfinished", ErrorCode::kUnavailable, "not finished",
               [](LabHeader& h) { h.complete = 0; }),
      InHeader("no_mode", corrupt, "mode 0", [](LabHeader& h) { h.mode = 0; }),
      InHeader("mode", corrupt, "mode 3", [](LabHeader& h) { h.mode = 3; }),
      InHeader("other_mode", corrupt, "bytes", [](LabHeader& h) { h.mode = shm::kLabTime; }),
      InHeader("apis", corrupt, "16385 APIs", [](LabHeader& h) { h.candidate_count = 16385; }),
      InHeader("nodes", corrupt, "16385 nodes", [](LabHeader& h) { h.node_counts[255] = 16385; }),
      InHeader("program", corrupt, "not terminated", [](LabHeader& h) { Fill(h.program); })};
}

std::vector<Damage> DamagesOfApi() {
  return {InApi("module", "not terminated", [](LabApi& api) { Fill(api.module); }),
          InApi("symbol", "not terminated", [](LabApi& api) { Fill(api.symbol); }),
          InApi("symbol_version", "not terminated", [](LabApi& api) { Fill(api.version); }),
          InApi("path", "not terminated", [](LabApi& api) { Fill(api.path); }),
          InApi("build_id", "build-id", [](LabApi& api) { api.build_id_bytes = 33; }),
          InApi("no_module", "soname", [](LabApi& api) { api.module[0] = 0; }),
          InApi("no_symbol", "symbol", [](LabApi& api) { api.symbol[0] = 0; }),
          InApi("a_path_as_name", "soname", [](LabApi& api) { api.module[3] = '/'; }),
          InApi("control_characters", "symbol", [](LabApi& api) { api.symbol[0] = '\x1b'; }),
          InApi("not_utf8", "symbol", [](LabApi& api) { api.symbol[0] = '\xff'; })};
}

std::vector<Damage> DamagesOfTheRest() {
  const auto node = [](const char* name, std::function<void(LabNode&)> change) {
    return Damage{name, ErrorCode::kCorrupt, "belongs to no tree",
                  At<LabNode>(LabNodeAt(0, 2), std::move(change))};
  };
  const auto pair = [](const char* name, std::uint64_t outer, std::uint64_t inner) {
    return Damage{name, ErrorCode::kCorrupt, "a pair of an API that was not called",
                  [=](LabBytes& bytes) {
                    bytes.Put(LabPairWordAt(outer, inner), std::uint64_t{1} << inner % 64);
                  }};
  };
  const auto block = [](const char* name, std::uint32_t api) {
    return Damage{name, ErrorCode::kCorrupt, "belongs to no API",
                  At<LabMapBlock>(LabBlockAt(shm::kLabMap, 0),
                                  [=](LabMapBlock& changed) { changed.head.api = api; })};
  };
  return {node("its_own_parent", [](LabNode& n) { n.parent = 2; }),
          node("a_later_parent", [](LabNode& n) { n.parent = 3; }),
          node("no_parent", [](LabNode& n) { n.parent = ~0U; }),
          node("node_of_no_api", [](LabNode& n) { n.api = 2; }),
          node("node_out_of_range", [](LabNode& n) { n.api = ~0U; }),
          pair("pair_of_none", 1, 2),
          pair("pair_of_the_last", 0, shm::kLabApis - 1),
          block("block_of_none", 2),
          block("block_out_of_range", shm::kLabApis),
          block("block_far_out_of_range", ~0U)};
}

class DamagedLabFileTest : public ::testing::TestWithParam<Damage> {};

TEST_P(DamagedLabFileTest, IsRefused) {
  LabBytes bytes = MapFile();
  GetParam().change(bytes);
  const auto file = ReadLabFile(bytes);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, GetParam().code);
  EXPECT_THAT(file.error().message, HasSubstr(GetParam().says));
}

std::string NameOf(const ::testing::TestParamInfo<Damage>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Header, DamagedLabFileTest, ::testing::ValuesIn(DamagesOfHeader()),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Api, DamagedLabFileTest, ::testing::ValuesIn(DamagesOfApi()), NameOf);
INSTANTIATE_TEST_SUITE_P(Rest, DamagedLabFileTest, ::testing::ValuesIn(DamagesOfTheRest()), NameOf);

// A block that no calls could produce is left out as a whole and counted; nothing else is lost.
void ExpectRefusedBlock(const LabBytes& bytes) {
  const auto file = ReadLabFile(bytes);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->refused, 1U);
  const LabFileApi& api = file->apis.back();
  EXPECT_EQ(api.calls, 0U);
  EXPECT_TRUE(api.time.empty() && api.inclusive.empty() && api.exclusive.empty());
  EXPECT_EQ(api.log_time, stats::LogSums{});
  EXPECT_EQ(api.by_argument, stats::InputSums{});
  EXPECT_EQ(api.arguments[0][shm::SlotOf(7)], 0U);
}

TEST(LabFileReaderTest, AMapBlockThatNoCallsCouldHaveMadeIsCountedAsRefused) {
  const std::vector<std::function<void(LabMapBlock&)>> changes = {
      [](LabMapBlock& block) { block.head.calls = kMost; },
      [](LabMapBlock& block) { block.head.calls = runs::kMaxRunCalls + 1; },
      [](LabMapBlock& block) { block.head.nested = 2; },
      [](LabMapBlock& block) { block.head.abandoned = 2; },
      [](LabMapBlock& block) { block.inclusive.buckets[shm::SlotOf(100)].sum = 128; },
      [](LabMapBlock& block) { block.exclusive.buckets[3].sumsq_high = 1; },
      [](LabMapBlock& block) { block.sizes.buckets[64].count = 1; },
      [](LabMapBlock& block) { block.sizes.staged_slot = shm::kBucketSlots + 1; },
      [](LabMapBlock& block) { block.sizes.untimed = 2; },
      [](LabMapBlock& block) { block.without_bytes = block.head.calls + 1; },
      [](LabMapBlock& block) { block.live.calls = block.head.calls + 1; },
      [](LabMapBlock& block) { block.live.bytes = (std::int64_t{1} << 46) + 1; },
      [](LabMapBlock& block) { block.live.bytes = std::numeric_limits<std::int64_t>::min(); },
      [](LabMapBlock& block) {
        block.live.bytes_at[shm::kLabLiveMarks - 1] = std::numeric_limits<std::int64_t>::max();
      }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    SCOPED_TRACE(i);
    LabBytes bytes = MapFile();
    Change<LabMapBlock>(bytes, LabBlockAt(shm::kLabMap, 0), changes[i]);
    ExpectRefusedBlock(bytes);
  }
}

// One block of 20 calls, which left 100 bytes after 4 calls, 300 after 8, and 700 in the end.
LabBytes LiveFile(std::uint32_t knows_block_sizes) {
  LabBytes bytes = MapFile();
  Change<LabHeader>(bytes, 0,
                    [=](LabHeader& header) { header.knows_block_sizes = knows_block_sizes; });
  LabMapBlock block = MapBlock(1, 20);
  block.live.calls = 20;
  block.live.bytes = 700;
  block.live.bytes_at[2] = 100;
  block.live.bytes_at[3] = 300;
  bytes.Put(LabBlockAt(shm::kLabMap, 0), block);
  return bytes;
}

TEST(LabFileReaderTest, LiveBytesAreThoseOfTheLastPartsOfTheCalls) {
  const auto file = ReadLabFile(LiveFile(1));
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_EQ(file->apis[1].api.symbol, "outer");
  ASSERT_TRUE(file->apis[1].live.has_value());
  EXPECT_EQ(file->apis[1].live->calls, 12U);
  EXPECT_EQ(file->apis[1].live->middle, 200);
  EXPECT_EQ(file->apis[1].live->last, 400);
  ASSERT_TRUE(file->apis[0].live.has_value());
  EXPECT_EQ(file->apis[0].live->calls, 0U) << "too few calls of the other function";
}

TEST(LabFileReaderTest, LiveBytesOfBlocksWithoutSizesAreNotMeasured) {
  const auto file = ReadLabFile(LiveFile(0));
  ASSERT_TRUE(file) << file.error().message;
  for (const LabFileApi& api : file->apis) EXPECT_EQ(api.live, std::nullopt);
}

TEST(LabFileReaderTest, ImpossibleLogSumsAreCountedAsRefused) {
  const std::vector<LabLogSums> impossible = {
      {.count = 0, .sum = 1, .sum_squares = 1},
      {.count = 0, .sum = 0, .sum_squares = 1},
      {.count = 1, .sum = 16384, .sum_squares = 16384ULL * 16384},
      {.count = 2, .sum = 20, .sum_squares = 199},  // violates the Cauchy-Schwarz inequality
      {.count = 1, .sum = 10, .sum_squares = kMost},
      {.count = 1, .sum = kMost, .sum_squares = kMost}};
  for (const LabLogSums& sums : impossible) {
    SCOPED_TRACE(sums.sum);
    LabBytes all = TimeFile();
    const std::uint64_t at = LabBlockAt(shm::kLabTime, 0);
    Change<LabTimeBlock>(all, at, [&](LabTimeBlock& block) { block.all = sums; });
    ExpectRefusedBlock(all);
    LabBytes one = TimeFile();
    Change<LabTimeBlock>(one, at, [&](LabTimeBlock& block) { block.by_argument[64] = sums; });
    ExpectRefusedBlock(one);
  }
}

TEST(LabFileReaderTest, SumsOfManyBlocksNeverOverflow) {
  LabBytes bytes = MapFile();
  constexpr std::uint32_t kBlocks = 5;
  Change<LabHeader>(bytes, 0, [](LabHeader& header) { header.block_count = kBlocks; });
  LabMapBlock block = MapBlock(0, runs::kMaxRunCalls / 2);
  for (auto& calls : block.arguments[5]) calls = kMost;
  for (std::uint32_t i = 0; i < kBlocks; ++i) bytes.Put(LabBlockAt(shm::kLabMap, i), block);
  const auto file = ReadLabFile(bytes);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->refused, kBlocks - 2);
  EXPECT_EQ(file->apis[0].calls, runs::kMaxRunCalls);
  EXPECT_EQ(file->apis[0].arguments[5][64], runs::kMaxRunCalls);
}

// Memory is bounded by the file's layout, regardless of its counts.
TEST(LabFileReaderTest, MoreBlocksThanTheFileHasAreNotLookedFor) {
  LabBytes bytes = MapFile();
  Change<LabHeader>(bytes, 0, [](LabHeader& header) {
    header.block_count = ~0U;
    header.candidate_count = shm::kLabApis;
    for (std::uint32_t& count : header.node_counts) count = 1;
    header.node_counts[0] = 4;
  });
  const auto file = ReadLabFile(bytes);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->apis.size(), 2U);
  EXPECT_EQ(file->nodes.size(), 3U);
}

TEST(LabFileReaderTest, MorePairsThanAreKeptAreRefused) {
  LabBytes bytes = MapFile();
  constexpr std::uint32_t kApis = 2112;  // its square is greater
  Change<LabHeader>(bytes, 0, [](LabHeader& header) { header.candidate_count = kApis; });
  const std::string row(kApis / 8, '\xff');
  for (std::uint32_t api = 0; api < kApis; ++api) {
    bytes.Put(LabApiAt(api), Called(std::to_string(api).c_str()));
    bytes.Write(LabPairWordAt(api, 0), row);
  }
  EXPECT_FALSE(ReadLabFile(bytes));
}

const std::filesystem::path kGolden = FIELDCOST_LAB_GOLDEN_DIR;

TEST(LabFormatTest, MapAndTimingRunHaveTheirGoldenBytes) {
  ExpectGolden(kGolden / "map", GoldenLines(MapFile()));
  ExpectGolden(kGolden / "time", GoldenLines(TimeFile()));
}

TEST(LabFormatTest, ThePlanHasItsGoldenBytes) {
  const testing::TempDir directory;
  PlanFile plan{.mode = shm::kLabTime,
                .tsc_to_ns_multiplier = 0x5a000000,
                .entries = {{0x2222222222222222, shm::kLabKnown, shm::kNoArgument},
                            {0x1111111111111111, shm::kLabTimed, 2}},
                .globs = "libgold.so.1!*",
                .data_slots = true};
  ASSERT_TRUE(WritePlan(directory.path(), plan));
  const std::string bytes = ReadFile(directory.path() / shm::kLabPlanName, kMiB).value_or("");
  LabBytes file(shm::kLabMap);
  file.Write(0, std::string(sizeof(LabHeader), '\0'));
  file.Resize(bytes.size());
  file.Write(0, bytes);
  ExpectGolden(kGolden / "plan", GoldenLines(file));
}

}  // namespace
}  // namespace fieldcost::lab
