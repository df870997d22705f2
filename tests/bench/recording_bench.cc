// The time store of common/recording: 10 M samples at 1 kHz, distributed over paths like real call
// paths (the i-th has about 1 / i of the first one's samples).
//   bench_recording FILE PATHS [SAMPLES]     creates FILE; prints a line per number: name value
// Values are CPU nanoseconds, except for bytes. The floor of a query is a plain scan over the same
// intervals of samples in memory, with 32-bit times and paths.

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "common/base/check.h"
#include "common/recording/recording.h"
#include "common/recording/recording_writer.h"

namespace {

using namespace fieldcost;

constexpr std::uint64_t kStepNs = 1'000'000;
constexpr int kQueries = 2'000;
constexpr int kScans = 20;

double Now() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

void Check(const Status& status) {
  if (!status) std::fprintf(stderr, "%s\n", status.error().message.c_str());
  FIELDCOST_CHECK(status.has_value());
}

void Print(const char* name, double value) { std::printf("%s %.2f\n", name, value); }

void PrintTimes(const std::string& name, std::vector<double> times) {
  std::sort(times.begin(), times.end());
  Print((name + "_p50").c_str(), times[times.size() / 2]);
  Print((name + "_p99").c_str(), times[times.size() * 99 / 100]);
}

void MakePaths(std::size_t paths, std::mt19937_64& random, tree::Dictionary& dictionary) {
  while (dictionary.paths.size() < paths) {
    tree::Frame frame{.module = "libbench.so"};
    frame.function =
        "function_" + std::to_string(random() % (paths / 4 + 1)) + "(int, char const*)";
    const auto id = dictionary.frames.Intern(frame).value();
    const tree::PathId parent(static_cast<std::uint32_t>(random() % dictionary.paths.size()));
    if (dictionary.paths.depth(parent) < 100) (void)dictionary.paths.Intern(parent, id).value();
  }
}

struct Samples {
  std::vector<std::uint32_t> paths;
  std::vector<std::uint32_t> steps;  // i-th time, in units of kStepNs / 16
};

Samples MakeSamples(std::size_t count, std::size_t paths, std::mt19937_64& random) {
  Samples samples;
  samples.paths.reserve(count);
  samples.steps.reserve(count);
  std::uint32_t step = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double uniform = static_cast<double>(random() >> 11) * 0x1p-53;
    const auto rank = static_cast<std::uint64_t>(std::pow(static_cast<double>(paths), uniform) - 1);
    samples.paths.push_back(static_cast<std::uint32_t>(rank * 2654435761 % paths));
    step += static_cast<std::uint32_t>(12 + random() % 9);
    samples.steps.push_back(step);
  }
  return samples;
}

std::uint64_t TimeOf(std::uint64_t step) { return step * (kStepNs / 16); }

// As in production: flushed once per second of the recording.
void Write(const std::filesystem::path& file, const tree::Dictionary& dictionary,
           const Samples& samples) {
  const double begin = Now();
  auto writer = recording::Writer::Create(file, dictionary, {}).value();
  const auto metric = writer.AddMetric({.name = "cpu", .per_sample = kStepNs}).value();
  const auto stream = writer.AddStream({recording::StreamKind::kSamples, "", {metric}}).value();
  const std::uint64_t value = kStepNs;
  for (std::size_t i = 0; i < samples.paths.size(); ++i) {
    Check(writer.Append(stream, TimeOf(samples.steps[i]), tree::PathId(samples.paths[i]),
                        std::span(&value, 1)));
  }
  Check(writer.Close());
  const auto count = static_cast<double>(samples.paths.size());
  Print("append", (Now() - begin) / count);
  Print("bytes", static_cast<double>(std::filesystem::file_size(file)) / count);
}

// Between 0.1 and 90 % of the span, log-uniform.
recording::Interval RandomInterval(std::uint64_t span_steps, std::mt19937_64& random) {
  std::uniform_real_distribution<double> exponent(std::log(0.001), std::log(0.9));
  const auto length =
      static_cast<std::uint64_t>(std::exp(exponent(random)) * static_cast<double>(span_steps));
  const std::uint64_t from = random() % (span_steps - length);
  return {.from_ns = TimeOf(from), .to_ns = TimeOf(from + length)};
}

void Scan(const Samples& samples, recording::Interval interval, std::vector<std::uint64_t>& out) {
  std::fill(out.begin(), out.end(), 0);
  const auto at = [&](std::uint64_t time_ns) {
    const auto step = static_cast<std::uint32_t>((time_ns + TimeOf(1) - 1) / TimeOf(1));
    return std::lower_bound(samples.steps.begin(), samples.steps.end(), step) -
           samples.steps.begin();
  };
  const auto end = at(interval.to_ns);
  for (auto i = at(interval.from_ns); i < end; ++i) {
    out[samples.paths[static_cast<std::size_t>(i)]] += kStepNs;
  }
}

void Query(const std::filesystem::path& file, const Samples& samples, std::mt19937_64& random) {
  double begin = Now();
  const auto recording = recording::Recording::Open(file).value();
  Print("open", Now() - begin);
  std::vector<std::uint64_t> self;
  std::vector<double> self_times;
  std::vector<double> inclusive_times;
  std::vector<double> scan_times;
  std::vector<std::uint64_t> scanned(recording.dictionary().paths.size());
  for (int i = -kQueries / 10; i < kQueries; ++i) {  // the first ones verify what they read
    const auto interval = RandomInterval(samples.steps.back(), random);
    begin = Now();
    Check(recording.SelfValues(recording::StreamId(0), 0, interval, self));
    const double middle = Now();
    if (i >= 0 && i < kScans) {
      Scan(samples, interval, scanned);
      FIELDCOST_CHECK(scanned == self);
      scan_times.push_back(Now() - middle);
    }
    const double sweep = Now();
    recording::AddUp(recording.dictionary().paths, self);
    if (i < 0) continue;
    self_times.push_back(middle - begin);
    inclusive_times.push_back(middle - begin + Now() - sweep);
  }
  PrintTimes("self", self_times);
  PrintTimes("inclusive", inclusive_times);
  PrintTimes("scan", scan_times);
  const std::uint64_t half = samples.steps.back() / 2;
  begin = Now();
  Scan(samples, {.from_ns = 0, .to_ns = TimeOf(half)}, scanned);
  Print("scan_of_half", Now() - begin);
  begin = Now();
  const auto bins =
      recording.Bins(recording::StreamId(0), 0, recording.Span().value(), 1'024).value();
  Print("bins", Now() - begin);
}

}  // namespace

int main(int argc, char** argv) {
  FIELDCOST_CHECK(argc >= 3);
  const auto paths = static_cast<std::size_t>(std::atoll(argv[2]));
  const auto count = static_cast<std::size_t>(argc > 3 ? std::atoll(argv[3]) : 10'000'000);
  std::mt19937_64 random(7);
  tree::Dictionary dictionary;
  MakePaths(paths, random, dictionary);
  const Samples samples = MakeSamples(count, dictionary.paths.size(), random);
  Write(argv[1], dictionary, samples);
  Query(argv[1], samples, random);
  return 0;
}
