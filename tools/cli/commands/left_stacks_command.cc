// Implements EraseLeftStacks(): memory that a killed recorder of probe points has left behind.
#include "agent/probe/ring_wiper.h"
#include "tools/cli/cli_commands.h"

namespace fieldcost::cli {

void EraseLeftStacks(const command::Command& next) {
  constexpr std::string_view kFlush = "flush";  // the subcommand of `probe`
  if (next.name == kFlush) return;
  const auto paths = settings::AgentPaths::FromEnvironment();
  if (paths) probe::WipeAbandonedRings(*paths);
}

}  // namespace fieldcost::cli
