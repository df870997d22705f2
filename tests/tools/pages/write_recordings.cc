// Writes recordings of call trees for the tests of pages: write_recordings FOLDER
//
//   a.fct             three runs with two metrics, and names that try to be markup
//   old.fct, new.fct  ten runs each; in the new build a function is slower, one is gone, one new
//   large.fct         one run with 100,000 paths in 200,000 samples
//   big.fct           sums beyond what a double holds exactly
//   threads.fct       three threads that share some paths
//   idle.fct          why two CPUs were idle

#include <algorithm>
#include <filesystem>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "common/base/check.h"
#include "common/recording/recording_writer.h"
#include "tests/common/idle/idle_recording.h"

namespace fieldcost {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::size_t kLargePaths = 100'000;
constexpr std::size_t kLargeSamples = 200'000;
constexpr std::uint64_t kLargeRunNs = 10'000 * kMs;

struct Weighted {
  std::string path;  // "main;z!deflate"
  std::uint64_t ns;  // per sample
};

tree::PathId Intern(const std::string& path, tree::Dictionary& dictionary) {
  tree::PathId at = tree::kRootPath;
  std::istringstream frames(path);
  for (std::string text; std::getline(frames, text, ';');) {
    const std::size_t mark = text.find('!');
    tree::Frame frame{.function = text};
    if (text.starts_with('[')) frame = tree::SpecialFrame(text);
    if (mark != std::string::npos) {
      frame = {.module = text.substr(0, mark), .function = text.substr(mark + 1)};
    }
    const auto id = dictionary.frames.Intern(frame);
    FIELDCOST_CHECK(id.has_value());
    at = dictionary.paths.Intern(at, *id).value();
  }
  return at;
}

// Writes a recording of consecutive runs, each with `samples` of the paths, in a pseudo-random
// sequence that is the same everywhere; the cost of samples varies by a tenth.
class Recorder {
 public:
  Recorder(const std::filesystem::path& file, std::vector<tree::Metric> metrics)
      : writer_(recording::Writer::Create(file, dictionary_, {}).value()) {
    recording::Stream stream{.name = "all"};
    for (const tree::Metric& metric : metrics) {
      stream.metrics.push_back(writer_.AddMetric(metric).value());
    }
    stream_ = writer_.AddStream(stream).value();
  }

  void AddRun(const std::vector<Weighted>& paths, std::size_t samples, std::uint64_t length_ns) {
    const auto run = writer_.BeginRun(now_ns_, "app", "").value();
    for (std::size_t i = 0; i < samples; ++i) {
      const std::uint64_t offset_ns = length_ns * i / samples;
      // Functions at the end of the list occur late.
      const std::size_t reach =
          std::max<std::size_t>(1, paths.size() * (i + samples / 2) / samples);
      const Weighted& chosen = paths[random_() % std::min(reach, paths.size())];
      const std::uint64_t ns = chosen.ns * (90 + random_() % 21) / 100;
      Append(now_ns_ + offset_ns, Intern(chosen.path, dictionary_), ns);
    }
    End(run, length_ns);
  }

  // Adds a run with this many paths, each sampled at least once.
  void AddLargeRun() {
    const auto run = writer_.BeginRun(0, "large", "").value();
    std::vector<tree::PathId> paths = {tree::kRootPath};
    while (paths.size() < kLargePaths) {
      const tree::Frame frame{.module = "lib" + std::to_string(random_() % 7),
                              .function = "function_" + std::to_string(random_() % 9'000)};
      // Parents near the beginning are more likely: some hundred paths are wide, most are narrow.
      const std::size_t at = (random_() % paths.size()) * (random_() % 1'000) / 1'000;
      const tree::PathId parent = paths[at];
      const auto id = dictionary_.frames.Intern(frame).value();
      if (dictionary_.paths.Find(parent, id)) continue;
      paths.push_back(dictionary_.paths.Intern(parent, id).value());
    }
    for (std::size_t i = 0; i < kLargeSamples; ++i) {
      const std::size_t path = i < paths.size() ? i : random_() % (1 + random_() % paths.size());
      Append(kLargeRunNs * i / kLargeSamples, paths[path], kMs);
    }
    End(run, kLargeRunNs);
  }

  void Append(std::uint64_t time_ns, tree::PathId path, std::uint64_t ns) {
    const std::vector<std::uint64_t> values = {ns, ns % 7};
    const std::size_t metrics = metrics_of_a_sample_;
    FIELDCOST_CHECK(
        writer_.Append(stream_, time_ns, path, std::span(values).first(metrics)).has_value());
  }
  void OneMetric() { metrics_of_a_sample_ = 1; }
  void Close() { FIELDCOST_CHECK(writer_.Close().has_value()); }

 private:
  void End(std::uint32_t run, std::uint64_t length_ns) {
    FIELDCOST_CHECK(writer_.EndRun(run, now_ns_ + length_ns, 0).has_value());
    now_ns_ += length_ns;
  }

  tree::Dictionary dictionary_;
  recording::Writer writer_;
  recording::StreamId stream_{0};
  std::mt19937 random_{20261123};
  std::uint64_t now_ns_ = 0;
  std::size_t metrics_of_a_sample_ = 2;
};

const std::vector<Weighted> kSmall = {
    {"main;read_input;libc!read", 2 * kMs},
    {"main;read_input", kMs},
    {"main;work;parse;libz!inflate", 3 * kMs},
    {"main;work;parse;libz!inflate;libz!crc32", 2 * kMs},
    {"main;work;parse", kMs},
    {"main;work;</script><script>document.title='evil'</script>", 2 * kMs},
    {"main;work;<!-- <script> & \"quoted\" \x1b[31m", kMs},
    {"main;work;compile;optimize;std::vector<int>::push_back(int&&)", 4 * kMs},
    {"main;work;compile;optimize", 5 * kMs},
    {"main;work;compile;emit", 2 * kMs},
    {"main;write_output;libc!write", 3 * kMs},
    {"main;write_output;libz!deflate", 6 * kMs},
    {"main;write_output;libz!deflate;libz!crc32", kMs},
    {"[kernel]", kMs}};

void WriteSmall(const std::filesystem::path& file) {
  Recorder recorder(
      file, {{.name = "wall", .per_sample = kMs}, {.name = "calls", .unit = tree::Unit::kCount}});
  for (const std::uint64_t seconds : {4U, 3U, 4U}) {
    recorder.AddRun(kSmall, 600 * seconds, 1'000 * kMs * seconds + 37);
  }
  recorder.Close();
}

// Ten runs; in the new build one path costs half as much again, one is gone, one is new.
void WriteBuild(const std::filesystem::path& file, bool is_new) {
  std::vector<Weighted> paths = kSmall;
  for (Weighted& one : paths) {
    if (is_new && one.path.ends_with("optimize")) one.ns = one.ns * 3 / 2;
  }
  paths.push_back({is_new ? "main;work;cache_lookup" : "main;work;linear_search", 3 * kMs});
  Recorder recorder(file, {{.name = "wall", .per_sample = kMs}});
  recorder.OneMetric();
  for (int run = 0; run < 10; ++run) recorder.AddRun(paths, 1'500, 2'000 * kMs);
  recorder.Close();
}

void WriteBig(const std::filesystem::path& file) {
  Recorder recorder(file, {{.name = "allocated", .unit = tree::Unit::kBytes}});
  recorder.OneMetric();
  recorder.AddRun({{"main;a", 50'000'000'000'000'003}, {"main;b", 90'000'000'000'000'001}}, 90,
                  kMs);
  recorder.Close();
}

void WriteLarge(const std::filesystem::path& file) {
  Recorder recorder(file, {{.name = "cpu", .per_sample = kMs}});
  recorder.OneMetric();
  recorder.AddLargeRun();
  recorder.Close();
}

void WriteThreads(const std::filesystem::path& file) {
  tree::Dictionary dictionary;
  auto writer = recording::Writer::Create(file, dictionary, {}).value();
  const std::vector<std::uint16_t> metrics = {
      writer.AddMetric({.name = "wall", .per_sample = kMs}).value(),
      writer.AddMetric({.name = "calls", .unit = tree::Unit::kCount}).value()};
  const auto stream = writer.AddStream({.name = "all", .metrics = metrics}).value();
  const auto run = writer.BeginRun(0, "app", "").value();
  std::vector<recording::ThreadId> threads;
  for (const std::uint32_t tid : {7U, 8U, 9U}) {
    threads.push_back(
        writer
            .AddThread(
                {.pid = 7, .tid = tid, .process = "app", .name = tid == 7 ? "app" : "io <b>"})
            .value());
  }
  std::mt19937 random(20261126);
  for (std::uint64_t i = 0; i < 3'000; ++i) {
    const Weighted& chosen = kSmall[random() % kSmall.size()];
    const std::vector<std::uint64_t> values = {chosen.ns, i % 3};
    FIELDCOST_CHECK(writer
                        .Append(stream, i * kMs, Intern(chosen.path, dictionary), values,
                                threads[std::min<std::size_t>(2, random() % 4)])
                        .has_value());
  }
  FIELDCOST_CHECK(writer.EndRun(run, 3'000 * kMs, 0).has_value());
  FIELDCOST_CHECK(writer.Close().has_value());
}

// A lock that is held while its holder sleeps, requests, and idle time without a monitored cause.
void WriteIdle(const std::filesystem::path& file) {
  const std::string lock =
      "app!main;app!Queue::Take(</script><b>&);libc.so!pthread_mutex_lock;[lock]";
  const std::string hold = "app!main;app!Queue::Fill();libc.so!nanosleep;[sleep]";
  const std::string poll = "app!main;app!Serve();libc.so!poll;[events]";
  const std::string read =
      "app!main;app!std::unordered_map<std::string, std::vector<std::pair<int, int>>>::"
      "emplace_hint(std::filesystem::path const&, unsigned long);libc.so!read;[I/O]";
  testing::IdleRecorder recorder(file, {.mode = idle::Mode::kBpf,
                                        .tick_ns = 2'000'000,
                                        .why = "BPF is allowed, and the kernel has BTF <b>"});
  std::mt19937 random(20261123);
  recorder.BeginRun(0);
  for (std::uint64_t i = 0; i < 400; ++i) {
    const std::uint64_t at = i * 10 * kMs;
    const auto about = [&](std::uint64_t ns) { return ns * (50 + random() % 100) / 100; };
    recorder.Add({.cpu = 0,
                  .from_ns = at,
                  .to_ns = at + about(3 * kMs),
                  .to = poll,
                  .from = poll,
                  .waker = i % 2 == 0 ? "[other process]" : "app!main;app!Send()"});
    if (i % 100 < 60) {
      recorder.Add({.cpu = 1,
                    .from_ns = at,
                    .to_ns = at + about(5 * kMs),
                    .to = lock,
                    .from = hold,
                    .waker = "[interrupt]"});
    }
    if (i % 3 == 0) {
      recorder.Add({.cpu = 0,
                    .from_ns = at + 5 * kMs,
                    .to_ns = at + 5 * kMs + about(2 * kMs),
                    .to = read,
                    .from = i % 2 == 0 ? "[nobody]" : read,
                    .waker = "[kernel thread]"});
    } else if (i % 100 >= 60) {
      recorder.Add(
          {.cpu = 1, .from_ns = at, .to_ns = at + about(6 * kMs), .to = "[not monitored]"});
    }
  }
  recorder.AddStat(0, 4'000 * kMs, 1'330 * kMs);
  recorder.AddStat(1, 4'000 * kMs, 1'850 * kMs);
  recorder.EndRun(4'001 * kMs);
  recorder.Close();
}

}  // namespace
}  // namespace fieldcost

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path folder = argv[1];
  fieldcost::WriteSmall(folder / "a.fct");
  fieldcost::WriteBuild(folder / "old.fct", false);
  fieldcost::WriteBuild(folder / "new.fct", true);
  fieldcost::WriteBig(folder / "big.fct");
  fieldcost::WriteLarge(folder / "large.fct");
  fieldcost::WriteThreads(folder / "threads.fct");
  fieldcost::WriteIdle(folder / "idle.fct");
  return 0;
}
