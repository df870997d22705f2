#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::cli {

// The texts of session activation, and how one line is added to a user's shell profile and removed
// again, byte for byte. Pure.

// kInvalidArgument unless LD_PRELOAD, environment.d(5) and a quoted shell word can all hold `path`.
Status CheckSessionPath(std::string_view path);

struct SessionTextOptions {
  std::string library;    // absolute path of the copy that sessions load
  std::string source;     // its original; if missing (uninstalled), the copy is not used
  std::string state_dir;  // FIELDCOST_STATE_DIR
  // Directories created for the file, to be removed with it.
  unsigned directories_made = 0;
};

// For $XDG_CONFIG_HOME/environment.d, which applies to desktop sessions and user services.
std::string EnvironmentFileText(const SessionTextOptions& options);

// For login shells (POSIX). Exports only while the library is readable and fieldcost is installed.
// Sourcing it again changes nothing.
std::string SnippetText(const SessionTextOptions& options);

// The number recorded in either of these texts; nullopt for any other text.
std::optional<unsigned> DirectoriesMade(std::string_view text);

// Whether a profile contains our line for this snippet.
bool HasSessionLine(std::string_view profile);
bool HasSessionLine(std::string_view profile, std::string_view snippet);

// Appends the line that sources `snippet`; nullopt = the profile does not exist.
std::string AddSessionLine(const std::optional<std::string>& profile, std::string_view snippet);

// Removes our lines. nullopt if the file has no other content and was created for them.
std::optional<std::string> RemoveSessionLine(std::string_view profile);

}  // namespace fieldcost::cli
