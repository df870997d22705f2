#pragma once

#include "agent/settings/agent_config.h"
#include "agent/settings/paths.h"
#include "common/catalog/catalog_sync.h"

namespace fieldcost::refresh {

// Syncs this user's catalogue with the mirrors or the service of `config`, through its proxy or the
// environment's.
catalog::SyncOptions SyncOptionsOf(const settings::AgentPaths& paths,
                                   const settings::AgentConfig& config);

}  // namespace fieldcost::refresh
