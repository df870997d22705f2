#include "agent/daemon/daemon_loop.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "agent/daemon/policy_writer.h"
#include "agent/daemon/upload_policy.h"
#include "common/base/log.h"
#include "common/crypto/random.h"

namespace fieldcost::daemon {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kLockName[] = "daemon.lock";
// We are told that the file was closed, by the end of its mapping, a moment before its lock is
// gone.
constexpr milliseconds kSettleTime{100};
constexpr seconds kQuickLook{1};
constexpr std::uint32_t kMaxQuickLooks = 3;
constexpr seconds kHarvestPeriod{60};
constexpr hours kUploadPeriod{1};
constexpr hours kPolicyPeriod{24};
constexpr std::uint32_t kWatchedEvents = IN_CLOSE_WRITE | IN_CREATE | IN_MOVED_TO;

volatile sig_atomic_t g_stop = 0;
volatile sig_atomic_t g_reload = 0;
volatile sig_atomic_t g_may_exit_at_once = 0;

void OnStop(int) {
  // In the middle of a request: every instant is safe to die at, and the answer may take a minute.
  if (g_may_exit_at_once != 0) ::_exit(0);
  g_stop = 1;
}
void OnReload(int) { g_reload = 1; }

sigset_t StopSignals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  ::sigaddset(&set, SIGINT);
  return set;
}

// Our signals are delivered only inside ppoll and, those that stop us, during a request.
sigset_t BlockSignals() {
  struct sigaction action {};
  ::sigemptyset(&action.sa_mask);
  action.sa_handler = OnStop;
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
  action.sa_handler = OnReload;
  ::sigaction(SIGHUP, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  sigset_t blocked = StopSignals();
  ::sigaddset(&blocked, SIGHUP);
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &blocked, &before);
  ::sigdelset(&before, SIGTERM);
  ::sigdelset(&before, SIGINT);
  ::sigdelset(&before, SIGHUP);
  return before;
}

}  // namespace

Result<DaemonLoop> DaemonLoop::Start(const Profile& profile, const Clock& clock) {
  DaemonLoop loop(profile, clock);
  FIELDCOST_TRY(loop.Reload());
  const std::filesystem::path lock_file = profile.state_dir / kLockName;
  loop.lock_ = UniqueFd(::open(lock_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!loop.lock_.valid()) return ErrnoError("open", lock_file, errno);
  if (::flock(loop.lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return ErrnoError("lock", lock_file, errno);
    return Fail(ErrorCode::kAlreadyExists, "another fieldcostd of this user holds {}",
                lock_file.string());
  }
  loop.inotify_ = UniqueFd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!loop.inotify_.valid()) return ErrnoError("watch", profile.run_dir(), errno);
  if (::inotify_add_watch(loop.inotify_.get(), profile.run_dir().c_str(), kWatchedEvents) < 0) {
    return ErrnoError("watch", profile.run_dir(), errno);
  }
  loop.state_watch_ =
      ::inotify_add_watch(loop.inotify_.get(), profile.state_dir.c_str(), IN_MOVED_TO);
  if (loop.state_watch_ < 0) return ErrnoError("watch", profile.state_dir, errno);
  return loop;
}

Status DaemonLoop::Reload() {
  FIELDCOST_ASSIGN(Agent agent, Agent::Open(profile_, *clock_));
  catalog_ns_ = CatalogChangeNs(profile_.catalog_file);
  policy_at_ = Monotonic::now() + kPolicyPeriod;
  FIELDCOST_TRY(agent.WritePolicy(false));
  agent_.emplace(std::move(agent));
  return {};
}

Result<std::string> DaemonLoop::Run() {
  const sigset_t while_waiting = BlockSignals();
  harvest_at_ = upload_at_ = Monotonic::now();
  for (;;) {
    if (g_stop != 0) return std::string("stopped");
    if (g_reload != 0 || reload_) {
      g_reload = 0;
      reload_ = false;
      const Status status = Reload();
      if (status) {
        failed_uploads_ = 0;
        MoveUp(upload_at_, seconds(0));
      } else {
        LogError("reload: {}; the old settings stay", status.error().message);
      }
    }
    const auto consent = LoadConsent(profile_.consent_file());
    if (!consent) return consent.error();
    if (consent->mode == Mode::kOff) return std::string("collection is off");
    RefreshPolicy();
    const Monotonic::time_point now = Monotonic::now();
    if (harvest_at_ && *harvest_at_ <= now) Harvest();
    if (upload_at_ && *upload_at_ <= now) Upload();
    const Deadline next = std::min(harvest_at_.value_or(Monotonic::time_point::max()),
                                   upload_at_.value_or(Monotonic::time_point::max()));
    const auto wait = std::clamp(*next - Monotonic::now(), Monotonic::duration(0),
                                 Monotonic::duration(kUploadPeriod));
    const auto whole = std::chrono::floor<seconds>(wait);
    const timespec limit{
        .tv_sec = whole.count(),
        .tv_nsec = static_cast<long>(std::chrono::nanoseconds(wait - whole).count())};
    pollfd polled{.fd = inotify_.get(), .events = POLLIN, .revents = 0};
    const int ready = ::ppoll(&polled, 1, &limit, &while_waiting);
    if (ready < 0 && errno != EINTR) return ErrnoError("wait for", profile_.run_dir(), errno);
    if (ready > 0) HandleEvents();
  }
}

void DaemonLoop::RefreshPolicy() {
  const std::int64_t catalog_ns = CatalogChangeNs(profile_.catalog_file);
  if (Monotonic::now() < policy_at_ && catalog_ns == catalog_ns_) return;
  catalog_ns_ = catalog_ns;
  policy_at_ = Monotonic::now() + kPolicyPeriod;
  const Status status = agent_->WritePolicy(false);
  if (status) return;
  LogWarning("the policy stays as it is: {}", status.error().message);
  policy_at_ = Monotonic::now() + kUploadPeriod;
}

void DaemonLoop::MoveUp(Deadline& deadline, Monotonic::duration from_now) {
  const Monotonic::time_point time = Monotonic::now() + from_now;
  deadline = deadline ? std::min(*deadline, time) : time;
}

void DaemonLoop::HandleEvents() {
  alignas(inotify_event) char buffer[16 * 1024];
  const ssize_t got = ::read(inotify_.get(), buffer, sizeof buffer);
  const std::string consent_name = profile_.consent_file().filename().string();
  for (ssize_t at = 0; at + static_cast<ssize_t>(sizeof(inotify_event)) <= got;) {
    inotify_event event;
    std::memcpy(&event, buffer + at, sizeof event);
    const char* name = event.len > 0 ? buffer + at + sizeof event : "";
    at += static_cast<ssize_t>(sizeof event + event.len);
    if (event.wd == state_watch_) {
      if (name == consent_name) reload_ = true;
      continue;
    }
    if ((event.mask & IN_CREATE) != 0) {
      MoveUp(harvest_at_, kHarvestPeriod);
    } else {
      quick_looks_ = 0;
      MoveUp(harvest_at_, kSettleTime);
    }
  }
}

void DaemonLoop::Harvest() {
  harvest_at_.reset();
  const auto report = agent_->Harvest();
  if (!report) {
    LogError("{}", report.error().message);
    MoveUp(harvest_at_, kHarvestPeriod);
    return;
  }
  if (report->calls > 0) {
    LogInfo("harvested {} calls of {} run files", report->calls, report->files_read);
    if (failed_uploads_ == 0) MoveUp(upload_at_, seconds(0));
  }
  if (report->files_left > 0) {
    MoveUp(harvest_at_, quick_looks_++ < kMaxQuickLooks ? kQuickLook : kHarvestPeriod);
  }
}

void DaemonLoop::Upload() {
  const sigset_t stop = StopSignals();
  g_may_exit_at_once = 1;
  ::sigprocmask(SIG_UNBLOCK, &stop, nullptr);
  const auto report = agent_->Upload(false);
  ::sigprocmask(SIG_BLOCK, &stop, nullptr);
  g_may_exit_at_once = 0;
  std::optional<Error> failure;
  std::optional<seconds> retry_after;
  if (!report) {
    failure = report.error();
  } else {
    failure = report->stopped_by;
    retry_after = report->retry_after;
    if (report->batches_sent > 0) {
      LogInfo("sent {} batches of {} rows", report->batches_sent, report->rows_sent);
    }
  }
  if (!failure) {
    failed_uploads_ = 0;
    upload_at_ = Monotonic::now() + kUploadPeriod;
    return;
  }
  ++failed_uploads_;
  const milliseconds delay = RetryDelay(failed_uploads_, crypto::RandomUint64(), retry_after);
  LogWarning("{}; next try in {} s", failure->message, delay.count() / 1000);
  upload_at_ = Monotonic::now() + delay;
}

Result<std::string> RunOnce(Agent& agent, bool flush) {
  FIELDCOST_TRY(agent.WritePolicy(false));
  FIELDCOST_ASSIGN(const HarvestReport harvest, agent.Harvest());
  FIELDCOST_ASSIGN(const UploadReport upload, agent.Upload(flush));
  if (upload.stopped_by) return *upload.stopped_by;
  return fmt::format(
      "harvested {} calls of {} run files ({} refused); sent {} batches ({} rows, {} rejected), {} "
      "refused, {} left",
      harvest.calls, harvest.files_read, harvest.files_refused, upload.batches_sent,
      upload.rows_sent, upload.rows_rejected, upload.batches_quarantined, upload.batches_left);
}

}  // namespace fieldcost::daemon
