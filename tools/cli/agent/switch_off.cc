#include "tools/cli/agent/switch_off.h"

#include <unistd.h>

#include "agent/settings/consent.h"
#include "agent/upload/upload_lock.h"
#include "agent/volunteer/agent.h"
#include "common/base/clock.h"

namespace fieldcost::cli {

Status SwitchOff(const settings::AgentPaths& paths) {
  FIELDCOST_TRY(settings::WithdrawConsent(paths.consent_file(), SystemClock().Now()));
  auto agent = volunteer::Agent::Open(paths, SystemClock());
  const Status cleaned = agent ? agent->SetMode(settings::Mode::kOff) : Status(agent.error());
  if (cleaned) return {};
  ::unlink(paths.policy_file().c_str());  // without it no program measures
  const Status quiet = agent ? Status() : upload::UploadLock::WaitForOthers(paths);
  return Fail(cleaned.error().code, "fieldcost is off, but cleanup is incomplete: {}{}",
              cleaned.error().message, quiet ? "" : "; " + quiet.error().message);
}

}  // namespace fieldcost::cli
