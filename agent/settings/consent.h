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

// What is in force: the user's decision, or off where the administrator does not permit collection
// (system_policy.h). Used by everything but the commands that show and change the decision.
Result<Consent> EffectiveConsent(const AgentPaths& paths);

// kPermissionDenied unless the consent in force is `on`, and there is no pause (pause.h); an error,
// too, if it cannot be read. Checked before each piece of a request
// (http::ClientOptions::may_go_on).
Status CheckMaySend(const AgentPaths& paths);

// A missing file means off. An invalid file is an error, and also means off.
Result<Consent> LoadConsent(const std::filesystem::path& file);
Status SaveConsent(const std::filesystem::path& file, const Consent& consent);
// Decides for off, whatever the file holds now; nothing if that is decided already. Where nothing
// can be written, as on a full disk, it removes the file.
Status WithdrawConsent(const std::filesystem::path& file, WallTime now);

// What may be done with a run that began at `run_start`. Pure.
bool MayKeep(const Consent& consent, WallTime run_start);
bool MaySend(const Consent& consent, WallTime run_start, bool forced_pick);

}  // namespace fieldcost::agent
