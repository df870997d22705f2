#pragma once

#include <filesystem>
#include <string_view>

#include "agent/settings/paths.h"
#include "common/base/clock.h"
#include "common/base/result.h"

namespace fieldcost::agent {

// off: nothing is measured, written or sent. local: measured, kept here. on: measured and sent.
enum class Mode { kOff, kLocal, kOn };

std::string_view Name(Mode mode);
Result<Mode> ParseMode(std::string_view untrusted_text);

// The user's decision and when it was made. Only runs that began at or after `since` fall under it:
// consent is never retroactive.
struct Consent {
  Mode mode = Mode::kOff;
  WallTime since{};
};

// Returns the decision in force: the user's, or "off" if the administrator does not permit
// collection (system_policy.h). Used by all code except the commands that show and change the
// decision.
Result<Consent> EffectiveConsent(const AgentPaths& paths);

// kPermissionDenied unless the consent in force is `on`, and there is no pause (pause.h); an error,
// too, if it cannot be read. Checked before each piece of a request
// (http::ClientOptions::may_go_on).
Status CheckMaySend(const AgentPaths& paths);

// A missing file means off. An invalid file is an error, and also means off.
Result<Consent> LoadConsent(const std::filesystem::path& file);
Status SaveConsent(const std::filesystem::path& file, const Consent& consent);
// Sets the decision to "off", whatever the file contains; does nothing if it is "off" already. If
// nothing can be written, as on a full disk, removes the file.
Status WithdrawConsent(const std::filesystem::path& file, WallTime now);

// What may be done with a run that began at `run_start`. Pure.
bool MayKeep(const Consent& consent, WallTime run_start);
bool MaySend(const Consent& consent, WallTime run_start, bool forced_pick);

}  // namespace fieldcost::agent
