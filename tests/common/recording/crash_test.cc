#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <random>

#include "common/base/file.h"
#include "common/recording/recording_limits.h"
#include "common/recording/recover_recording.h"
#include "common/recording/verify_recording.h"
#include "tests/common/recording/samples.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::recording {
namespace {

using testing::TempDir;

constexpr std::size_t kPaths = 2'000;

// The same series in each process.
class Series {
 public:
  Series() { GrowTo(kPaths / 2, random_, dictionary_); }
  Sample Next() {
    if (++count_ == 5'000) GrowTo(kPaths, random_, dictionary_);
    time_ns_ += random_() % 2'000'000;
    return {time_ns_, SkewedPath(dictionary_.paths.size(), random_), {random_() % 1'000}};
  }
  const tree::Dictionary& dictionary() const { return dictionary_; }

 private:
  std::mt19937_64 random_{11};
  tree::Dictionary dictionary_;
  std::uint64_t time_ns_ = 0;
  std::uint64_t count_ = 0;
};

// Writes until it is killed, and reports how many samples have been flushed.
[[noreturn]] void WriteForEver(const std::filesystem::path& path, int report) {
  Series series;
  auto writer = Writer::Create(path, series.dictionary(), {}).value();
  const auto stream = writer.AddStream({StreamKind::kSamples, "", AddMetrics(1, writer)}).value();
  for (std::uint64_t count = 1;; ++count) {
    const Sample sample = series.Next();
    FIELDCOST_CHECK(
        writer.Append(stream, sample.time_ns, tree::PathId(sample.path), sample.values));
    if (count % 777 != 0) continue;
    FIELDCOST_CHECK(writer.Flush());
    FIELDCOST_CHECK(::write(report, &count, sizeof count) == sizeof count);
  }
}

void ExpectPrefixOfSeries(const std::filesystem::path& path, std::uint64_t at_least) {
  const auto recording = Recording::Open(path).value();
  const std::vector<Sample> read = SamplesIn(recording);
  ASSERT_GE(read.size(), at_least);
  Series series;
  std::vector<Sample> expected;
  for (const Sample& sample : read) {
    expected.push_back(series.Next());
    ASSERT_EQ(sample.time_ns, expected.back().time_ns);
    ASSERT_EQ(sample.path, expected.back().path);
    ASSERT_EQ(sample.values, expected.back().values);
  }
  EXPECT_EQ(Self(recording, 0, {}), Scan(expected, 0, {}, recording.dictionary().paths.size()));
}

TEST(CrashTest, ReadsFlushedSamplesAfterSigkill) {
  const TempDir dir;
  std::mt19937_64 random(12);
  for (int round = 0; round < 20; ++round) {
    const auto path = dir.path() / "a.fct";
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) WriteForEver(path, ends[1]);
    const UniqueFd reports(ends[0]);
    ::close(ends[1]);
    std::uint64_t flushed = 0;
    for (std::uint64_t i = random() % 100; i != UINT64_MAX; --i) {
      ASSERT_EQ(::read(reports.get(), &flushed, sizeof flushed), 8);
    }
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    while (::read(reports.get(), &flushed, sizeof flushed) == sizeof flushed) continue;

    const VerifyReport report = VerifyFile(path).value();
    EXPECT_FALSE(report.has_index);
    EXPECT_TRUE(report.problems.empty());
    EXPECT_EQ(report.bytes - report.stop.offset == 0, report.stop.reason.empty());
    ExpectPrefixOfSeries(path, flushed);

    const auto whole = dir.path() / "whole.fct";
    const RecoverReport recovered = Recover(path, whole).value();
    EXPECT_EQ(recovered.kept_samples, report.samples);
    EXPECT_TRUE(VerifyFile(whole).value().is_good());
    EXPECT_TRUE(Recording::Open(whole).value().contents().has_index);
    ExpectPrefixOfSeries(whole, flushed);
  }
}

// Runs in a process in which no file can exceed this size.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) {
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before_), 0);
    rlimit full = before_;
    full.rlim_cur = bytes;
    ::signal(SIGXFSZ, SIG_IGN);
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
  }
  ~SmallDisk() {
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before_), 0);
    ::signal(SIGXFSZ, SIG_DFL);
  }

 private:
  rlimit before_{};
};

TEST(FullDiskTest, IsAnErrorAndWhatWasFlushedStays) {
  const TempDir dir;
  for (const rlim_t bytes : {40'000, 54'321, 200'000}) {
    const auto path = dir.path() / "a.fct";
    std::uint64_t flushed = 0;
    Series series;
    auto writer = Writer::Create(path, series.dictionary(), {}).value();
    const auto stream = writer.AddStream({StreamKind::kSamples, "", AddMetrics(1, writer)}).value();
    {
      const SmallDisk disk(bytes);
      Status status;
      for (std::uint64_t count = 1; status && count < 100'000; ++count) {
        const Sample sample = series.Next();
        status = writer.Append(stream, sample.time_ns, tree::PathId(sample.path), sample.values);
        if (!status || count % 777 != 0) continue;
        status = writer.Flush();
        if (status) flushed = count;
      }
      ASSERT_FALSE(status);
      EXPECT_EQ(status.error().code, ErrorCode::kIo);
      EXPECT_NE(status.error().message.find(path.string()), std::string::npos);
      EXPECT_EQ(writer.Flush().error().message, status.error().message);
    }
    // There is space again, but nothing is written after a gap.
    const auto size = std::filesystem::file_size(path);
    EXPECT_FALSE(writer.SetCount("anything", 1) && writer.Flush());
    EXPECT_FALSE(writer.Close());
    EXPECT_EQ(std::filesystem::file_size(path), size);
    EXPECT_LE(size, bytes);
    const VerifyReport report = VerifyFile(path).value();
    EXPECT_TRUE(report.is_good());
    ASSERT_GT(flushed, 0U);
    EXPECT_EQ(report.samples, flushed);
    ExpectPrefixOfSeries(path, flushed);
  }
}

TEST(FullDiskTest, AFileThatCannotBeMadeIsAnError) {
  const TempDir dir;
  const tree::Dictionary dictionary;
  const SmallDisk disk(10);
  EXPECT_EQ(Writer::Create(dir.path() / "a.fct", dictionary, {}).error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace fieldcost::recording
