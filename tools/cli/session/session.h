#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "agent/reach/reach.h"
#include "agent/settings/paths.h"
#include "common/base/result.h"

namespace fieldcost::cli {

// What a session activation consists of and what was done to it.
struct SessionReport {
  bool active = false;                         // at least one of the files is there
  std::vector<std::filesystem::path> files;    // of the activation, those that are there
  std::vector<std::filesystem::path> missing;  // while active: those that are not
  std::vector<std::filesystem::path> written;
  std::vector<std::filesystem::path> removed;
  std::vector<std::filesystem::path> lines_added;    // profiles that now have our line
  std::vector<std::filesystem::path> lines_removed;  // profiles that are as they were before
  bool library_present = false;
  bool library_is_older = false;  // while active: another `on` would refresh it
  // While not active: who still has the library in its environment, so that it has to stay.
  std::vector<agent::ProcessReach> holders;
};

// Opt-in activation for all programs of one user's sessions: a copy of the measuring library in the
// state directory, a file for environment.d(5), a shell snippet, and one line in the login shells'
// profiles. Nothing outside the user's own directories.
class Session {
 public:
  // kInvalidArgument if HOME is not an absolute path.
  static Result<Session> FromEnvironment(const agent::AgentPaths& paths);

  // Writes what is missing or not current. What was there before can be had back, byte for byte.
  // After a failure it is as before, unless a part was active already.
  Result<SessionReport> On(const std::filesystem::path& library_source) const;

  // Removes everything; the library only when nobody names it any more, since ld.so would complain
  // about a missing one. Goes on after a failure and returns the first one.
  Result<SessionReport> Off() const;

  // Whether the copy has the bytes of this library.
  Result<bool> IsCopyOf(const std::filesystem::path& library_source) const;

  // Changes nothing; looks for nobody who holds the library.
  Result<SessionReport> Look() const;

  // Also removes a library that was left behind and is not needed any more.
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
  std::filesystem::path end_file_;  // when a session was ended whose library had to stay
  std::filesystem::path environment_file_;
  std::filesystem::path snippet_;
};

}  // namespace fieldcost::cli
