// `fieldcost-probe collect`: Collect() of record_events.h.
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <memory>
#include <system_error>

#include "agent/probe/login.h"
#include "agent/probe/sender.h"
#include "agent/probe_recorder/event_collector.h"
#include "agent/probe_recorder/look_pace.h"
#include "agent/probe_recorder/record_events.h"
#include "common/base/log.h"
#include "common/base/text.h"

namespace fieldcost::probe {
namespace {

constexpr int kTryEveryMs = 30'000;  // if there are only batches to send

volatile sig_atomic_t g_stop = 0;
void OnStop(int) { g_stop = 1; }

// Delivers stop signals only while no work is in progress.
void HandleStops() {
  struct sigaction action {};
  ::sigemptyset(&action.sa_mask);
  action.sa_handler = OnStop;
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

// One collector per session that no other process holds.
class Sessions {
 public:
  Sessions(const settings::AgentPaths& paths, Spool& spool) : paths_(paths), spool_(spool) {}

  // Reads the rings of all sessions. Returns whether they must be read again.
  Result<bool> Look() {
    bool is_left = false;
    std::uint64_t written = 0;
    for (const std::filesystem::path& directory : SessionDirectories(paths_)) {
      auto found = held_.find(directory);
      if (found == held_.end()) {
        FIELDCOST_ASSIGN(std::optional<Session> session, Session::Take(directory));
        is_left = is_left || !session;
        if (!session) continue;  // its recorder collects it
        auto held = std::make_unique<Held>(Held{*std::move(session), nullptr});
        held->collector = std::make_unique<Collector>(paths_, held->session, spool_, namer_,
                                                      Collector::Options());
        found = held_.emplace(directory, std::move(held)).first;
      }
      const auto report = found->second->collector->Look(false);
      if (!report) {
        LogWarning("{}: {}", directory.string(), report.error().message);
        if (report.error().code != ErrorCode::kCorrupt &&
            report.error().code != ErrorCode::kNotFound) {
          return report.error();
        }
      }
      if (report && report->has_programs) {
        is_left = true;
        written = std::max(written, report->written);
        continue;
      }
      FIELDCOST_TRY(found->second->session.Remove());
      held_.erase(found);
    }
    pace_.After(written);
    return is_left;
  }
  std::chrono::milliseconds wait() const { return pace_.wait(); }

 private:
  struct Held {
    Session session;
    std::unique_ptr<Collector> collector;
  };
  const settings::AgentPaths& paths_;
  Spool& spool_;
  StackNamer namer_;
  LookPace pace_;
  std::map<std::filesystem::path, std::unique_ptr<Held>> held_;
};

struct Sent {
  std::uint64_t batches = 0;
  std::uint64_t refused = 0;
  std::uint64_t left = 0;
  std::string why;
};

// Withdrawn consent is not an error of the collection: queued batches are dropped.
Status Send(const settings::AgentPaths& paths, Spool& spool, const Clock& clock, bool now,
            Sent& sent) {
  FIELDCOST_ASSIGN(const Spool::Totals totals, spool.Count());
  sent.left = totals.queued;
  if (totals.queued == 0) return {};
  if (const Status may_send = CheckMaySendProbes(paths); !may_send) {
    if (may_send.error().code != ErrorCode::kPermissionDenied) return may_send.error();
    FIELDCOST_TRY(spool.DropOutgoing());
    sent.left = 0;
    sent.why = may_send.error().message;
    return {};
  }
  FIELDCOST_ASSIGN(const WallTime next, spool.NextTry());
  if (!now && next > clock.Now()) return {};
  auto report = SendQueued(paths, spool, clock);
  if (!report) {
    sent.why = report.error().message;
    return spool.NoteFailure(clock.Now(), {});
  }
  sent.batches += report->sent;
  sent.refused += report->refused;
  sent.left = report->left;
  sent.why = report->stopped_by ? report->stopped_by->message : "";
  return {};
}

}  // namespace

Result<std::string> Collect(const settings::AgentPaths& paths, const CollectOptions& options,
                            const Clock& clock) {
  HandleStops();
  FIELDCOST_TRY(MakeDirectories(paths.state_dir, 0700));
  FIELDCOST_ASSIGN(Spool spool, Spool::Open(SpoolFile(paths)));
  Sessions sessions(paths, spool);
  Sent sent;
  std::chrono::milliseconds until_send{0};
  for (;;) {
    FIELDCOST_ASSIGN(const bool is_left, sessions.Look());
    // Rings may have to be read far more often than batches are sent.
    until_send -= sessions.wait();
    if (!is_left || options.once || until_send <= std::chrono::milliseconds(0)) {
      until_send = LookPace::kMost;
      FIELDCOST_TRY(Send(paths, spool, clock, options.send_now, sent));
      FIELDCOST_TRY(spool.Trim());
    }
    if (!is_left && sent.left == 0) {
      std::error_code error;
      std::filesystem::remove(WorkFile(paths), error);
    }
    if (options.once || g_stop != 0 || (!is_left && sent.left == 0)) break;
    // Programs do not wake the reader of their rings, so it polls. A signal ends the wait.
    ::poll(nullptr, 0, is_left ? static_cast<int>(sessions.wait().count()) : kTryEveryMs);
  }
  std::string said =
      fmt::format("sent {}, {} refused, {} left", Counted(sent.batches, "batch", "batches"),
                  sent.refused, sent.left);
  if (sent.left != 0 && !sent.why.empty())
    return Fail(ErrorCode::kUnavailable, "{}; {}", said, sent.why);
  return said;
}

}  // namespace fieldcost::probe
