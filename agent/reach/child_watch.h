#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/reach/reach.h"

namespace fieldcost::reach {

// Finds descendants of a running program into which our library cannot be loaded: their calls are
// missing from the measurement. Finds only descendants that exist at the time of a look, and misses
// those that have ended or whose parent has ended. Not thread-safe.
class ChildWatch {
 public:
  // `options.uid` is the program's user. Processes of other users are ignored.
  ChildWatch(const SurveyOptions& options, pid_t program) : options_(options), program_(program) {}

  void Look();
  // Looks unless the last look was a moment ago.
  void LookIfDue();

  // One phrase per program found, with the reason: "/bin/x: linked statically, ...". Escaped.
  std::vector<std::string> Unmeasured() const;

 private:
  static constexpr std::chrono::milliseconds kEvery{50};
  static constexpr std::size_t kMostProcesses = 4096;  // per look
  static constexpr std::size_t kMostFound = 64;

  SurveyOptions options_;
  pid_t program_;
  std::set<std::pair<pid_t, std::filesystem::path>> known_;  // already examined
  std::set<std::pair<std::filesystem::path, Reach>> found_;
  std::chrono::steady_clock::time_point next_look_;
};

}  // namespace fieldcost::reach
