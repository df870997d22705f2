#include "agent/perf/name_frames.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "agent/perf/cut_counts.h"
#include "common/recording/recording.h"
#include "common/recording/recording_writer.h"
#include "common/tree/identity.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::perf {
namespace {

// No process has this number, so there is no perf map for it.
constexpr pid_t kNoProcess = 0x7fff'fff0;

class NameFramesTest : public ::testing::Test {
 protected:
  // A sample of CPU time on a stack, outermost function first.
  void Sample(const std::vector<tree::Frame>& stack) { stacks_.push_back(stack); }

  // Generated code, which is in no file; identified by its address.
  tree::Frame Generated(std::uint64_t address) {
    tree::Frame frame = tree::MakeFrame({.module = "[generated]", .offset = address});
    const tree::FrameId id = *dictionary_.frames.Intern(frame);
    places_.resize(std::max<std::size_t>(places_.size(), id.value() + 1));
    places_[id.value()] = {.module = {.kind = SampledModule::Kind::kGenerated, .pid = kNoProcess},
                           .address = address};
    return frame;
  }

  // The number of samples per stack after naming.
  NamedSamples Name(std::uint64_t cut) {
    auto writer = recording::Writer::Create(file_, dictionary_, {});
    EXPECT_TRUE(writer);
    const std::uint16_t metric = *writer->AddMetric({.name = "cpu", .per_sample = 1});
    const recording::StreamId stream = *writer->AddStream(
        {.kind = recording::StreamKind::kSamples, .name = kSamplesStream, .metrics = {metric}});
    const std::uint32_t run = *writer->BeginRun(0, "app", "");
    std::uint64_t time_ns = 0;
    for (const auto& stack : stacks_) {
      tree::PathId path = tree::kRootPath;
      for (const tree::Frame& frame : stack) {
        path = *dictionary_.paths.Intern(path, *dictionary_.frames.Intern(frame));
      }
      const std::uint64_t one = 1;
      EXPECT_TRUE(writer->Append(stream, ++time_ns, path, {&one, 1}));
    }
    EXPECT_TRUE(writer->SetCount(kCutSamples, cut));
    EXPECT_TRUE(writer->EndRun(run, time_ns + 1, 0));
    EXPECT_TRUE(writer->Close());
    const auto named = NameFrames(file_, places_);
    EXPECT_TRUE(named);
    Read();
    return *named;
  }

  std::map<std::string, int> samples_of_;  // by "outer;inner"
  std::uint64_t cut_ = 0;                  // as counted in the recording

 private:
  void Read() {
    const auto recording = recording::Recording::Open(file_);
    ASSERT_TRUE(recording);
    for (const recording::Count& count : recording->contents().descriptions.counts) {
      if (count.name == kCutSamples) cut_ = count.value;
    }
    const tree::Dictionary& dictionary = recording->dictionary();
    ASSERT_TRUE(recording->ForEachThreadSample(
        recording::StreamId{0}, {},
        [&](std::uint64_t, std::uint32_t path, recording::ThreadId,
            std::span<const std::uint64_t>) {
          std::string text;
          for (std::uint32_t at = path; at != 0; at = dictionary.paths.parents()[at]) {
            const tree::Frame& frame =
                dictionary.frames.frame(tree::FrameId{dictionary.paths.frames()[at]});
            text = frame.function + (text.empty() ? "" : ";" + text);
          }
          ++samples_of_[text];
        }));
  }

  testing::TempDir directory_;
  std::filesystem::path file_ = directory_.path() / "a.fct";
  tree::Dictionary dictionary_;
  std::vector<Place> places_;
  std::vector<std::vector<tree::Frame>> stacks_;
};

tree::Frame Function(const std::string& name) {
  return tree::MakeFrame({.module = "app", .symbol = name});
}
tree::Frame Cut() { return tree::SpecialFrame(tree::kCut); }

TEST_F(NameFramesTest, MakesOneFrameOfGeneratedCodeWithoutNames) {
  Sample({Function("main"), Generated(0x1000)});
  Sample({Function("main"), Generated(0x1010)});
  Sample({Function("main"), Generated(0x1020), Generated(0x1000), Generated(0x1010)});
  Sample({Function("main"), Generated(0x1000), Function("read")});
  Sample({Function("main")});
  const NamedSamples named = Name(0);
  EXPECT_EQ(samples_of_, (std::map<std::string, int>{
                             {"main;[generated]", 3}, {"main;[generated];read", 1}, {"main", 1}}));
  EXPECT_EQ(named.samples, 5u);
  EXPECT_EQ(named.generated, 3u);
  EXPECT_FALSE(named.has_unnamed_python);
}

TEST_F(NameFramesTest, TakesStacksOfGoAsWholeIfTheirOutermostFunctionHasNoCaller) {
  Sample({Cut(), Function("runtime.goexit.abi0"), Function("main.main"), Function("main.work")});
  Sample({Cut(), Function("runtime.goexit"), Function("main.main")});
  Sample({Cut(), Function("runtime.mstart.abi0"), Function("runtime.schedule")});
  Sample({Cut(), Function("runtime.mcall"), Function("runtime.schedule")});
  Sample({Cut(), Function("_rt0_amd64"), Function("runtime.rt0_go")});
  Sample({Cut(), Function("main.work")});                              // really truncated
  Sample({Cut(), Function("main.work"), Function("runtime.goexit")});  // not the outermost
  Sample({Function("main.main")});
  const NamedSamples named = Name(7);
  EXPECT_EQ(samples_of_, (std::map<std::string, int>{{"runtime.goexit.abi0;main.main;main.work", 1},
                                                     {"runtime.goexit;main.main", 1},
                                                     {"runtime.mstart.abi0;runtime.schedule", 1},
                                                     {"runtime.mcall;runtime.schedule", 1},
                                                     {"_rt0_amd64;runtime.rt0_go", 1},
                                                     {"[cut];main.work", 1},
                                                     {"[cut];main.work;runtime.goexit", 1},
                                                     {"main.main", 1}}));
  EXPECT_EQ(named.whole, 5u);
  EXPECT_EQ(cut_, 2u);
}

TEST_F(NameFramesTest, KnowsAnInterpreterOfPythonWhoseFunctionsHaveNoNames) {
  Sample({Function("main"), Function("_PyEval_EvalFrameDefault")});
  EXPECT_TRUE(Name(0).has_unnamed_python);
}

TEST_F(NameFramesTest, KnowsFunctionsOfPythonThatHaveNames) {
  Sample(
      {Function("main"), Function("_PyEval_EvalFrameDefault"), Function("py::work:/app/work.py")});
  EXPECT_FALSE(Name(0).has_unnamed_python);
}

}  // namespace
}  // namespace fieldcost::perf
