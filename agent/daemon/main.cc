// fieldcostd: collects what measured programs left, and sends it if the user has opted in.
#include <cstdio>
#include <string>
#include <string_view>

#include "agent/daemon/agent.h"
#include "agent/daemon/daemon_loop.h"
#include "agent/harvest/harvester.h"
#include "agent/policy/field_policy.h"
#include "agent/runs/policy_writer.h"
#include "common/base/error.h"
#include "common/base/log.h"
#include "common/systemd/notify.h"

namespace {

constexpr char kHelp[] =
    "Usage: fieldcostd [--once [--flush]]\n"
    "\n"
    "The per-user agent of fieldcost: collects what measured programs left in their\n"
    "run files and, if you opted in (`fieldcost agent on`), sends the sums. In mode\n"
    "off it does nothing.\n"
    "\n"
    "  --once     harvest and send what is due, then exit\n"
    "  --flush    with --once: also send batches that are not full yet\n"
    "  --help     this text\n"
    "  --version  the version\n"
    "\n"
    "Examples:\n"
    "  fieldcostd                  run until SIGTERM; SIGHUP reads the settings again\n"
    "  fieldcostd --once           from a timer, instead of a daemon\n"
    "  fieldcostd --once --flush   send everything now\n"
    "\n"
    "Under systemd it tells when it is ready, and logs with levels. It ends when\n"
    "collection is switched off, or forbidden by the machine's administrator in\n"
    "/etc/fieldcost/system.toml. Files: $FIELDCOST_HOME, else the XDG base\n"
    "directories; see `fieldcost agent status`. Exit status: 0, or as sysexits(3) has\n"
    "it; the reason is one line on standard error.\n";

int Failed(const fieldcost::Error& error) {
  std::fprintf(stderr, "fieldcostd: %s\n", error.message.c_str());
  return fieldcost::ExitStatus(error.code);
}

struct Options {
  bool once = false;
  bool flush = false;
};

int RunDaemon(const Options& options) {
  using fieldcost::agent::Agent;
  using fieldcost::agent::DaemonLoop;
  const auto paths = fieldcost::agent::AgentPaths::FromEnvironment();
  if (!paths) return Failed(paths.error());
  if (fieldcost::systemd::LogsToJournal()) {
    fieldcost::SetLogFormat(fieldcost::LogFormat::kJournal);
  }
  const auto consent = fieldcost::agent::EffectiveConsent(*paths);
  if (!consent || consent->mode == fieldcost::agent::Mode::kOff) {
    // Programs may not have been told yet: that the administrator forbids it, or that what was
    // decided cannot be read. Wrong settings do not keep us from it.
    const auto config = fieldcost::agent::LoadConfigInForce(*paths, fieldcost::SystemClock().Now());
    const auto told =
        fieldcost::agent::StopMeasuring(*paths, config ? *config : fieldcost::agent::AgentConfig());
    if (!consent) return Failed(consent.error());
    if (!told) return Failed(told.error());
    const auto removed = fieldcost::agent::RemoveUnwantedRuns(*paths);
    if (!removed) return Failed(removed.error());
    const std::string why = fieldcost::agent::WhyOff(*paths);
    fieldcost::systemd::NotifyReady(why);  // so that the service manager takes it for no failure
    std::printf("fieldcostd: %s; nothing to do (`fieldcost agent on` opts in)\n", why.c_str());
    return 0;
  }
  auto agent = Agent::Open(*paths, fieldcost::SystemClock());
  if (!agent) return Failed(agent.error());
  if (options.once) {
    const auto done = fieldcost::agent::RunOnce(
        *agent, options.flush ? fieldcost::agent::UploadWish::kEverythingNow
                              : fieldcost::agent::UploadWish::kWhatIsDue);
    if (!done) return Failed(done.error());
    std::printf("fieldcostd: %s\n", done->c_str());
    return 0;
  }
  auto loop = DaemonLoop::Start(*paths, fieldcost::SystemClock());
  if (!loop) return Failed(loop.error());
  std::printf("fieldcostd: watching %s\n", paths->run_dir().c_str());
  std::fflush(stdout);
  const auto ended = loop->Run();
  if (!ended) return Failed(ended.error());
  std::printf("fieldcostd: %s\n", ended->c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--help" || argument == "-h") {
      std::fputs(kHelp, stdout);
      return 0;
    }
    if (argument == "--version") {
      std::puts("fieldcostd " FIELDCOST_VERSION);
      return 0;
    }
    if (argument == "--once") {
      options.once = true;
    } else if (argument == "--flush") {
      options.flush = true;
    } else {
      std::fprintf(stderr, "fieldcostd: unknown argument \"%s\"; try --help\n", argv[i]);
      return fieldcost::ExitStatus(fieldcost::ErrorCode::kInvalidArgument);
    }
  }
  if (options.flush && !options.once) {
    std::fputs("fieldcostd: --flush needs --once\n", stderr);
    return fieldcost::ExitStatus(fieldcost::ErrorCode::kInvalidArgument);
  }
  return RunDaemon(options);
}
