#pragma once

#include <filesystem>
#include <optional>

#include "agent/daemon/agent.h"
#include "agent/daemon/state_db.h"
#include "common/crypto/ed25519.h"
#include "common/http/client.h"

namespace fieldcost::daemon {

// Sends spooled batches to the aggregator, oldest first. A batch leaves the spool only after the
// server's 200, so one that is sent again after a crash is the server's to recognise.
class Uploader {
 public:
  Uploader(const Profile& profile, const AgentConfig& config, const Clock& clock);

  // Until the spool is empty, consent is withdrawn, or a batch fails for now (report.stopped_by).
  // An Error is ours (database, key file), not the server's.
  Status SendAll(StateDb& database, UploadReport& report);

 private:
  Status SendOne(StateDb& database, const SpooledBatch& batch, UploadReport& report);

  const Profile* profile_;
  const AgentConfig* config_;
  const Clock* clock_;
  std::optional<crypto::PrivateKey> key_;
  std::optional<http::Client> client_;
};

// The agent's key, made at the first use.
Result<crypto::PrivateKey> AgentKey(const Profile& profile);
std::filesystem::path AgentKeyFile(const Profile& profile);

// The signed request for a batch.
http::Request MakeBatchRequest(const crypto::PrivateKey& key, const SpooledBatch& batch);

}  // namespace fieldcost::daemon
