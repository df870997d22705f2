#include "agent/runs/run_file_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <functional>

#include "tests/support/run_file_writer.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::runs {
namespace {

using testing::RunFileOptions;
using testing::RunFileWriter;
using testing::WrittenPick;

class RunFileReaderTest : public ::testing::Test {
 protected:
  std::filesystem::path path() const { return directory_.path() / "a.run"; }

  Result<RunContent> Read(bool process_ended = true) const {
    FIELDCOST_ASSIGN(const RunFileBytes bytes, RunFileBytes::Open(path()));
    FIELDCOST_ASSIGN(const RunInfo info, ReadRunInfo(bytes));
    return ReadRunContent(bytes, info, process_ended);
  }

  testing::TempDir directory_;
};

stats::CostHistogram HistogramOf(const std::vector<std::uint64_t>& values) {
  stats::CostHistogram histogram;
  for (const std::uint64_t value : values) histogram.Add(value);
  return histogram;
}

TEST_F(RunFileReaderTest, SumsEachPickAndMetricOverAllThreads) {
  RunFileOptions options;
  options.picks = {WrittenPick{.symbol = "one", .metrics = shm::kAllocMetrics},
                   WrittenPick{.symbol = "two", .metrics = shm::kAllocMetrics}};
  RunFileWriter file(path(), options);
  file.Add(0, 0, 0, 0);
  file.Add(7, 255, 0, 0);
  file.Add(~std::uint64_t{0} / 4, 17, 0, 2);
  file.Add(100, 3, 1, 1);
  const auto content = Read();
  ASSERT_TRUE(content) << content.error().message;
  ASSERT_EQ(content->picks.size(), 2U);
  EXPECT_EQ(content->picks[1].api.symbol, "two");
  EXPECT_EQ(content->picks[1].api.build_id, "01020304");
  ASSERT_EQ(content->cells.size(), 3U);
  EXPECT_EQ(content->cells[0].metric, stats::Metric::kAllocInclusive);
  EXPECT_EQ(content->cells[0].histogram, HistogramOf({0, 7}));
  EXPECT_EQ(content->cells[1].metric, stats::Metric::kAllocSize);
  EXPECT_EQ(content->cells[1].histogram, HistogramOf({~std::uint64_t{0} / 4}));
  EXPECT_EQ(content->cells[2].pick, 1U);
  EXPECT_EQ(content->cells[2].histogram, HistogramOf({100}));
  EXPECT_EQ(content->refused_cells, 0U);
}

TEST_F(RunFileReaderTest, StagedUpdateOfADeadProcessIsCompleted) {
  RunFileWriter file(path(), {});
  for (int i = 0; i < 5; ++i) file.Add(9);
  file.AddAndDie(13);
  const auto content = Read();
  ASSERT_TRUE(content) << content.error().message;
  ASSERT_EQ(content->cells.size(), 1U);
  EXPECT_EQ(content->cells[0].histogram, HistogramOf({9, 9, 9, 9, 9, 13}));
}

// After a kill at any instruction between two updates (one of a call that represents eight), all
// sums and the count of untimed calls are consistent.
TEST_F(RunFileReaderTest, StagesACallsWeightWithItsSums) {
  RunFileWriter file(path(), {});
  stats::CostHistogram before;
  for (int i = 0; i < 5; ++i) {
    file.Add(9, 0, 0, 0, 4);
    before.Add(9, 4);
  }
  stats::CostHistogram after = before;
  after.Add(13, 8);
  const auto read = [this] { return Read()->cells.at(0).histogram; };
  const std::uint64_t untimed = file.cell().untimed;
  EXPECT_EQ(read(), before);
  file.cell().staged_untimed = untimed + 7;  // not committed
  EXPECT_EQ(read(), before);
  file.cell().staged_untimed = untimed;
  file.AddAndDie(13, 8);  // committed, half copied
  EXPECT_EQ(file.cell().untimed, untimed);
  EXPECT_EQ(read(), after);
  file.cell().untimed = file.cell().staged_untimed;  // and completely copied
  EXPECT_EQ(read(), after);
  file.cell().buckets[shm::SlotOf(13)] = file.cell().staged;
  EXPECT_EQ(read(), after);
  file.cell().staged_slot = 0;
  EXPECT_EQ(read(), after);
  EXPECT_EQ(after.timed(), 6U);
  EXPECT_EQ(Read()->picks.at(0).calls->timed, 6U) << "represented calls were not timed";
}

TEST_F(RunFileReaderTest, RefusesMoreRepresentedCallsThanTheCount) {
  RunFileWriter file(path(), {});
  file.Add(9, 0, 0, 0, 4);
  file.Add(9, 1, 0, 0, 4);
  file.Add(9, 2, 0, 0, 4);
  file.cell(0).untimed = 4;  // nothing was timed
  file.cell(1).untimed = ~std::uint64_t{0};
  const auto content = Read();
  ASSERT_TRUE(content);
  EXPECT_EQ(content->refused_cells, 2U);
  ASSERT_EQ(content->cells.size(), 1U);
  EXPECT_EQ(content->cells[0].histogram.count(), 4U);
  EXPECT_EQ(content->cells[0].histogram.untimed(), 3U);
}

TEST_F(RunFileReaderTest, RefusesFilesOfAnotherVersion) {
  RunFileWriter file(path(), {});
  file.Add(9);
  file.header().version = shm::kRunVersion + 1;
  const auto content = Read();
  ASSERT_FALSE(content);
  EXPECT_EQ(content.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(content.error().message, ::testing::HasSubstr("has version 2"));
}

TEST_F(RunFileReaderTest, LeavesOutWhatCouldNotBeMeasured) {
  RunFileOptions options;
  options.picks.assign(4, WrittenPick{.metrics = shm::kIoMetrics});
  RunFileWriter file(path(), options);
  for (std::uint32_t pick = 0; pick < 4; ++pick) {
    for (std::uint32_t metric = 0; metric < 4; ++metric) file.Add(0, 0, pick, metric);
  }
  file.pick(1).not_measured = shm::kDiskInsideLibc;
  file.pick(2).not_measured = shm::kReadMapped | shm::kNetInsideLibc;
  file.pick(3).not_measured = shm::kDiskInsideLibc | shm::kNetInsideLibc;
  const auto content = Read();
  ASSERT_TRUE(content) << content.error().message;
  std::vector<std::pair<std::uint32_t, stats::Metric>> found;
  for (const RunCell& cell : content->cells) found.emplace_back(cell.pick, cell.metric);
  using stats::Metric;
  EXPECT_THAT(found, ::testing::ElementsAre(
                         std::pair(0U, Metric::kDiskRead), std::pair(0U, Metric::kDiskWritten),
                         std::pair(0U, Metric::kNetReceived), std::pair(0U, Metric::kNetSent),
                         std::pair(1U, Metric::kNetReceived), std::pair(1U, Metric::kNetSent),
                         std::pair(2U, Metric::kDiskWritten)));
  for (const RunPick& pick : content->picks) EXPECT_EQ(pick.calls->timed, 1U);
  EXPECT_EQ(content->cells[0].histogram, HistogramOf({0}));
  file.pick(0).not_measured = shm::kAllNotMeasured + 1;
  EXPECT_FALSE(Read());
}

TEST_F(RunFileReaderTest, SeparatesTimesOfPicksOnABusyMachine) {
  RunFileOptions options;
  options.picks.assign(2, WrittenPick{.metrics = shm::kTimeMetrics | shm::kCycleMetrics});
  RunFileWriter file(path(), options);
  file.pick(1).flags = shm::kPickBusy;
  for (std::uint32_t pick = 0; pick < 2; ++pick) {
    for (std::uint32_t metric = 0; metric < 2; ++metric) file.Add(9, 0, pick, metric);
  }
  const auto content = Read();
  ASSERT_TRUE(content);
  ASSERT_EQ(content->cells.size(), 4U);
  EXPECT_EQ(content->cells[0].metric, stats::Metric::kWallTime);
  EXPECT_EQ(content->cells[2].metric, stats::Metric::kWallTimeBusy);
  EXPECT_EQ(content->cells[3].metric, stats::Metric::kCpuCycles);
  EXPECT_EQ(content->picks[1].first_metric, stats::Metric::kWallTimeBusy);
  EXPECT_EQ(content->picks[1].calls->timed, 1U);
}

TEST_F(RunFileReaderTest, CellBeingWrittenIsLeftForTheNextTime) {
  RunFileOptions options;
  options.picks = {WrittenPick{.symbol = "one"}, WrittenPick{.symbol = "two"}};
  RunFileWriter file(path(), options);
  file.Add(9);
  file.Add(5, 1, 0);
  file.Add(6, 0, 1);
  file.cell().sequence += 1;  // odd: its writer is in the middle of an update
  auto content = Read(false);
  ASSERT_TRUE(content);
  EXPECT_EQ(content->torn_cells, 1U);
  ASSERT_EQ(content->cells.size(), 1U);  // that of the other pick
  EXPECT_EQ(content->cells[0].pick, 1U);
  file.cell().sequence += 1;
  content = Read(false);
  ASSERT_TRUE(content);
  ASSERT_EQ(content->cells.size(), 2U);
  EXPECT_EQ(content->cells[0].histogram, HistogramOf({9, 5}));
}

TEST_F(RunFileReaderTest, PicksOfLaterPhasesAreReadAndThoseNotYetMadeAreNot) {
  RunFileOptions options;
  options.picks = {WrittenPick{.symbol = "one", .metrics = shm::kAllocMetrics}};
  options.pick_capacity = 5;
  RunFileWriter file(path(), options);
  file.Add(1, 7, 0, 2);
  file.Add(9, 0, 3, 1);  // of a pick that is being added
  file.counter(0, 4) = shm::MakeCallCounter(11, 1);
  auto content = Read(false);
  ASSERT_TRUE(content) << content.error().message;
  ASSERT_EQ(content->picks.size(), 1U);
  ASSERT_EQ(content->cells.size(), 1U);
  EXPECT_EQ(content->cells[0].histogram, HistogramOf({1}));
  file.AddPick({.symbol = "two", .metrics = shm::kAllocMetrics});
  file.Add(2, 255, 1, 0);
  file.pick(0).phase = shm::kPickDropped;
  content = Read(false);
  ASSERT_TRUE(content) << content.error().message;
  ASSERT_EQ(content->picks.size(), 2U);
  EXPECT_TRUE(content->picks[0].dropped);
  EXPECT_FALSE(content->picks[1].dropped);
  EXPECT_EQ(content->picks[1].api.symbol, "two");
  ASSERT_EQ(content->cells.size(), 2U);
  EXPECT_EQ(content->cells[1].histogram, HistogramOf({2}));
}

TEST_F(RunFileReaderTest, FileWithoutPicksYetHoldsNothing) {
  RunFileWriter file(path(), {});
  file.header().pick_count = 0;
  const auto content = Read(false);
  ASSERT_TRUE(content) << content.error().message;
  EXPECT_TRUE(content->picks.empty());
  EXPECT_TRUE(content->cells.empty());
}

TEST_F(RunFileReaderTest, CountersOfEveryThreadAreSummedByPick) {
  RunFileOptions options;
  options.picks.assign(9, WrittenPick{});  // more counters than fit into a cache line
  options.pick_capacity = 12;
  RunFileWriter file(path(), options);
  std::uint64_t expected = 0;
  for (const std::uint32_t slot : {0U, 1U, 17U, 255U}) {
    for (const std::uint32_t gap : {0U, 5U, 16383U}) {
      file.counter(slot, 8) = shm::MakeCallCounter(slot + 1, gap);
    }
    // Between the count and the new gap.
    file.counter(slot, 7) = shm::MakeCallCounter(slot, 0) - (std::uint64_t{1} << 48);
    expected += slot + 1;
  }
  const auto content = Read();
  ASSERT_TRUE(content) << content.error().message;
  ASSERT_TRUE(content->picks[8].calls && content->picks[7].calls && content->picks[0].calls);
  EXPECT_EQ(content->picks[8].calls->untimed, expected);
  EXPECT_EQ(content->picks[7].calls->untimed, expected);
  EXPECT_EQ(content->picks[0].calls->untimed, 0U);
  EXPECT_EQ(content->picks[8].calls->timed, 0U);
}

TEST_F(RunFileReaderTest, CallsAreUnknownWhereTheCellThatCountsThemIs) {
  RunFileOptions options;
  options.picks.assign(3, WrittenPick{.metrics = shm::kTimeMetrics | shm::kCycleMetrics});
  RunFileWriter file(path(), options);
  for (std::uint32_t pick = 0; pick < 3; ++pick) {
    for (std::uint32_t metric = 0; metric < 2; ++metric) file.Add(9, 0, pick, metric);
  }
  file.cell(0, 0, 0).sequence += 1;  // torn
  file.cell(0, 1, 0).staged_slot = 99;
  file.cell(0, 2, 1).staged_slot = 99;  // not the metric that counts calls
  const auto content = Read(false);
  ASSERT_TRUE(content);
  EXPECT_FALSE(content->picks[0].calls);
  EXPECT_FALSE(content->picks[1].calls);
  ASSERT_TRUE(content->picks[2].calls);
  EXPECT_EQ(content->picks[2].calls->timed, 1U);
}

TEST_F(RunFileReaderTest, ImpossibleSumsAreRefusedCellByCell) {
  RunFileWriter file(path(), {});
  file.Add(9, 0);
  file.Add(10, 1);
  file.Add(11, 2);
  file.cell(1).buckets[shm::SlotOf(10)].sum = 1000;
  file.cell(2).staged_slot = 99;
  const auto content = Read();
  ASSERT_TRUE(content);
  EXPECT_EQ(content->refused_cells, 2U);
  ASSERT_EQ(content->cells.size(), 1U);
  EXPECT_EQ(content->cells[0].histogram, HistogramOf({9}));
}

TEST_F(RunFileReaderTest, FileThatIsStillBeingMadeIsNotReady) {
  RunFileWriter file(path(), {});
  file.header().complete = 0;
  const auto bytes = RunFileBytes::Open(path());
  ASSERT_TRUE(bytes);
  const auto info = ReadRunInfo(*bytes);
  ASSERT_TRUE(info);
  EXPECT_FALSE(info->ready);
}

TEST_F(RunFileReaderTest, CorruptFilesAreRefusedAsAWhole) {
  struct Row {
    const char* what;
    std::function<void(RunFileWriter&)> damage;
  };
  const std::vector<Row> table = {
      {"magic", [](RunFileWriter& f) { f.header().magic[3] ^= 1; }},
      {"version", [](RunFileWriter& f) { f.header().version = shm::kRunVersion + 1; }},
      {"header bytes", [](RunFileWriter& f) { f.header().header_bytes = 64; }},
      {"size field", [](RunFileWriter& f) { f.header().size_bytes += 1; }},
      {"truncated cells", [](RunFileWriter& f) { std::filesystem::resize_file(f.path(), 8192); }},
      {"truncated header", [](RunFileWriter& f) { std::filesystem::resize_file(f.path(), 100); }},
      {"appended page",
       [](RunFileWriter& f) {
         std::filesystem::resize_file(f.path(), f.header().size_bytes + 4096);
       }},
      {"no room", [](RunFileWriter& f) { f.header().pick_capacity = 0; }},
      {"huge room", [](RunFileWriter& f) { f.header().pick_capacity = 0xffffffff; }},
      {"other room", [](RunFileWriter& f) { f.header().pick_capacity = 2; }},
      {"huge pick count", [](RunFileWriter& f) { f.header().pick_count = 0xffffffff; }},
      {"more picks than fit", [](RunFileWriter& f) { f.header().pick_count = 2; }},
      {"no metrics", [](RunFileWriter& f) { f.header().metrics_per_pick = 0; }},
      {"huge metric count", [](RunFileWriter& f) { f.header().metrics_per_pick = 0x80000001; }},
      {"thread slots", [](RunFileWriter& f) { f.header().thread_slots = 1U << 31; }},
      {"counters offset", [](RunFileWriter& f) { f.header().counters_offset = 0; }},
      {"cells offset", [](RunFileWriter& f) { f.header().cells_offset = ~std::uint64_t{0}; }},
      {"complete flag", [](RunFileWriter& f) { f.header().complete = 3; }},
      {"metric set", [](RunFileWriter& f) { f.pick(0).metrics = shm::kAllocMetrics; }},
      {"unknown metric", [](RunFileWriter& f) { f.pick(0).metrics = 1U << 31; }},
      {"metric 0", [](RunFileWriter& f) { f.pick(0).metrics = 1; }},
      {"metric without cells",
       [](RunFileWriter& f) { f.pick(0).metrics = shm::BitOf(shm::Metric::kCallsPerRun); }},
      {"build-id size", [](RunFileWriter& f) { f.pick(0).build_id_bytes = 33; }},
      {"empty soname", [](RunFileWriter& f) { f.pick(0).soname[0] = 0; }},
      {"empty symbol", [](RunFileWriter& f) { f.pick(0).symbol[0] = 0; }},
      {"control character", [](RunFileWriter& f) { f.pick(0).symbol[1] = '\n'; }},
      {"space", [](RunFileWriter& f) { f.pick(0).soname[1] = ' '; }},
      {"soname without end",
       [](RunFileWriter& f) { std::memset(f.pick(0).soname, 'a', sizeof f.pick(0).soname); }},
      {"symbol without end",
       [](RunFileWriter& f) { std::memset(f.pick(0).symbol, 'a', sizeof f.pick(0).symbol); }},
      {"path without end",
       [](RunFileWriter& f) {
         std::memset(f.pick(0).module_path, '/', sizeof f.pick(0).module_path);
       }},
  };
  for (const Row& row : table) {
    {
      RunFileWriter file(path(), {});
      file.Add(9);
      ASSERT_TRUE(Read()) << row.what;
      row.damage(file);
    }
    const auto content = Read();
    ASSERT_FALSE(content) << row.what;
    EXPECT_TRUE(content.error().code == ErrorCode::kCorrupt ||
                content.error().code == ErrorCode::kUnsupported)
        << row.what << ": " << content.error().message;
    std::filesystem::remove(path());
  }
}

TEST_F(RunFileReaderTest, ForeignThingsAreRefusedWithoutWaitingForThem) {
  std::filesystem::create_symlink("/etc/passwd", path());
  EXPECT_EQ(RunFileBytes::Open(path()).error().code, ErrorCode::kCorrupt);
  std::filesystem::remove(path());
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  EXPECT_EQ(RunFileBytes::Open(path()).error().code, ErrorCode::kCorrupt);
  std::filesystem::remove(path());
  std::filesystem::create_directory(path());
  EXPECT_EQ(RunFileBytes::Open(path()).error().code, ErrorCode::kCorrupt);
}

TEST_F(RunFileReaderTest, MostlyEmptyFileOfManyPicksIsReadWithoutItsHoles) {
  RunFileOptions options;
  options.picks.assign(shm::kMaxPicks, WrittenPick{.metrics = shm::kAllocMetrics});
  RunFileWriter file(path(), options);
  file.Add(5, 255, shm::kMaxPicks - 1, 2);  // the very last cell, at about 840 MB
  const auto content = Read();
  ASSERT_TRUE(content) << content.error().message;
  ASSERT_EQ(content->cells.size(), 1U);
  EXPECT_EQ(content->cells[0].histogram, HistogramOf({5}));
  struct stat info {};
  ASSERT_EQ(::stat(path().c_str(), &info), 0);
  EXPECT_LT(info.st_blocks * 512, 4 * 1024 * 1024);
}

}  // namespace
}  // namespace fieldcost::runs
