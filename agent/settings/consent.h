#pragma once

#include <filesystem>
#include <string_view>

#include "agent/settings/paths.h"
#include "common/base/clock.h"
#include "common/base/result.h"

namespace fieldcost::settings {

// off: nothing is measured, written or sent. local: measured, kept here. on: measured and sent.
enum class Mode { kOff, kLocal, kOn };

std::string_view Name(Mode mode);
Result<Mode> ParseMode(std::string_view untrusted_text);

// The user's decision and when it was made. It covers only runs that began at or after `since`:
// consent is never retroactive.
struct Consent {
  Mode mode = Mode::kOff;
  WallTime since{};
};

// Returns the decision in force: the user's, or "off" if the administrator does not permit
// collection (system_policy.h). Used by all code except the commands that show and change the
// decision.
Result<Consent> EffectiveConsent(const AgentPaths& paths);

// Returns OK if the consent in force is `on` and there is no pause (pause.h), or else
// kPermissionDenied; also an error if the consent cannot be read. Checked before each piece of a
// request (http::ClientOptions::may_go_on).
Status CheckMaySend(const AgentPaths& paths);

// A missing file means off. An invalid one is an error, and also means off.
Result<Consent> LoadConsent(const std::filesystem::path& file);
Status SaveConsent(const std::filesystem::path& file, const Consent& consent);
// Sets the decision to "off", regardless of the file's contents; does nothing if it is "off"
// already. If the file cannot be written, as on a full disk, removes it.
Status WithdrawConsent(const std::filesystem::path& file, WallTime now);

// Whether a run that began at `run_start` may be kept, or sent. Pure.
bool MayKeep(const Consent& consent, WallTime run_start);
bool MaySend(const Consent& consent, WallTime run_start, bool forced_pick);

}  // namespace fieldcost::settings
