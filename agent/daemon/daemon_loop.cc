#include "agent/daemon/daemon_loop.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "agent/harvest/harvester.h"
#include "agent/policy/choose_weights.h"
#include "agent/refresh/automatic_refresh.h"
#include "agent/runs/policy_writer.h"
#include "agent/settings/consent.h"
#include "agent/settings/memory_dir.h"
#include "agent/settings/system_policy.h"
#include "common/base/log.h"
#include "common/base/text.h"
#include "common/systemd/notify.h"

namespace fieldcost::daemon {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr char kLockName[] = "daemon.lock";
// The event for the closing of a file (the end of its mapping) arrives a moment before its lock is
// released.
constexpr milliseconds kSettleTime{100};
constexpr seconds kQuickLook{1};
constexpr std::uint32_t kMaxQuickLooks = 3;
constexpr seconds kHarvestPeriod{60};
constexpr hours kPolicyPeriod{24};
constexpr hours kPolicyRetry{1};
// Minimum interval between uploads, even after failures.
constexpr minutes kUploadGap{1};
constexpr hours kLongestSleep{24};
constexpr hours kRefreshRetry{1};  // if the schedule cannot be stored
constexpr std::uint32_t kWatchedEvents =
    IN_CLOSE_WRITE | IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF;
constexpr std::uint32_t kGoneEvents = IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED;
constexpr std::uint32_t kSystemDirectoryEvents = IN_CLOSE_WRITE | IN_ATTRIB | IN_CREATE |
                                                 IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO |
                                                 IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
constexpr std::uint32_t kAncestorEvents = IN_CREATE | IN_MOVED_TO | IN_ONLYDIR;

volatile sig_atomic_t g_stop = 0;
volatile sig_atomic_t g_reload = 0;
volatile sig_atomic_t g_may_exit_at_once = 0;
pthread_t g_loop_thread;

void OnStop(int signal_number) {
  // A request is in progress: it is safe to exit at any instant, and the response may take a
  // minute.
  if (g_may_exit_at_once != 0) ::_exit(0);
  g_stop = 1;
  // A request leaves a thread of the resolver, which does not block this signal. Passes it on,
  // since the loop may be about to wait.
  if (::pthread_equal(::pthread_self(), g_loop_thread) == 0) {
    ::pthread_kill(g_loop_thread, signal_number);
  }
}
void OnReload(int) { g_reload = 1; }

sigset_t StopSignals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  ::sigaddset(&set, SIGINT);
  return set;
}

// While this exists, SIGTERM and SIGINT end the process at once, also during a request.
class MayExitAtOnce {
 public:
  MayExitAtOnce() {
    g_may_exit_at_once = 1;
    ::sigprocmask(SIG_UNBLOCK, &stop_, nullptr);
  }
  ~MayExitAtOnce() {
    ::sigprocmask(SIG_BLOCK, &stop_, nullptr);
    g_may_exit_at_once = 0;
  }
  MayExitAtOnce(const MayExitAtOnce&) = delete;
  MayExitAtOnce& operator=(const MayExitAtOnce&) = delete;

 private:
  const sigset_t stop_ = StopSignals();
};

// Our signals are delivered only inside ppoll; those that stop us, also during a request.
sigset_t BlockSignals() {
  g_loop_thread = ::pthread_self();
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

std::string WhyOff(const settings::AgentPaths& paths) {
  const Status permitted = settings::CheckPermitted(paths.system_file);
  return permitted ? "collection is off" : permitted.error().message;
}

Result<DaemonLoop> DaemonLoop::Start(const settings::AgentPaths& paths, const Clock& clock) {
  DaemonLoop loop(paths, clock);
  // Blocked before readiness is reported, so that a SIGHUP arriving then does not end the daemon.
  loop.while_waiting_ = BlockSignals();
  FIELDCOST_TRY(loop.Reload());
  const std::filesystem::path lock_file = paths.state_dir / kLockName;
  loop.lock_ = UniqueFd(::open(lock_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!loop.lock_.valid()) return ErrnoError("open", lock_file, errno);
  if (::flock(loop.lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return ErrnoError("lock", lock_file, errno);
    return Fail(ErrorCode::kAlreadyExists, "another fieldcostd of this user holds {}",
                lock_file.string());
  }
  loop.inotify_ = UniqueFd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!loop.inotify_.valid()) return ErrnoError("watch", paths.run_dir(), errno);
  FIELDCOST_TRY(loop.WatchRuns());
  loop.state_watch_ =
      ::inotify_add_watch(loop.inotify_.get(), paths.state_dir.c_str(), IN_MOVED_TO | IN_DELETE);
  if (loop.state_watch_ < 0) return ErrnoError("watch", paths.state_dir, errno);
  loop.timer_ = UniqueFd(::timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!loop.timer_.valid()) return ErrnoError("make a timer for", paths.state_dir, errno);
  loop.WatchSystemFile();
  return loop;
}

Status DaemonLoop::Reload() {
  FIELDCOST_ASSIGN(volunteer::Agent agent, volunteer::Agent::Open(paths_, *clock_));
  catalog_ns_ = policy::CatalogChangeNs(paths_.catalog_file);
  policy_at_ = Monotonic::now() + kPolicyPeriod;
  FIELDCOST_TRY(agent.WritePolicy({.documentation = true}));
  agent_.emplace(std::move(agent));
  return {};
}

Result<std::optional<std::string>> DaemonLoop::IsOver() {
  if (g_stop != 0) return std::optional<std::string>("stopped");
  const auto consent = settings::EffectiveConsent(paths_);
  if (consent && consent->mode != settings::Mode::kOff) return std::optional<std::string>();
  // Even if the settings cannot be read: programs must stop at once. An unreadable decision counts
  // as no consent.
  const Status told = runs::StopMeasuring(paths_, agent_->config());
  if (!told) LogError("cannot notify programs to stop measuring: {}", told.error().message);
  if (!consent) return consent.error();
  const Status removed = harvest::RemoveUnwantedRuns(paths_);
  if (!removed) LogError("{}", removed.error().message);
  return std::optional<std::string>(WhyOff(paths_));
}

Result<std::string> DaemonLoop::Run() {
  harvest_at_ = Monotonic::now();
  upload_ = true;
  bool is_ready = false;
  for (;;) {
    FIELDCOST_ASSIGN(const std::optional<std::string> over, IsOver());
    if (over) {
      systemd::NotifyStopping(*over);
      // The session or the machine may be about to end, and the run files with it.
      if (g_stop != 0) Harvest();
      return *over;
    }
    if (g_reload != 0 || reload_) {
      if (is_ready) systemd::NotifyReloading();
      is_ready = false;
      g_reload = 0;
      reload_ = false;
      WatchSystemFile();
      const Status status = Reload();
      if (!status) LogError("reload: {}; the old settings stay in force", status.error().message);
      const Status watched = WatchRuns();
      if (!watched) LogError("{}", watched.error().message);
      upload_ = true;
      plan_refresh_ = true;
    }
    RefreshPolicy();
    if (harvest_at_ && *harvest_at_ <= Monotonic::now()) Harvest();
    Upload();
    RefreshCatalogue();
    if (reload_) continue;
    if (!is_ready) systemd::NotifyReady("watching for run files");
    is_ready = true;
    FIELDCOST_TRY(ArmTimer());
    FIELDCOST_TRY(Wait());
  }
}

Status DaemonLoop::ArmTimer() {
  auto wait = std::chrono::duration_cast<std::chrono::microseconds>(kLongestSleep);
  const auto next = agent_->NextUpload();
  if (!next) LogError("{}", next.error().message);
  if (upload_ || (next && *next)) {
    const auto gap = std::chrono::duration_cast<std::chrono::microseconds>(upload_not_before_ -
                                                                           Monotonic::now());
    const auto until = upload_ ? gap : std::chrono::microseconds(**next - clock_->Now());
    wait = std::clamp(until, std::max(gap, std::chrono::microseconds(1)),
                      std::max<std::chrono::microseconds>(gap, kLongestSleep));
  }
  if (refresh_at_) {
    wait = std::clamp(std::chrono::microseconds(*refresh_at_ - clock_->Now()),
                      std::chrono::microseconds(1), wait);
  }
  for (;;) {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    const auto at = seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec) + wait;
    const auto whole = std::chrono::floor<seconds>(at);
    const itimerspec spec{
        .it_interval = {},
        .it_value = {.tv_sec = whole.count(), .tv_nsec = static_cast<long>((at - whole).count())}};
    // Setting the clock also wakes us.
    if (::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &spec,
                          nullptr) == 0) {
      return {};
    }
    // The clock was set after the timer was last armed.
    if (errno != ECANCELED) return ErrnoError("set a timer for", paths_.state_dir, errno);
    wait = std::chrono::microseconds(1);
  }
}

Status DaemonLoop::Wait() {
  timespec limit{};
  if (harvest_at_) {
    const std::chrono::nanoseconds wait =
        std::max<std::chrono::nanoseconds>(*harvest_at_ - Monotonic::now(), seconds(0));
    const auto whole = std::chrono::floor<seconds>(wait);
    limit = {.tv_sec = whole.count(), .tv_nsec = static_cast<long>((wait - whole).count())};
  }
  pollfd polled[2] = {{.fd = inotify_.get(), .events = POLLIN, .revents = 0},
                      {.fd = timer_.get(), .events = POLLIN, .revents = 0}};
  const int ready = ::ppoll(polled, 2, harvest_at_ ? &limit : nullptr, &while_waiting_);
  if (ready < 0 && errno != EINTR) return ErrnoError("wait for", paths_.run_dir(), errno);
  if (ready > 0 && polled[0].revents != 0) HandleEvents();
  if (ready > 0 && polled[1].revents != 0) {
    std::uint64_t expired = 0;
    // ECANCELED: the clock was set. Either way there may be something to do.
    [[maybe_unused]] const ssize_t got = ::read(timer_.get(), &expired, sizeof expired);
    upload_ = true;
    plan_refresh_ = true;
  }
  return {};
}

Status DaemonLoop::WatchRuns() {
  // Without a memory directory there are no new files; it is searched for again with the next
  // policy.
  if (!settings::FindMemoryDir(paths_)) return {};
  const int watch = ::inotify_add_watch(inotify_.get(), paths_.run_dir().c_str(), kWatchedEvents);
  if (watch < 0) return ErrnoError("watch", paths_.run_dir(), errno);
  if (watch == run_watch_) return {};
  if (run_watch_ >= 0) {
    ::inotify_rm_watch(inotify_.get(), run_watch_);
    LogWarning("{} was removed; recreated it", paths_.run_dir().string());
  }
  run_watch_ = watch;
  harvest_at_ = Monotonic::now();  // some may have appeared before the watch
  return {};
}

void DaemonLoop::WatchSystemFile() {
  std::filesystem::path directory = paths_.system_file.parent_path();
  std::uint32_t events = kSystemDirectoryEvents;
  std::error_code error;
  while (!std::filesystem::is_directory(directory, error) && directory.has_relative_path()) {
    directory = directory.parent_path();
    events = kAncestorEvents;
  }
  if (system_watch_ >= 0 && directory == watched_) return;
  if (system_watch_ >= 0) ::inotify_rm_watch(inotify_.get(), system_watch_);
  system_watch_ = ::inotify_add_watch(inotify_.get(), directory.c_str(), events);
  watched_ = std::move(directory);
}

void DaemonLoop::RefreshPolicy() {
  if (policy_at_ && *policy_at_ <= Monotonic::now()) {
    const Status status = Reload();  // the service's policy may have expired
    if (status) return;
    LogWarning("the settings are unchanged: {}", status.error().message);
    policy_at_ = Monotonic::now() + kPolicyRetry;
  }
  const std::int64_t catalog_ns = policy::CatalogChangeNs(paths_.catalog_file);
  if (catalog_ns == catalog_ns_) return;
  catalog_ns_ = catalog_ns;
  const Status status = agent_->WritePolicy();
  if (!status) LogWarning("the policy is unchanged: {}", status.error().message);
}

void DaemonLoop::MoveUp(Deadline& deadline, Monotonic::duration from_now) {
  const Monotonic::time_point time = Monotonic::now() + from_now;
  deadline = deadline ? std::min(*deadline, time) : time;
}

void DaemonLoop::HandleEvents() {
  alignas(inotify_event) char buffer[16 * 1024];
  const ssize_t got = ::read(inotify_.get(), buffer, sizeof buffer);
  const std::string consent_name = paths_.consent_file().filename().string();
  const std::string pause_name = paths_.pause_file().filename().string();
  const std::string refresh_name = paths_.refresh_file().filename().string();
  // The file itself, or the next directory on the path to it.
  const std::string system_name = paths_.system_file.lexically_relative(watched_).begin()->string();
  for (ssize_t at = 0; at + static_cast<ssize_t>(sizeof(inotify_event)) <= got;) {
    inotify_event event;
    std::memcpy(&event, buffer + at, sizeof event);
    const std::string_view name = event.len > 0 ? buffer + at + sizeof event : "";
    at += static_cast<ssize_t>(sizeof event + event.len);
    if (event.wd == state_watch_) {
      if (name == consent_name || name == pause_name) reload_ = true;
      if (name == refresh_name) plan_refresh_ = true;
    } else if (event.wd == system_watch_) {
      // Events of the watched directory itself have no name.
      if (name.empty() || name == system_name) reload_ = true;
      if ((event.mask & IN_IGNORED) != 0) system_watch_ = -1;
    } else if (event.wd == run_watch_ && (event.mask & kGoneEvents) != 0) {
      reload_ = true;  // creates it again and watches the new one
    } else if ((event.mask & IN_CREATE) != 0) {
      MoveUp(harvest_at_, kHarvestPeriod);
    } else if ((event.mask & kGoneEvents) == 0) {
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
    LogInfo("harvested {} of {}", Counted(report->calls, "call"),
            Counted(report->files_read, "run file"));
    upload_ = true;
  }
  if (report->files_left > 0) {
    MoveUp(harvest_at_, quick_looks_++ < kMaxQuickLooks ? kQuickLook : kHarvestPeriod);
  }
}

void DaemonLoop::Upload() {
  if (!upload_ || Monotonic::now() < upload_not_before_) return;
  upload_ = false;
  const auto consent = settings::EffectiveConsent(paths_);
  // So no signal arrives in the middle of a request, and the last harvest is made.
  if (!consent || consent->mode != settings::Mode::kOn) return;
  Result<upload::UploadReport> report = upload::UploadReport();
  Result<bool> has_new_policy = false;
  {
    const MayExitAtOnce may_exit;
    report = agent_->Upload(volunteer::UploadWish::kWhatIsDue);
    if (report && report->batches_sent > 0) has_new_policy = agent_->RefreshFieldPolicy();
  }
  upload_not_before_ = Monotonic::now() + kUploadGap;
  if (!report) {
    LogError("{}", report.error().message);
    return;
  }
  if (report->batches_sent > 0) {
    LogInfo("sent {} of {}", Counted(report->batches_sent, "batch", "batches"),
            Counted(report->rows_sent, "row"));
  }
  if (report->stopped_by) LogWarning("{}; trying again later", report->stopped_by->message);
  if (!has_new_policy) {
    LogWarning("the service's policy is not followed: {}", has_new_policy.error().message);
  } else if (*has_new_policy) {
    reload_ = true;
  }
}

// Reads the schedule only after something may have changed it, since that opens the catalogue.
void DaemonLoop::RefreshCatalogue() {
  if (plan_refresh_) {
    plan_refresh_ = false;
    const auto next = refresh::NextTime(paths_, agent_->config(), *clock_);
    if (!next) LogWarning("the catalogue is not refreshed: {}", next.error().message);
    refresh_at_ = next ? *next : clock_->Now() + kRefreshRetry;
  }
  if (!refresh_at_ || *refresh_at_ > clock_->Now()) return;
  Result<refresh::RefreshOutcome> outcome = refresh::RefreshOutcome();
  {
    const MayExitAtOnce may_exit;
    outcome = refresh::RefreshIfDue(paths_, agent_->config(), *clock_);
  }
  if (!outcome) {
    LogWarning("the catalogue is not refreshed: {}", outcome.error().message);
  } else if (outcome->report) {
    LogInfo("refreshed the catalogue: {} fetched",
            Counted(outcome->report->fragments_fetched, "fragment"));
  }
  const auto next = refresh::NextTime(paths_, agent_->config(), *clock_);
  refresh_at_ = next ? *next : clock_->Now() + kRefreshRetry;
  // Another process is fetching, or the outcome could not be stored.
  if (refresh_at_ && *refresh_at_ <= clock_->Now()) refresh_at_ = clock_->Now() + kRefreshRetry;
}

Result<std::string> RunOnce(volunteer::Agent& agent, volunteer::UploadWish wish) {
  FIELDCOST_TRY(agent.WritePolicy({.documentation = true}));
  FIELDCOST_ASSIGN(const harvest::HarvestReport harvest, agent.Harvest());
  FIELDCOST_ASSIGN(const upload::UploadReport upload, agent.Upload(wish));
  if (upload.batches_sent > 0) {
    const auto has_new_policy = agent.RefreshFieldPolicy();
    if (!has_new_policy) {
      LogWarning("the service's policy is not followed: {}", has_new_policy.error().message);
    } else if (*has_new_policy) {
      // So programs follow it from now on, not only after the next run.
      FIELDCOST_ASSIGN(volunteer::Agent renewed,
                       volunteer::Agent::Open(agent.paths(), SystemClock()));
      FIELDCOST_TRY(renewed.WritePolicy());
    }
  }
  const auto refreshed = refresh::RefreshIfDue(agent.paths(), agent.config(), SystemClock());
  if (!refreshed) LogWarning("the catalogue is not refreshed: {}", refreshed.error().message);
  if (upload.stopped_by) return *upload.stopped_by;
  return fmt::format(
      "harvested {} of {} ({} refused); sent {} ({}, {} rejected), {} refused, {} left",
      Counted(harvest.calls, "call"), Counted(harvest.files_read, "run file"),
      harvest.files_refused, Counted(upload.batches_sent, "batch", "batches"),
      Counted(upload.rows_sent, "row"), upload.rows_rejected, upload.batches_quarantined,
      upload.batches_left);
}

}  // namespace fieldcost::daemon
