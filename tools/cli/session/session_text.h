#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::cli {

// The texts of session activation, and how one line is put into a user's shell profile and taken
// out again byte for byte. Pure.

// kInvalidArgument unless LD_PRELOAD, environment.d(5) and a quoted shell word can all hold `path`.
Status CheckSessionPath(std::string_view path);

struct SessionTextOptions {
  std::string library;    // absolute path of the copy that sessions load
  std::string source;     // what it is a copy of; without it (uninstalled) the copy is not used
  std::string state_dir;  // FIELDCOST_STATE_DIR
  // Directories that had to be made for the file, to be removed with it.
  unsigned directories_made = 0;
};

// For $XDG_CONFIG_HOME/environment.d: desktop sessions and user services.
std::string EnvironmentFileText(const SessionTextOptions& options);

// For login shells: POSIX shell; exports only while the library can be read and fieldcost is
// installed; sourcing it again changes nothing.
std::string SnippetText(const SessionTextOptions& options);

// What a text of one of the two says of itself; nullopt for any other text.
std::optional<unsigned> DirectoriesMade(std::string_view text);

// Whether a profile has our line, and for this snippet.
bool HasSessionLine(std::string_view profile);
bool HasSessionLine(std::string_view profile, std::string_view snippet);

// The profile with the line that sources `snippet` at its end; nullopt = there is no such file.
std::string AddSessionLine(const std::optional<std::string>& profile, std::string_view snippet);

// The profile without our lines. nullopt if the file held nothing else and was made for it.
std::optional<std::string> RemoveSessionLine(std::string_view profile);

}  // namespace fieldcost::cli
