#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "agent/reach/reach.h"
#include "agent/settings/paths.h"
#include "common/base/result.h"

namespace fieldcost::cli {

// The files of a session activation and the changes made to them.
struct SessionReport {
  bool active = false;                         // at least one of the files exists
  std::vector<std::filesystem::path> files;    // existing files of the activation
  std::vector<std::filesystem::path> missing;  // while active: missing ones
  std::vector<std::filesystem::path> written;
  std::vector<std::filesystem::path> removed;
  std::vector<std::filesystem::path> lines_added;    // profiles that now have our line
  std::vector<std::filesystem::path> lines_removed;  // profiles restored to their previous content
  bool library_present = false;
  bool library_is_older = false;  // while active: another `on` would update it
  // While not active: processes that name the library in their environment, so that it must stay.
  std::vector<reach::ProcessReach> holders;
};

// Opt-in measuring in all programs of one user's sessions: a copy of the measuring library in the
// state directory, a file for environment.d(5), a shell snippet, and one line in the login shells'
// profiles. Changes nothing outside the user's own directories.
class Session {
 public:
  // kInvalidArgument if HOME is not an absolute path.
  static Result<Session> FromEnvironment(const settings::AgentPaths& paths);

  // Writes missing and outdated files; Off() can restore the previous contents byte for byte. A
  // failure undoes all changes, unless a part was already active.
  Result<SessionReport> On(const std::filesystem::path& library_source) const;

  // Removes everything. The library is removed only when no process names it any more, since ld.so
  // would complain. Continues after a failure and returns the first one.
  Result<SessionReport> Off() const;

  // Whether the copy has the same bytes as this library.
  Result<bool> IsCopyOf(const std::filesystem::path& library_source) const;

  // Changes nothing, and does not search for processes that use the library.
  Result<SessionReport> Look() const;

  // Like Look(), but removes a library that had to stay and is no longer needed.
  Result<SessionReport> GetStatus() const;

  const std::filesystem::path& library() const { return library_; }
  const std::filesystem::path& snippet() const { return snippet_; }
  const std::filesystem::path& environment_file() const { return environment_file_; }

 private:
  Session() = default;
  Status WriteAll(const std::filesystem::path& library_source, SessionReport& report) const;
  Status CopyLibrary(const std::filesystem::path& source, SessionReport& report) const;
  Status WriteOurs(const std::filesystem::path& file, bool is_snippet,
                   const std::filesystem::path& library_source, SessionReport& report) const;
  Status RemoveOurs(const std::filesystem::path& file, SessionReport& report) const;
  Status AddLine(const std::filesystem::path& profile, bool may_make, SessionReport& report) const;
  Status RemoveLine(const std::filesystem::path& profile, SessionReport& report) const;
  Status RemoveLibrary(bool is_ending_now, SessionReport& report) const;
  Status LookAround(SessionReport& report) const;
  std::vector<std::filesystem::path> ShellProfiles() const;

  std::filesystem::path home_;
  std::filesystem::path state_dir_;
  std::filesystem::path library_;
  std::filesystem::path end_file_;  // records when a session ended whose library had to stay
  std::filesystem::path environment_file_;
  std::filesystem::path snippet_;
};

}  // namespace fieldcost::cli
