#include "common/recording/threads.h"

#include <gtest/gtest.h>

#include "common/base/file.h"
#include "common/recording/recording_limits.h"
#include "common/recording/recover_recording.h"
#include "common/recording/verify_recording.h"
#include "tests/common/recording/samples.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::recording {
namespace {

using testing::TempDir;

TEST(ThreadsTest, ReadsWhatItWrites) {
  const std::vector<Thread> written = {{}, {1, 2, "make", "make"}, {}, {UINT32_MAX, 0, "", "x"}};
  const std::vector<std::uint32_t> all = {1, 2, 3};
  std::vector<Thread> read(1);
  ASSERT_TRUE(DecodeThreads(EncodeThreads(written, all), read));
  EXPECT_EQ(read, written);
  // A later entry replaces an earlier one.
  std::vector<Thread> renamed = written;
  renamed[1].name = "job";
  const std::vector<std::uint32_t> one = {1};
  ASSERT_TRUE(DecodeThreads(EncodeThreads(renamed, one), read));
  EXPECT_EQ(read, renamed);
  ASSERT_TRUE(DecodeThreads("", read));
  EXPECT_EQ(read, renamed);
}

TEST(ThreadsTest, RefusesWhatNoWriterMakes) {
  const std::string good("\x01\x01\x02\x01p\x01n", 7);
  std::vector<Thread> all(1);
  ASSERT_TRUE(DecodeThreads(good, all));
  for (std::size_t size = 1; size < good.size(); ++size) {
    std::vector<Thread> threads(1);
    EXPECT_EQ(DecodeThreads(good.substr(0, size), threads).error().code, ErrorCode::kCorrupt)
        << size;
  }
  for (const std::string_view bad : {
           std::string_view("\x00\x01\x02\x01p\x01n", 7),  // the first thread has no name
           std::string_view("\x03\x01\x02\x01p\x01n", 7),  // the one before is missing
           std::string_view("\x01\x80\x80\x80\x80\x10\x02\x01p\x01n", 11)  // a pid of 33 bits
           ,
           std::string_view("\x01\x01\x02\x01\nb\x01n", 8),  // not printable
       }) {
    std::vector<Thread> threads(1);
    EXPECT_EQ(DecodeThreads(bad, threads).error().code, ErrorCode::kCorrupt);
  }
}

TEST(ThreadsTest, NamesArePrintableAndShort) {
  const Thread thread = Printable({1, 2, "a\nb\x7f", std::string(kMaxNameBytes + 9, 'x')});
  EXPECT_EQ(thread.process, "a b ");
  EXPECT_EQ(thread.name, std::string(kMaxNameBytes, 'x'));
}

// Appends samples to a stream, in several orders of threads, and reads them back.
class ThreadSamplesTest : public ::testing::Test {
 protected:
  ThreadSamplesTest() : writer_(Writer::Create(path_, dictionary_, {}).value()) {
    std::mt19937_64 random(5);
    GrowTo(20, random, dictionary_);
    stream_ = writer_.AddStream({StreamKind::kSamples, "", AddMetrics(1, writer_)}).value();
  }

  void Append(std::uint64_t time_ns, ThreadId thread) {
    const std::uint64_t value = 1;
    ASSERT_TRUE(writer_.Append(stream_, time_ns, tree::PathId(3), {&value, 1}, thread));
  }

  std::vector<std::uint32_t> Threads(const Recording& recording) {
    std::vector<std::uint32_t> threads;
    EXPECT_TRUE(recording.ForEachThreadSample(stream_, {}, [&](auto, auto, ThreadId thread, auto) {
      threads.push_back(thread.value());
    }));
    return threads;
  }

  const TempDir dir_;
  const std::filesystem::path path_ = dir_.path() / "a.fct";
  tree::Dictionary dictionary_;
  Writer writer_;
  StreamId stream_;
};

TEST_F(ThreadSamplesTest, KeepsTheThreadOfEachSampleForAnyNumberSize) {
  std::vector<ThreadId> threads = {kNoThread};
  for (std::uint32_t i = 1; i < 70'000; ++i) {
    threads.push_back(writer_.AddThread({i, i, "p", "t"}).value());
  }
  std::vector<std::uint32_t> expected;
  std::uint64_t time_ns = 0;
  // Numbers stored in 0, 1, 2 and 4 bytes.
  for (const std::vector<std::uint32_t>& block : std::vector<std::vector<std::uint32_t>>{
           {7, 7, 7}, {9, 264, 12}, {9, 265, 300}, {1, 69'999, 0}, {69'999}}) {
    for (const std::uint32_t thread : block) {
      Append(++time_ns, threads[thread]);
      expected.push_back(thread);
    }
    ASSERT_TRUE(writer_.Flush());
  }
  ASSERT_TRUE(writer_.Close());
  EXPECT_EQ(Threads(Recording::Open(path_).value()), expected);
  EXPECT_TRUE(VerifyFile(path_).value().is_good());
}

TEST_F(ThreadSamplesTest, SortsThreadsWithTheirSamples) {
  const ThreadId one = writer_.AddThread({1, 1, "p", "one"}).value();
  const ThreadId two = writer_.AddThread({1, 2, "p", "two"}).value();
  Append(30, one);
  Append(10, two);
  Append(20, kNoThread);
  ASSERT_TRUE(writer_.Close());
  EXPECT_EQ(Threads(Recording::Open(path_).value()), (std::vector<std::uint32_t>{2, 0, 1}));
}

TEST_F(ThreadSamplesTest, ANameThatChangesIsThatOfEarlierSamplesToo) {
  const ThreadId one = writer_.AddThread({1, 1, "p", "p"}).value();
  Append(10, one);
  ASSERT_TRUE(writer_.Flush());
  writer_.SetThread(one, {1, 1, "p", "worker\n"});
  writer_.SetThread(one, {1, 1, "p", "worker "});
  Append(20, one);
  ASSERT_TRUE(writer_.Close());
  for (const Recording& recording :
       {Recording::Open(path_).value(), Recording::Of(ReadFile(path_, kMiB).value()).value()}) {
    EXPECT_EQ(recording.contents().descriptions.threads,
              (std::vector<Thread>{{}, {1, 1, "p", "worker "}}));
  }
  EXPECT_EQ(VerifyFile(path_).value().frames.at("threads"), 2U);
}

TEST_F(ThreadSamplesTest, RecoversThreadsWithTheirSamples) {
  const ThreadId one = writer_.AddThread({1, 1, "p", "one"}).value();
  Append(10, one);
  ASSERT_TRUE(writer_.Flush());
  const std::uint64_t end = writer_.size_bytes();
  Append(20, writer_.AddThread({1, 2, "p", "two"}).value());
  ASSERT_TRUE(writer_.Flush());
  const std::string file = ReadFile(path_, kMiB).value();
  // Complete frames up to the second block, which is truncated.
  ASSERT_TRUE(WriteFileAtomically(path_, file.substr(0, file.size() - 8), 0600));
  const auto recovered = dir_.path() / "b.fct";
  ASSERT_EQ(Recover(path_, recovered).value().kept_samples, 1U);
  const Recording recording = Recording::Open(recovered).value();
  EXPECT_EQ(recording.contents().descriptions.threads.size(), 3U);
  EXPECT_EQ(Threads(recording), (std::vector<std::uint32_t>{1}));
  ASSERT_TRUE(WriteFileAtomically(path_, file.substr(0, end), 0600));
  ASSERT_EQ(Recover(path_, recovered).value().kept_samples, 1U);
  EXPECT_EQ(Recording::Open(recovered).value().contents().descriptions.threads.size(), 2U);
}

TEST_F(ThreadSamplesTest, RefusesSamplesOfUnknownThreads) {
  Append(10, writer_.AddThread({1, 1, "p", "one"}).value());
  ASSERT_TRUE(writer_.Flush());
  const std::string file = ReadFile(path_, kMiB).value();
  std::string forged = file.substr(0, kHeaderBytes);
  const Recording recording = Recording::Over(file).value();
  std::uint32_t number = 0;
  for (std::uint32_t i = 0; i < recording.contents().frames.size(); ++i) {
    const FileFrame frame = recording.Frame(i).value();
    if (frame.type == FrameType::kThreads) continue;
    AppendFrame(frame.type, number++, frame.payload, forged);
  }
  const Recording without = Recording::Over(forged).value();
  const Status read = without.ForEachThreadSample(stream_, {}, [](auto, auto, auto, auto) {});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
  EXPECT_FALSE(Verify(forged).value().is_good());
}

TEST_F(ThreadSamplesTest, InMemoryItHasTheSameBytes) {
  Writer memory = Writer::InMemory(dictionary_, {});
  for (Writer* const writer : {&writer_, &memory}) {
    if (writer == &memory) {
      const auto metrics = AddMetrics(1, memory);
      ASSERT_TRUE(memory.AddStream({StreamKind::kSamples, "", metrics}));
    }
    const ThreadId one = writer->AddThread({1, 1, "p", "one"}).value();
    for (std::uint32_t i = 0; i < 20'000; ++i) {
      const std::uint64_t value = i;
      ASSERT_TRUE(
          writer->Append(stream_, value * 1'000'000, tree::PathId(i % 20), {&value, 1}, one));
    }
  }
  ASSERT_TRUE(writer_.Close());
  EXPECT_EQ(memory.TakeBytes().value(), ReadFile(path_, kMiB).value());
}

}  // namespace
}  // namespace fieldcost::recording
