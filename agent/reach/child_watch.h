#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/reach/reach.h"

namespace fieldcost::agent {

// Finds descendants of a running program into which our library cannot be loaded: their calls are
// missing from the measurement. Sees the descendants that exist when it looks; not those that have
// ended before, or whose parent has ended. Not thread-safe.
class ChildWatch {
 public:
  // `options.uid` is that of the program. Processes of other users are ignored.
  ChildWatch(const SurveyOptions& options, pid_t program) : options_(options), program_(program) {}

  void Look();
  // Looks unless that was done a moment ago.
  void LookIfDue();

  // A phrase for each program that was seen, and why: "/bin/x: linked statically, ...". Escaped.
  std::vector<std::string> Unmeasured() const;

 private:
  static constexpr std::chrono::milliseconds kEvery{50};
  static constexpr std::size_t kMostProcesses = 4096;  // at a look
  static constexpr std::size_t kMostFound = 64;

  SurveyOptions options_;
  pid_t program_;
  std::set<std::pair<pid_t, std::filesystem::path>> known_;  // what was looked at
  std::set<std::pair<std::filesystem::path, Reach>> found_;
  std::chrono::steady_clock::time_point next_look_;
};

}  // namespace fieldcost::agent
