// `fieldcost-aggregator bench`: measures an operator's disk and CPU.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "aggregator/bench/machine_bench.h"
#include "aggregator/operate/operate_commands.h"
#include "aggregator/operate/outcome.h"
#include "common/base/clock.h"
#include "common/base/json_writer.h"
#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/base/text.h"

namespace fieldcost::aggregator {
namespace {

constexpr int kStatusAfterSignal = 128;  // plus its number, as in shells
constexpr std::chrono::milliseconds kProgressInterval{100};

std::atomic<int> g_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);
void NoteSignal(int number) { g_signal = number; }

// During its lifetime, signals that usually end the program are noted instead.
class NotedSignals {
 public:
  NotedSignals() {
    struct sigaction note = {};
    note.sa_handler = NoteSignal;
    note.sa_flags = SA_RESTART;
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      ::sigaction(kSignals[i], &note, &before_[i]);
    }
  }
  ~NotedSignals() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      ::sigaction(kSignals[i], &before_[i], nullptr);
    }
  }
  NotedSignals(const NotedSignals&) = delete;
  NotedSignals& operator=(const NotedSignals&) = delete;

 private:
  static constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_ = {};
};

// Shows on a terminal how far each step is. Thread-safe.
class ProgressLine {
 public:
  void Show(std::string_view step, std::uint64_t done, std::uint64_t total) {
    if (!is_terminal_) return;
    const MutexLock lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + kProgressInterval;
    fmt::print(stderr, "\r\x1b[K{}: {}/{}", step, done, total);
    is_shown_ = true;
  }
  void Clear() {
    const MutexLock lock(mutex_);
    if (is_shown_) fmt::print(stderr, "\r\x1b[K");
    is_shown_ = false;
  }

 private:
  const bool is_terminal_ = ::isatty(STDERR_FILENO) == 1;
  Mutex mutex_;
  std::chrono::steady_clock::time_point next_ FIELDCOST_GUARDED_BY(mutex_);
  bool is_shown_ FIELDCOST_GUARDED_BY(mutex_) = false;
};

void AddQuantiles(std::string_view name, const bench::Quantiles& times, JsonWriter& json) {
  json.Key(name)
      .Object()
      .Member("p50_ms", times.p50_ms)
      .Member("p99_ms", times.p99_ms)
      .Member("p999_ms", times.p999_ms)
      .EndObject();
}

std::string JsonOf(const bench::MachineReport& report, const bench::Verdict& verdict) {
  const bench::IngestRate& ingest = report.ingest;
  JsonWriter json;
  json.Object().Member("durable", verdict.is_durable);
  AddQuantiles("fsync", report.fsync, json);
  AddQuantiles("fdatasync", report.fdatasync, json);
  json.Member("write_mib_per_second", report.write_mib_per_second)
      .Key("ingest")
      .Object()
      .Member("batches", ingest.batches)
      .Member("bucket_adds", ingest.bucket_adds)
      .Member("seconds", ingest.seconds)
      .Member("cpu_seconds", ingest.cpu_seconds)
      .Member("batches_per_second", ingest.batches_per_second())
      .Member("bucket_adds_per_second", ingest.bucket_adds_per_second())
      .EndObject()
      .Member("offered_batches_per_second", ingest.offered_per_second)
      .Member("acknowledged", ingest.acknowledged);
  AddQuantiles("ack", ingest.ack, json);
  json.Member("agents_per_hour", verdict.agents_per_hour)
      .Member("limit", verdict.is_limited_by_cpu ? "cpu" : "disk")
      .Key("verdict")
      .Array();
  for (const std::string& sentence : verdict.sentences) json.Text(sentence);
  json.EndArray().EndObject();
  return json.Take();
}

Result<int> Bench(const command::Arguments& arguments) {
  const bench::MachineOptions defaults;
  const bench::MachineOptions options{
      .directory = arguments.Text("directory"),
      .syncs = arguments.Number("--syncs").value_or(defaults.syncs),
      .write_mib = arguments.Number("--write-mib").value_or(defaults.write_mib),
      .agents = arguments.Number("--agents").value_or(defaults.agents)};
  SetLogLevel(LogLevel::kError);  // the store's messages would be mixed with the progress
  const NotedSignals signals;
  ProgressLine line;
  const auto progress = [&line](std::string_view step, std::uint64_t done, std::uint64_t total) {
    line.Show(step, done, total);
    return g_signal == 0;
  };
  const Result<bench::MachineReport> report =
      bench::MeasureMachine(options, SystemClock(), progress);
  line.Clear();
  if (const int number = g_signal; number != 0 && !report) {
    PrintLines("fieldcost-aggregator: interrupted; the files are removed\n", stderr);
    return kStatusAfterSignal + number;
  }
  if (!report) return report.error();
  const bench::Verdict verdict = bench::Judge(*report);
  if (arguments.Has("--json")) {
    fmt::print("{}", JsonOf(*report, verdict));
    return 0;
  }
  for (const std::string& sentence : verdict.sentences) PrintLines(sentence + "\n");
  return 0;
}

}  // namespace

command::Command BenchCommand() {
  return {
      .name = "bench",
      .summary = "Measure this machine's disk and CPU, and how many agents they serve",
      .help =
          R"(Measures syncs of 128 KiB and sequential writing in a new directory below DIR, then adds synthetic
batches to a new store there on one core, as fast as possible and at half of that rate. Takes about
a minute and 1 GB, and removes its files, also when interrupted. DIR should be on the disk of the
data directory; nothing in it is changed. Needs no configuration. Next to a running server, both are
slower.

Connections and TLS are not part of the measurement, only of the verdict.

Exit status: 0 measured; 66 no such directory; 74 the disk failed or has too little room; 77 permission
denied; 130 interrupted.

Example:
  fieldcost-aggregator bench /srv/fieldcost)",
      .options = {{.names = "directory",
                   .value = "DIR",
                   .help = "A directory on the disk to measure",
                   .completes = command::Completes::kFiles,
                   .check = command::CheckNotEmpty,
                   .required = true},
                  {.names = "--syncs",
                   .value = "N",
                   .help = "How many syncs of each kind [1000]",
                   .check = command::CheckBetween(1, 1'000'000)},
                  {.names = "--write-mib",
                   .value = "N",
                   .help = "How much to write sequentially, in MiB [256]",
                   .check = command::CheckBetween(1, 1'000'000)},
                  {.names = "--agents",
                   .value = "N",
                   .help = "How many synthetic agents, with 8 batches each [250]",
                   .check = command::CheckBetween(1, 100'000)}},
      .handler = Bench,
      .without = {"--config", "--check-config"}};
}

}  // namespace fieldcost::aggregator
