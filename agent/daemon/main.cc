// fieldcostd: collects the run files of measured programs, and sends sums if the user has opted in.
#include <cstdio>
#include <string>
#include <vector>

#include "agent/daemon/daemon_loop.h"
#include "agent/harvest/harvester.h"
#include "agent/policy/field_policy.h"
#include "agent/runs/policy_writer.h"
#include "agent/volunteer/agent.h"
#include "common/base/log.h"
#include "common/command/arguments.h"
#include "common/command/program.h"
#include "common/systemd/notify.h"

namespace {

namespace daemon = fieldcost::daemon;
namespace harvest = fieldcost::harvest;
namespace policy = fieldcost::policy;
namespace runs = fieldcost::runs;
namespace settings = fieldcost::settings;
namespace volunteer = fieldcost::volunteer;
namespace command = fieldcost::command;
using fieldcost::Result;
using fieldcost::Status;

void Say(const std::string& what) {
  std::printf("fieldcostd: %s\n", what.c_str());
  std::fflush(stdout);
}

// Programs may still be measuring although the administrator forbids it or the user's decision
// cannot be read. Stops them even if the settings are invalid.
Status TellProgramsToStop(const settings::AgentPaths& paths,
                          const Result<settings::Consent>& consent) {
  const auto config = policy::LoadConfigInForce(paths, fieldcost::SystemClock().Now());
  const Status told = runs::StopMeasuring(paths, config ? *config : settings::AgentConfig());
  FIELDCOST_TRY(consent);
  FIELDCOST_TRY(told);
  return harvest::RemoveUnwantedRuns(paths);
}

Result<int> RunDaemon(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const auto paths, settings::AgentPaths::FromEnvironment());
  if (fieldcost::systemd::LogsToJournal()) {
    fieldcost::SetLogFormat(fieldcost::LogFormat::kJournal);
  }
  const auto consent = settings::EffectiveConsent(paths);
  if (!consent || consent->mode == settings::Mode::kOff) {
    FIELDCOST_TRY(TellProgramsToStop(paths, consent));
    const std::string why = daemon::WhyOff(paths);
    fieldcost::systemd::NotifyReady(why);  // so that the service manager does not report a failure
    Say(why + "; nothing to do (`fieldcost agent on` opts in)");
    return 0;
  }
  FIELDCOST_ASSIGN(volunteer::Agent opened,
                   volunteer::Agent::Open(paths, fieldcost::SystemClock()));
  if (arguments.Has("--once")) {
    FIELDCOST_ASSIGN(
        const std::string done,
        daemon::RunOnce(opened, arguments.Has("--flush") ? volunteer::UploadWish::kEverythingNow
                                                         : volunteer::UploadWish::kWhatIsDue));
    Say(done);
    return 0;
  }
  FIELDCOST_ASSIGN(auto loop, daemon::DaemonLoop::Start(paths, fieldcost::SystemClock()));
  Say("watching " + paths.run_dir().string());
  FIELDCOST_ASSIGN(const std::string ended, loop.Run());
  Say(ended);
  return 0;
}

command::Command Program() {
  return {.name = "fieldcostd",
          .summary = "fieldcostd: one user's agent, which collects measurements",
          .help = R"(Collects what measured programs left in their run files and, if you opted in
(`fieldcost agent on`), sends the sums. In mode off it does nothing.

Examples:
  fieldcostd                  run until SIGTERM; SIGHUP reads the settings again
  fieldcostd --once           from a timer, instead of a daemon
  fieldcostd --once --flush   send everything now

Under systemd it tells when it is ready, and logs with levels. It ends when
collection is switched off, or forbidden by the machine's administrator in
/etc/fieldcost/system.toml. Files: $FIELDCOST_HOME, else the XDG base
directories; see `fieldcost agent status`. Exit status: 0, or as in sysexits(3);
the reason is one line on standard error.)",
          .options = {{.names = "--once", .help = "Collect and send what is due, then exit"},
                      {.names = "--flush",
                       .help = "Also send batches that are not full yet",
                       .needs = {"--once"}}},
          .handler = RunDaemon};
}

}  // namespace

int main(int argc, char** argv) {
  return command::RunProgram(Program(), FIELDCOST_VERSION,
                             std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
}
