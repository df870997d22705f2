#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/settings/consent.h"
#include "agent/settings/paths.h"
#include "common/base/result.h"

namespace fieldcost::cli {

// What existed before `fieldcost agent join`, so that `fieldcost agent leave` restores exactly
// that. Written before anything else is changed; STATE_DIR/joined:
//   record := "fieldcost joined 1" LF mode had* made*
//   mode   := "mode " ("off" | "local" | "on") LF
//   had    := "had " ("state" | "root" | "catalogue" | "session" | "units" | "refresh") LF
//   made   := "made " absolute_path LF       ; a directory that was missing, parents first
struct JoinRecord {
  settings::Mode mode = settings::Mode::kOff;  // the user's previous decision
  bool had_state = false;                      // the state directory
  bool had_root = false;                       // a pinned root
  bool had_catalogue = false;
  bool had_session = false;  // session activation
  bool had_units = false;    // the user units were enabled
  bool had_refresh = false;  // automatic refreshing was on
  std::vector<std::filesystem::path> made;
  bool operator==(const JoinRecord&) const = default;
};

std::filesystem::path JoinRecordFile(const settings::AgentPaths& paths);

// Pure. REQUIRES: the paths have no line feed.
std::string EncodeJoinRecord(const JoinRecord& record);
// kCorrupt for any other text.
Result<JoinRecord> DecodeJoinRecord(std::string_view untrusted_text);

// nullopt if there is none.
Result<std::optional<JoinRecord>> LoadJoinRecord(const settings::AgentPaths& paths);

// The directories among `wanted` and above them that do not exist, parents first.
std::vector<std::filesystem::path> MissingDirectories(
    const std::vector<std::filesystem::path>& wanted);

}  // namespace fieldcost::cli
