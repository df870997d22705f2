#include "tools/cli/join/look_at_parts.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>

#include "common/base/file.h"
#include "common/base/text.h"
#include "tools/cli/join/user_units.h"

namespace fieldcost::cli {
namespace {

constexpr std::size_t kMaxProcFileBytes = 4 << 20;

// Whether a fieldcostd holds a lock on the file. Takes no lock, which a starting daemon would find.
bool IsDaemonHolding(const std::filesystem::path& lock_file) {
  struct stat info {};
  if (::stat(lock_file.c_str(), &info) != 0) return false;
  const auto locks = ReadFile("/proc/locks", kMaxProcFileBytes);
  if (!locks) return false;
  const std::string inode = fmt::format(":{}", info.st_ino);
  for (const std::string_view line : Split(*locks, "\n")) {
    // "1: FLOCK  ADVISORY  WRITE 4711 08:01:1234 0 EOF"
    std::vector<std::string_view> words;
    for (const std::string_view word : Split(line, " ")) {
      if (!word.empty()) words.push_back(word);
    }
    if (words.size() < 6 || words[1] != "FLOCK" || !words[5].ends_with(inode)) continue;
    const auto name = ReadFile(fmt::format("/proc/{}/comm", words[4]), kMaxProcFileBytes);
    if (name && Trim(*name) == "fieldcostd") return true;
  }
  return false;
}

}  // namespace

PartFacts LookAtParts(const volunteer::Agent& agent, settings::Mode mode,
                      const SessionReport& session, const Clock& clock) {
  const settings::AgentPaths& paths = agent.paths();
  std::error_code error;
  PartFacts facts{.mode = mode,
                  .url = agent.config().url,
                  .is_suggested = !agent.config().suggested.url.empty(),
                  .root_is_pinned = std::filesystem::exists(paths.catalog_root_file, error),
                  .session_is_active = session.active,
                  .session_is_complete = session.missing.empty(),
                  .daemon_fix = {},
                  .catalogue = {},
                  .now = clock.Now()};
  if (mode == settings::Mode::kOff) return facts;
  facts.daemon_is_running = IsDaemonHolding(paths.state_dir / "daemon.lock");
  facts.units_are_enabled = IsEnabled(kAgentUnit);
  facts.units_can_start = WhyNoUnit(kAgentUnit, paths).empty();
  facts.daemon_fix = facts.units_can_start ? kEnableUnitsCommand : kWithoutUnits;
  if (const auto catalogue = catalog::Catalog::Open(paths.catalog_file)) {
    if (const auto freshness = catalogue->GetFreshness()) facts.catalogue = *freshness;
  }
  return facts;
}

}  // namespace fieldcost::cli
