#pragma once

#include <functional>
#include <optional>

#include "agent/settings/config.h"
#include "common/base/result.h"
#include "common/http/client.h"
#include "common/wire/epoch.h"

namespace fieldcost::agent {

// A connection to the service for batches of one epoch at a time: those of two would tell that
// their keys belong together. Not thread-safe.
class EpochConnection {
 public:
  // `config` must outlive it; `may_go_on` as in http::ClientOptions.
  EpochConnection(const AgentConfig& config, std::function<Status()> may_go_on)
      : config_(&config), may_go_on_(std::move(may_go_on)) {}

  // Whether a connection is there that is of another epoch.
  bool IsOfAnother(wire::Epoch epoch) const { return client_ && epoch_ != epoch; }

  // Connects anew if there is none of this epoch.
  Status Connect(wire::Epoch epoch);

  // REQUIRES: Connect() has succeeded.
  http::Client& client();

 private:
  const AgentConfig* config_;
  std::function<Status()> may_go_on_;
  std::optional<http::Client> client_;
  wire::Epoch epoch_{};
};

}  // namespace fieldcost::agent
