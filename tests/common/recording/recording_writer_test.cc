#include "common/recording/recording_writer.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "common/base/crc32c.h"
#include "common/base/file.h"
#include "common/recording/recording_limits.h"
#include "common/recording/recover_recording.h"
#include "common/recording/verify_recording.h"
#include "common/tree/codec.h"
#include "tests/common/recording/samples.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::recording {
namespace {

using testing::TempDir;

class WriterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::mt19937_64 random(1);
    GrowTo(50, random, dictionary_);
    writer_.emplace(Writer::Create(path_, dictionary_, kAnchors).value());
    metrics_ = AddMetrics(1, *writer_);
    stream_ = writer_->AddStream({StreamKind::kSamples, "", metrics_}).value();
  }

  void Append(std::uint64_t time_ns, std::uint32_t path, std::uint64_t value) {
    const Status status =
        writer_->Append(stream_, time_ns, tree::PathId(path), std::span(&value, 1));
    EXPECT_TRUE(status) << status.error().message;
  }

  Recording Read() {
    EXPECT_TRUE(writer_->Close());
    EXPECT_TRUE(VerifyFile(path_).value().is_good());
    return Recording::Open(path_).value();
  }

  static constexpr ClockAnchors kAnchors = {
      .created_ns = 1, .monotonic_ns = 2, .ticks = 3, .ns_per_tick = 4};
  TempDir dir_;
  const std::filesystem::path path_ = dir_.path() / "a.fct";
  tree::Dictionary dictionary_;
  std::optional<Writer> writer_;
  std::vector<std::uint16_t> metrics_;
  StreamId stream_{0};
};

TEST_F(WriterTest, ReadsBackDescriptions) {
  Descriptions expected{
      .metrics = {{.name = "metric0", .unit = tree::Unit::kCount},
                  {.name = "cpu", .per_sample = 1'000'000}},
      .streams = {{StreamKind::kSamples, "", {0}}, {StreamKind::kEvents, "thread 1", {1, 0}}},
      .runs = {{.begin_ns = 5, .command = "./app  x"}, {.begin_ns = 6}},
      .counts = {{"lost", 3}, {"cut stacks", 1}}};
  ASSERT_EQ(writer_->AddMetric(expected.metrics[1]).value(), 1U);
  ASSERT_EQ(writer_->AddStream(expected.streams[1]).value(), StreamId(1));
  ASSERT_EQ(writer_->BeginRun(5, "./app\n\x1bx", "\x01\x02").value(), 0U);
  ASSERT_EQ(writer_->BeginRun(6, std::string(5'000, 'a'), "").value(), 1U);
  for (const std::uint64_t lost : {1, 3, 3}) ASSERT_TRUE(writer_->SetCount("lost", lost));
  ASSERT_TRUE(writer_->SetCount("cut stacks", 1));
  ASSERT_TRUE(writer_->EndRun(0, 9, -12));
  expected.runs[0].environment_hash = "\x01\x02";
  expected.runs[0].has_ended = true;
  expected.runs[0].end_ns = 9;
  expected.runs[0].exit_status = -12;
  expected.runs[1].command = std::string(kMaxCommandBytes, 'a');
  const Recording recording = Read();
  EXPECT_EQ(recording.contents().descriptions, expected);
  EXPECT_EQ(recording.contents().anchors, kAnchors);
  EXPECT_EQ(VerifyFile(path_).value().open_runs, 1U);
  EXPECT_EQ(recording.dictionary().paths.size(), dictionary_.paths.size());
  for (std::uint32_t path = 1; path < dictionary_.paths.size(); ++path) {
    EXPECT_EQ(recording.dictionary().frame(tree::PathId(path)),
              dictionary_.frame(tree::PathId(path)));
    EXPECT_EQ(recording.dictionary().paths.parents()[path], dictionary_.paths.parents()[path]);
  }
}

TEST_F(WriterTest, SamplesOfABlockMayComeInAnyOrder) {
  for (const std::uint64_t time_ns : {500, 100, 300, 100, 900}) Append(time_ns, 1, time_ns + 1);
  const std::vector<Sample> samples = SamplesIn(Read());
  std::vector<std::uint64_t> values;
  for (const Sample& sample : samples) {
    EXPECT_EQ(sample.values[0], sample.time_ns + 1);
    values.push_back(sample.time_ns);
  }
  EXPECT_EQ(values, (std::vector<std::uint64_t>{100, 100, 300, 500, 900}));
}

TEST_F(WriterTest, CountsLateSamplesAtTheEndOfTheLastBlockAndReportsThem) {
  Append(1'000, 1, 10);
  ASSERT_TRUE(writer_->Flush());
  Append(400, 2, 7);
  Append(2'000, 3, 1);
  const Recording recording = Read();
  EXPECT_EQ(recording.contents().descriptions.counts, (std::vector<Count>{{kLateSamples, 1}}));
  const auto self = Self(recording, 0, {1'000, 1'001});
  EXPECT_EQ(self[1], 10U);
  EXPECT_EQ(self[2], 7U);
  EXPECT_EQ(Self(recording, 0, {0, 1'000})[2], 0U);
}

TEST_F(WriterTest, BlocksAreShorterThanASecondInAnyOrder) {
  Append(5 * kBlockNs, 1, 1);
  Append(5 * kBlockNs + kBlockNs - 1, 1, 1);
  Append(5 * kBlockNs + kBlockNs, 1, 1);
  Append(5 * kBlockNs - 1, 1, 1);  // late
  Append(100 * kBlockNs, 1, 1);
  const Recording recording = Read();
  const auto& blocks = recording.contents().streams[0].blocks();
  ASSERT_EQ(blocks.size(), 3U);
  for (const auto& block : blocks) EXPECT_LT(block.last_ns - block.first_ns, kBlockNs);
  EXPECT_EQ(recording.contents().streams[0].samples(), 5U);
}

TEST_F(WriterTest, AClockThatHasGoneWrongIsRefused) {
  const std::uint64_t value = 1;
  EXPECT_EQ(
      writer_->Append(stream_, kMaxTimeNs + 1, tree::PathId(1), std::span(&value, 1)).error().code,
      ErrorCode::kInvalidArgument);
  Append(kMaxTimeNs, 1, 1);
  EXPECT_EQ(Self(Read(), 0, {})[1], 1U);
}

TEST_F(WriterTest, ASumThatPassesItsBitsIsRefusedAndAllElseStays) {
  Append(1, 1, UINT64_MAX - 5);
  const std::uint64_t value = 6;
  EXPECT_EQ(writer_->Append(stream_, 2, tree::PathId(2), std::span(&value, 1)).error().code,
            ErrorCode::kTooLarge);
  Append(3, 3, 5);
  const auto self = Self(Read(), 0, {});
  EXPECT_EQ(self[1], UINT64_MAX - 5);
  EXPECT_EQ(self[2], 0U);
  EXPECT_EQ(self[3], 5U);
}

TEST_F(WriterTest, StreamsOfOneMetricAreOneColumnOfAllValues) {
  const auto second = writer_->AddStream({StreamKind::kWaits, "", metrics_}).value();
  Append(1, 1, 10);
  const std::uint64_t value = 5;
  ASSERT_TRUE(writer_->Append(second, 2, tree::PathId(1), std::span(&value, 1)));
  const Recording recording = Read();
  EXPECT_EQ(recording.Values({}).value().value(0, tree::PathId(1)), 15U);
  EXPECT_EQ(recording.Values({2, 3}).value().value(0, tree::PathId(1)), 5U);
  EXPECT_EQ(recording.Span(), (Interval{1, 3}));
}

TEST_F(WriterTest, AValueOfSeveralStreamsThatPassesItsBitsIsAnError) {
  const auto second = writer_->AddStream({StreamKind::kWaits, "", metrics_}).value();
  Append(1, 1, UINT64_MAX);
  const std::uint64_t value = 1;
  ASSERT_TRUE(writer_->Append(second, 2, tree::PathId(1), std::span(&value, 1)));
  EXPECT_EQ(Read().Values({}).error().code, ErrorCode::kTooLarge);
}

TEST_F(WriterTest, TreesComeBackAndAreVerified) {
  tree::RunValues run(1);
  ASSERT_TRUE(run.Add(0, tree::PathId(1), 42));
  const auto dictionary = std::make_shared<const tree::Dictionary>(dictionary_);
  const auto tree =
      tree::TreeOf(dictionary, {{.name = "calls", .unit = tree::Unit::kCount}}, std::span(&run, 1))
          .value();
  const std::string bytes = tree::EncodeTree(tree);
  ASSERT_TRUE(writer_->PutTree(bytes));
  ASSERT_TRUE(writer_->PutTree(bytes));
  EXPECT_EQ(Read().Trees().value(), (std::vector<std::string>{bytes, bytes}));
  EXPECT_EQ(VerifyFile(path_).value().trees, 2U);
}

TEST_F(WriterTest, ReadsBackATreeOfSeveralFrames) {
  std::string large(kTreePartBytes + 10, 'a');
  large.back() = 'b';
  ASSERT_TRUE(writer_->PutTree(large));
  ASSERT_TRUE(writer_->PutTree(""));
  ASSERT_TRUE(writer_->Close());
  const Recording recording = Recording::Open(path_).value();
  EXPECT_EQ(recording.Trees().value(), (std::vector<std::string>{large, ""}));
  EXPECT_FALSE(VerifyFile(path_).value().is_good()) << "they are no trees";
  // Simulates a crash between its frames.
  const auto end = recording.contents().frames[3].offset;
  const std::string file = ReadFile(path_, 128 * kMiB).value();
  EXPECT_TRUE(Recording::Over(std::string_view(file).substr(0, end)).value().Trees()->empty());
  const auto cut = dir_.path() / "cut.fct";
  ASSERT_TRUE(WriteFileAtomically(cut, std::string_view(file).substr(0, end), 0600));
  const auto to = dir_.path() / "to.fct";
  ASSERT_TRUE(Recover(cut, to));
  EXPECT_TRUE(VerifyFile(to).value().is_good());
  EXPECT_EQ(VerifyFile(to).value().frames.count("tree"), 0U);
}

TEST_F(WriterTest, AnEmptyRecordingIsAnsweredWithNothing) {
  const Recording recording = Read();
  EXPECT_FALSE(recording.Span());
  EXPECT_EQ(Self(recording, 0, {}), std::vector<std::uint64_t>(50));
  EXPECT_TRUE(SamplesIn(recording).empty());
}

TEST_F(WriterTest, TheFileIsItsUsersAlone) {
  struct stat info {};
  ASSERT_EQ(::stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600U);
}

TEST_F(WriterTest, OneThatIsThereIsReplacedAndStaysForItsReaders) {
  Append(1, 1, 10);
  const Recording old = Read();
  auto writer = Writer::Create(path_, dictionary_, {}).value();
  ASSERT_TRUE(writer.Close());
  EXPECT_EQ(Self(old, 0, {})[1], 10U);
  EXPECT_FALSE(Recording::Open(path_).value().Span());
}

TEST_F(WriterTest, OnlyARegularFileIsReplaced) {
  const auto link = dir_.path() / "link";
  std::filesystem::create_symlink(path_, link);
  for (const std::filesystem::path& other : {link, dir_.path()}) {
    EXPECT_EQ(Writer::Create(other, dictionary_, {}).error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_TRUE(std::filesystem::is_symlink(link));
}

TEST_F(WriterTest, RefusesInvalidDescriptions) {
  EXPECT_FALSE(writer_->AddMetric({.name = "metric0", .unit = tree::Unit::kCount}));
  EXPECT_FALSE(writer_->AddMetric({.name = "Upper", .unit = tree::Unit::kCount}));
  EXPECT_FALSE(writer_->AddStream({StreamKind::kSamples, "", {}}));
  EXPECT_FALSE(writer_->AddStream({StreamKind::kSamples, "", {1}}));
  EXPECT_FALSE(writer_->AddStream({StreamKind::kSamples, "", {0, 0}}));
  EXPECT_FALSE(writer_->AddStream({StreamKind{0}, "", {0}}));
  EXPECT_FALSE(writer_->AddStream({StreamKind::kSamples, "\n", {0}}));
  EXPECT_FALSE(writer_->SetCount("", 1));
  EXPECT_FALSE(writer_->BeginRun(1, "", std::string(kMaxHashBytes + 1, 'a')));
  EXPECT_EQ(Read().contents().descriptions.streams.size(), 1U);
}

TEST_F(WriterTest, LimitsAreKept) {
  while (metrics_.size() < tree::kMaxMetrics) {
    metrics_.push_back(writer_->AddMetric({.name = "m" + std::to_string(metrics_.size())}).value());
  }
  EXPECT_EQ(writer_->AddMetric({.name = "n"}).error().code, ErrorCode::kTooLarge);
  for (std::size_t i = 1; i < kMaxStreams; ++i) {
    ASSERT_TRUE(writer_->AddStream({StreamKind::kSnapshots, "", metrics_}));
  }
  EXPECT_EQ(writer_->AddStream({StreamKind::kWaits, "", metrics_}).error().code,
            ErrorCode::kTooLarge);
  for (std::size_t i = 0; i < kMaxCounts; ++i) {
    ASSERT_TRUE(writer_->SetCount("count " + std::to_string(i), i));
  }
  EXPECT_EQ(writer_->SetCount("one more", 1).error().code, ErrorCode::kTooLarge);
  for (std::size_t i = 0; i < kMaxRuns; ++i) ASSERT_TRUE(writer_->BeginRun(i, "", ""));
  EXPECT_EQ(writer_->BeginRun(0, "", "").error().code, ErrorCode::kTooLarge);
  const std::vector<std::uint64_t> values(tree::kMaxMetrics, UINT64_MAX / 2);
  ASSERT_TRUE(writer_->Append(StreamId(1), 1, tree::PathId(1), values));
  const Recording recording = Read();
  EXPECT_EQ(recording.contents().descriptions.runs.size(), kMaxRuns);
  EXPECT_EQ(Self(recording, tree::kMaxMetrics - 1, {}, StreamId(1))[1], UINT64_MAX / 2);
}

TEST(OpenTest, OtherFilesAreRefused) {
  const TempDir dir;
  const auto file = dir.path() / "a";
  EXPECT_EQ(Recording::Open(file).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(Recording::Open(dir.path()).error().code, ErrorCode::kInvalidArgument);
  std::ofstream(file) << "";
  EXPECT_EQ(Recording::Open(file).error().code, ErrorCode::kInvalidArgument);
  std::ofstream(file) << "something else";
  EXPECT_EQ(Recording::Open(file).error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(Recording::Open(file).error().message.find(file.string()), std::string::npos);
  std::string later = EncodeHeader({});
  later[8] = 3;
  const std::string body = later.substr(0, kHeaderBytes - 4);
  const std::uint32_t crc = Crc32c(body);
  EXPECT_EQ(DecodeHeader(body + std::string(reinterpret_cast<const char*>(&crc), 4)).error().code,
            ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace fieldcost::recording
