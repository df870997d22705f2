#include "tools/cli/run/picked_run.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "agent/runs/skip_counts.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/shm/policy_file.h"
#include "tools/cli/run/pick.h"
#include "tools/cli/terminal/helper_program.h"

namespace fieldcost::cli {
namespace {

volatile pid_t waited_for = 0;

void PassOn(int number) {
  const int before = errno;
  if (waited_for > 0) ::kill(waited_for, number);
  errno = before;
}

// The number of runs counted under that reason.
std::uint64_t SkippedRuns(shm::Skip skip, const Measured& measured) {
  for (const runs::SkipCount& one : measured.skips) {
    if (one.skip == skip) return one.runs;
  }
  return 0;
}

// Whether any API that the name matches has more values than before.
bool IsMeasured(std::string_view name, const Measured& before, const Measured& after) {
  const Result<std::string> globs = PickGlobs(name);
  const auto is_meant = [&](const stats::ApiKey& api) {
    for (std::string_view rest = globs ? *globs : std::string_view(); !rest.empty();) {
      const std::string_view glob = rest.substr(0, rest.find(','));
      if (GlobMatch(glob, stats::DisplayName(api))) return true;
      rest.remove_prefix(std::min(glob.size() + 1, rest.size()));
    }
    return false;
  };
  return std::any_of(after.values.begin(), after.values.end(), [&](const auto& measured) {
    const auto old = before.values.find(measured.first);
    const std::uint64_t had = old == before.values.end() ? 0 : old->second;
    return measured.second > had && is_meant(measured.first);
  });
}

std::string WhatToDo(std::string_view name) {
  const std::size_t mark = name.find('!');
  if (mark == std::string_view::npos) {
    return "not called from the program or another library";
  }
  const std::string_view library = name.substr(0, mark);
  if (name.ends_with("!*")) {
    return "no calls into a library with this soname (readelf -d FILE), or file name if it has "
           "none";
  }
  return fmt::format(
      "not called from the program or another library. --pick '{}!*' measures every function "
      "called "
      "there",
      library);
}

// "; did you mean ...?" for a name without globs that is unknown; else "".
std::string Meant(std::string_view name, const AboutNames& about) {
  constexpr std::size_t kMostOffered = 3;
  const std::size_t mark = name.find('!');
  const std::string_view symbol = mark == std::string_view::npos ? name : name.substr(mark + 1);
  if (symbol.find_first_of("*?") != std::string_view::npos) return {};
  std::vector<std::string> near = about.suggest(symbol);
  const auto is_this = [&](std::string_view other) {
    return other == symbol ||
           (other.ends_with(symbol) && other.find('!') != std::string_view::npos &&
            other.substr(other.find('!') + 1) == symbol);
  };
  if (near.empty() || std::ranges::any_of(near, is_this)) return {};
  return fmt::format("; did you mean {}?", ListText(near, kMostOffered));
}

// The reason why nothing was measured for one name.
std::string WhyUnmeasured(std::string_view name, const AboutNames& about) {
  if (const Result<std::string> globs = PickGlobs(name)) {
    if (std::string why = about.why(*globs); !why.empty()) return EscapeControl(why);
  }
  return WhatToDo(name) + Meant(name, about);
}

}  // namespace

Result<Measured> CollectMeasured(const settings::AgentPaths& paths) {
  FIELDCOST_ASSIGN(volunteer::Agent agent, volunteer::Agent::Open(paths, SystemClock()));
  FIELDCOST_TRY(agent.Harvest());
  FIELDCOST_ASSIGN(const std::vector<stats::StatRow> rows, agent.LocalRows());
  Measured measured;
  for (const stats::StatRow& row : rows) measured.values[row.key.api] += row.histogram.count();
  FIELDCOST_ASSIGN(volunteer::MeasuringStatus measuring, agent.GetMeasuring());
  measured.skips = std::move(measuring.skips);
  return measured;
}

Measured LookAtSkips(const settings::AgentPaths& paths) {
  return {.values = {}, .skips = runs::ReadSkips(paths.skip_file())};
}

std::string LeftAlone(const Measured& before, const Measured& after, bool picked) {
  for (const runs::SkipCount& skip : after.skips) {
    const bool is_of_chance =
        skip.skip == shm::Skip::kTooManyRunFiles || skip.skip == shm::Skip::kNothingToPick;
    // These reasons do not apply to requested runs, so other runs were skipped for them.
    if (skip.skip == shm::Skip::kSystemLoaded || skip.skip == shm::Skip::kNoLease) continue;
    if (skip.skip == shm::Skip::kPicksLeftOut) continue;  // it was measured
    if (picked && is_of_chance) continue;
    const auto old = std::find_if(before.skips.begin(), before.skips.end(),
                                  [&](const auto& one) { return one.skip == skip.skip; });
    if (old == before.skips.end() || old->runs < skip.runs) return skip.reason;
  }
  return {};
}

std::vector<std::string> UnmeasuredText(std::string_view pick, const Measured& before,
                                        const Measured& after, const AboutNames& about) {
  std::vector<std::string> lines;
  const std::string left_alone = LeftAlone(before, after, true);
  if (SkippedRuns(shm::Skip::kPicksLeftOut, after) >
      SkippedRuns(shm::Skip::kPicksLeftOut, before)) {
    lines.push_back(fmt::format(
        "more APIs match than a run measures: {} of them are measured, the others are not "
        "(use fieldcost measure for all)",
        shm::kMaxPicks));
  }
  for (;;) {
    const std::size_t end = pick.find(',');
    const std::string_view name = pick.substr(0, end);
    if (!IsMeasured(name, before, after)) {
      lines.push_back(fmt::format("nothing measured for '{}': {}", EscapeControl(name),
                                  left_alone.empty() ? WhyUnmeasured(name, about) : left_alone));
    }
    if (end == std::string_view::npos) return lines;
    pick.remove_prefix(end + 1);
  }
}

Result<Ended> RunAndWait(const std::function<int()>& execute,
                         const std::function<void(pid_t program)>& look) {
  // Signals that arrive before the child is known stay pending.
  sigset_t passed;
  sigset_t before;
  ::sigemptyset(&passed);
  ::sigaddset(&passed, SIGTERM);
  ::sigaddset(&passed, SIGHUP);
  ::sigprocmask(SIG_BLOCK, &passed, &before);
  const pid_t child = ::fork();
  if (child < 0) {
    const int why = errno;
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    return ErrnoError("start", "a process", why);
  }
  if (child == 0) {
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    ::_exit(execute());
  }

  waited_for = child;
  const IgnoreInterrupts terminal;
  ::signal(SIGPIPE, SIG_IGN);
  for (const int number : {SIGTERM, SIGHUP}) {
    struct sigaction action {};
    ::sigaction(number, nullptr, &action);
    if (action.sa_handler == SIG_IGN) continue;  // nohup
    action = {};
    action.sa_handler = PassOn;
    ::sigaction(number, &action, nullptr);
  }
  ::sigprocmask(SIG_SETMASK, &before, nullptr);

  const std::jthread looks([&](const std::stop_token& stop) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any stopped;
    do {
      look(child);
    } while (!stopped.wait_for(lock, stop, kLookEvery, [&] { return stop.stop_requested(); }));
  });
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return ErrnoError("wait for", "the program", errno);
  }
  waited_for = 0;
  if (WIFSIGNALED(status)) return Ended{.signal = WTERMSIG(status)};
  return Ended{.status = WEXITSTATUS(status)};
}

int EndLike(const Ended& ended) {
  if (ended.signal == 0) return ended.status;
  const rlimit no_core{};  // the program has dumped its own
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::signal(ended.signal, SIG_DFL);
  ::raise(ended.signal);
  return kSignalled + ended.signal;
}

}  // namespace fieldcost::cli
