#pragma once

#include <functional>
#include <optional>
#include <string>

#include "agent/settings/agent_config.h"
#include "agent/settings/paths.h"
#include "common/base/result.h"
#include "common/http/client.h"
#include "common/wire/epoch.h"

namespace fieldcost::upload {

// A connection to the service for batches of one epoch at a time: using it for two epochs would
// link their keys. Not thread-safe.
class EpochConnection {
 public:
  // `paths` and `config` must outlive it; `may_go_on` as in http::ClientOptions.
  EpochConnection(const settings::AgentPaths& paths, const settings::AgentConfig& config,
                  std::function<Status()> may_go_on)
      : paths_(&paths), config_(&config), may_go_on_(std::move(may_go_on)) {}

  // Whether a connection exists that belongs to another epoch.
  bool IsOfAnother(wire::Epoch epoch) const { return client_ && epoch_ != epoch; }

  // Connects unless a connection for this epoch exists. Rereads the pinned root each time, since
  // the user may have replaced it. Errors as PinnedRootFingerprint().
  Status Connect(wire::Epoch epoch);

  // REQUIRES: Connect() has succeeded.
  http::Client& client();
  // The service that requests are signed for; see wire::ServiceId(). REQUIRES: as client().
  const std::string& service() const;

 private:
  const settings::AgentPaths* paths_;
  const settings::AgentConfig* config_;
  std::function<Status()> may_go_on_;
  std::optional<http::Client> client_;
  std::string service_;
  wire::Epoch epoch_{};
};

}  // namespace fieldcost::upload
