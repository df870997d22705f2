#include "agent/sampler/trace.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <optional>

#include "agent/sampler/name_frames.h"
#include "agent/sampler/sample_writer.h"
#include "agent/sampler/sampler.h"
#include "agent/settings/scratch_directory.h"
#include "common/base/file.h"

namespace fieldcost::sampler {
namespace {

constexpr auto kLook = std::chrono::milliseconds(100);
constexpr auto kFlush = std::chrono::seconds(1);
constexpr int kSignalled = 128;  // as a shell shows it
constexpr int kCannotRun = 127;
constexpr std::size_t kMostCommandBytes = std::size_t{1} << 22;

volatile sig_atomic_t stopped_by = 0;
std::atomic<pid_t> running{0};

void OnSignal(int number) {
  stopped_by = number;
  if (const pid_t child = running.load(); child != 0) ::kill(child, number);
}

void HandleSignals() {
  struct sigaction action {};
  action.sa_handler = OnSignal;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(number, &action, nullptr);
}

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;
};

Result<Pipe> MakePipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return ErrnoError("make", "a pipe", errno);
  return Pipe{.read_end = UniqueFd(ends[0]), .write_end = UniqueFd(ends[1])};
}

// The events of one run, if any are recorded.
class EventRun {
 public:
  static Result<EventRun> Begin(EventWriter* writer) {
    EventRun run;
    run.writer_ = writer;
    if (writer == nullptr) return run;
    FIELDCOST_ASSIGN(const agent::AgentPaths paths, agent::AgentPaths::FromEnvironment());
    FIELDCOST_ASSIGN(agent::ScratchDirectory directory,
                     agent::ScratchDirectory::Make(paths, "trace"));
    run.directory_.emplace(std::move(directory));
    FIELDCOST_ASSIGN(run.variables_, writer->BeginRun(run.directory_->path()));
    return run;
  }
  const trace::Variables& variables() const { return variables_; }
  Status Look() { return writer_ == nullptr ? Status() : writer_->LookIfDue(); }
  Status End() { return writer_ == nullptr ? Status() : writer_->EndRun(); }

 private:
  EventRun() = default;

  EventWriter* writer_ = nullptr;
  std::optional<agent::ScratchDirectory> directory_;
  trace::Variables variables_;
};

// A child that waits for `go` to be closed, and then is the command; if it cannot be, its errno is
// in `why`.
Result<pid_t> Prepare(const TraceOptions& options, const trace::Variables& variables, Pipe& go,
                      Pipe& why) {
  std::vector<char*> raw;
  for (const std::string& word : options.command) raw.push_back(const_cast<char*>(word.c_str()));
  raw.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) return ErrnoError("start", options.command[0], errno);
  if (child != 0) {
    go.read_end.Reset();
    why.write_end.Reset();
    return child;
  }
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::signal(number, SIG_DFL);
  go.write_end.Reset();
  for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  char byte = 0;
  while (::read(go.read_end.get(), &byte, 1) < 0 && errno == EINTR) {
  }
  ::execvp(raw[0], raw.data());
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(why.write_end.get(), &error, sizeof error);
  ::_exit(kCannotRun);
}

using Time = std::chrono::steady_clock::time_point;

// While it lives this thread goes before others, if it may: what lies behind the copy of a stack is
// to be read before it changes. Programs that are started do not inherit it.
class Urgent {
 public:
  Urgent() : before_(::getpriority(PRIO_PROCESS, 0)) { ::setpriority(PRIO_PROCESS, 0, kUrgent); }
  ~Urgent() { ::setpriority(PRIO_PROCESS, 0, before_); }
  Urgent(const Urgent&) = delete;
  Urgent& operator=(const Urgent&) = delete;

 private:
  static constexpr int kUrgent = -10;
  int before_;
};

// Until the sampler ends; with an end, until then, or a signal.
Status Watch(Sampler& sampler, SampleWriter& writer, EventRun& events, const Status& taken,
             std::optional<Time> end = std::nullopt) {
  const Urgent urgent;
  Time flushed = std::chrono::steady_clock::now();
  for (;;) {
    FIELDCOST_ASSIGN(const bool some_left, sampler.Wait(kLook));
    FIELDCOST_TRY(taken);
    if (!some_left) return {};
    FIELDCOST_TRY(events.Look());
    const Time now = std::chrono::steady_clock::now();
    if (end && (now >= *end || stopped_by != 0)) {
      sampler.Finish();
      return taken;
    }
    if (now - flushed < kFlush) continue;
    FIELDCOST_TRY(writer.Flush());
    flushed = now;
  }
}

void CountCut(const Sample& sample, TraceResult& result) {
  const bool is_whole = sample.end == unwind::StackEnd::kOutermost;
  if (sample.kind == Sample::Kind::kCpu && !is_whole) ++result.cut;
}

int WaitFor(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? kSignalled + WTERMSIG(status) : WEXITSTATUS(status);
}

// Until the child ends, of which there are events alone.
Status Follow(pid_t child, SampleWriter& writer, EventRun& events) {
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  if (!process.valid()) return ErrnoError("follow process", std::to_string(child), errno);
  pollfd waiting{.fd = process.get(), .events = POLLIN, .revents = 0};
  for (;;) {
    const int ready = ::poll(&waiting, 1, static_cast<int>(kLook.count()));
    if (ready < 0 && errno != EINTR)
      return ErrnoError("follow process", std::to_string(child), errno);
    if (ready > 0) return {};
    FIELDCOST_TRY(events.Look());
    FIELDCOST_TRY(writer.Flush());
  }
}

// Without samples events are still worth a recording.
bool CanDoWithout(const Error& error) {
  return error.code == ErrorCode::kPermissionDenied || error.code == ErrorCode::kUnsupported;
}

// The status of one run.
Result<int> RunOnce(const TraceOptions& options, SampleWriter& writer, EventWriter* event_writer,
                    TraceResult& result) {
  FIELDCOST_ASSIGN(EventRun events, EventRun::Begin(event_writer));
  FIELDCOST_ASSIGN(Pipe go, MakePipe());
  FIELDCOST_ASSIGN(Pipe why, MakePipe());
  FIELDCOST_ASSIGN(const pid_t child, Prepare(options, events.variables(), go, why));
  running = child;
  Status taken;
  std::unique_ptr<Sampler> sampler;
  const auto take = [&](const Sample& sample) {
    if (taken) taken = writer.Take(sample, sampler->modules());
    CountCut(sample, result);
  };
  auto made = Sampler::OfNextExec(
      child, {.period_ns = options.period_ns, .counters = options.counters}, take);
  Status done = made ? Status() : Status(made.error());
  if (!made && event_writer != nullptr && CanDoWithout(made.error())) {
    result.why_no_samples = made.error().message;
    done = {};
  }
  if (done) done = writer.BeginRun(fmt::format("{}", fmt::join(options.command, " ")));
  if (done) {
    if (made) sampler = *std::move(made);
    go.write_end.Reset();
    done = sampler ? Watch(*sampler, writer, events, taken) : Follow(child, writer, events);
  }
  if (!done) ::kill(child, SIGKILL);
  go.write_end.Reset();
  const int status = WaitFor(child);
  running = 0;
  FIELDCOST_TRY(done);
  int error = 0;
  if (::read(why.read_end.get(), &error, sizeof error) == sizeof error) {
    return ErrnoError("run", options.command[0], error);
  }
  const SamplerCounts counts = sampler ? sampler->counts() : SamplerCounts();
  result.samples += counts.samples;
  result.lost += counts.lost;
  FIELDCOST_TRY(events.End());
  FIELDCOST_TRY(writer.EndRun(status, counts));
  return status;
}

Status Close(const TraceOptions& options, SampleWriter& writer,
             const std::vector<std::string>& unmeasured, TraceResult& result) {
  FIELDCOST_TRY(writer.Close());
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  result.reader_ns = static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000 +
                     static_cast<std::uint64_t>(used.tv_nsec);
  return options.unnamed ? Status() : NameFrames(options.output, writer.places(), unmeasured);
}

// As one would type it; "" if that is not to be known.
std::string CommandOf(pid_t pid) {
  std::string text = ReadFile(fmt::format("/proc/{}/cmdline", pid), kMostCommandBytes).value_or("");
  while (text.ends_with('\0')) text.pop_back();
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

// A process that runs already; it is left as it is.
Result<TraceResult> TraceRunning(const TraceOptions& options) {
  HandleSignals();
  TraceResult result;
  Status taken;
  std::optional<SampleWriter> writer;
  std::unique_ptr<Sampler> sampler;
  const auto take = [&](const Sample& sample) {
    if (taken) taken = writer->Take(sample, sampler->modules());
    CountCut(sample, result);
  };
  // First: without it there is no recording, and one that is there stays.
  FIELDCOST_ASSIGN(
      sampler,
      Sampler::OfRunning(options.pid,
                         {.period_ns = options.period_ns, .counters = options.counters}, take));
  FIELDCOST_ASSIGN(writer,
                   SampleWriter::Create(options.output, options.period_ns, options.counters));
  FIELDCOST_TRY(writer->BeginRun(CommandOf(options.pid)));
  const Time end = options.for_ns == 0 ? Time::max()
                                       : std::chrono::steady_clock::now() +
                                             std::chrono::nanoseconds(options.for_ns);
  FIELDCOST_ASSIGN(EventRun no_events, EventRun::Begin(nullptr));
  FIELDCOST_TRY(Watch(*sampler, *writer, no_events, taken, end));
  result.samples = sampler->counts().samples;
  result.lost = sampler->counts().lost;
  result.runs = 1;
  FIELDCOST_TRY(writer->EndRun(0, sampler->counts()));
  FIELDCOST_TRY(Close(options, *writer, {}, result));
  return result;
}

}  // namespace

Result<TraceResult> Trace(const TraceOptions& options) {
  if (options.pid != 0) return TraceRunning(options);
  HandleSignals();
  FIELDCOST_ASSIGN(SampleWriter writer,
                   SampleWriter::Create(options.output, options.period_ns, options.counters));
  std::optional<EventWriter> events;
  if (options.events.any()) {
    FIELDCOST_ASSIGN(events, EventWriter::Make(options.events, writer));
  }
  EventWriter* const event_writer = events ? &*events : nullptr;
  TraceResult result;
  while (result.runs < options.runs && stopped_by == 0 && result.status == 0) {
    FIELDCOST_ASSIGN(result.status, RunOnce(options, writer, event_writer, result));
    ++result.runs;
  }
  auto unmeasured = events ? events->unmeasured() : std::vector<std::string>();
  if (!result.why_no_samples.empty()) {
    unmeasured.insert(unmeasured.end(), {SampleWriter::kCpu, SampleWriter::kOffCpu});
    for (const Counter counter : options.counters) unmeasured.emplace_back(Name(counter));
  }
  FIELDCOST_TRY(Close(options, writer, unmeasured, result));
  if (stopped_by != 0 && result.status == 0) result.status = kSignalled + stopped_by;
  return result;
}

}  // namespace fieldcost::sampler
