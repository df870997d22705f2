#include "agent/reach/child_watch.h"

#include <fmt/format.h>

#include <system_error>

#include "common/base/file.h"
#include "common/base/text.h"

namespace fieldcost::reach {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxChildrenBytes = 1 << 20;

// Appends the children of all threads of a process.
void AddChildren(const fs::path& process, std::vector<pid_t>& pids) {
  std::error_code error;
  for (fs::directory_iterator threads(process / "task", error), end; !error && threads != end;
       threads.increment(error)) {
    const auto text = ReadFile(threads->path() / "children", kMaxChildrenBytes);
    if (!text) continue;
    for (const std::string_view word : Split(*text, " \n")) {
      const auto number = ParseUint64(word);
      if (number && *number > 0 && *number <= INT32_MAX) {
        pids.push_back(static_cast<pid_t>(*number));
      }
    }
  }
}

// Whether this reason, a property of the program or its environment, keeps out every library.
bool KeepsLibrariesOut(Reach reach) {
  return reach == Reach::kStatic || reach == Reach::kOtherRoot || reach == Reach::kOtherMachine ||
         reach == Reach::kOtherLibc || reach == Reach::kPrivileged;
}

}  // namespace

void ChildWatch::Look() {
  std::vector<pid_t> pids;
  AddChildren(options_.proc / std::to_string(program_), pids);
  for (std::size_t i = 0; i < pids.size() && i < kMostProcesses; ++i) {
    const fs::path process = options_.proc / std::to_string(pids[i]);
    AddChildren(process, pids);
    std::error_code error;
    // Changes with each exec.
    const fs::path program = fs::read_symlink(process / "exe", error);
    if (error || known_.contains({pids[i], program})) continue;
    const auto explained = ExplainProcess(options_, pids[i]);
    if (!explained) continue;
    // The process has executed another program meanwhile; the next look explains that one.
    if (explained->why.program != program) continue;
    known_.emplace(pids[i], program);
    if (KeepsLibrariesOut(explained->why.reach) && found_.size() < kMostFound) {
      found_.emplace(program, explained->why.reach);
    }
  }
}

void ChildWatch::LookIfDue() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_look_) return;
  Look();
  next_look_ = now + kEvery;
}

std::vector<std::string> ChildWatch::Unmeasured() const {
  std::vector<std::string> phrases;
  for (const auto& [program, reach] : found_) {
    phrases.push_back(fmt::format("{}: {}", EscapeControl(program.string()), Phrase(reach)));
  }
  return phrases;
}

}  // namespace fieldcost::reach
