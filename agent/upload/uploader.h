#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "agent/settings/config.h"
#include "agent/spool/spool_db.h"
#include "agent/upload/agent_keys.h"
#include "agent/upload/epoch_connection.h"
#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/crypto/ed25519.h"
#include "common/http/client.h"
#include "common/wire/batch.h"
#include "common/wire/epoch.h"

namespace fieldcost::agent {

struct UploadReport {
  std::uint32_t batches_sent = 0;
  std::uint32_t batches_quarantined = 0;  // refused for good by the server, kept with the reason
  std::uint32_t batches_left = 0;
  std::uint32_t rows_sent = 0;
  std::uint32_t rows_rejected = 0;                  // by the server, one by one
  std::optional<Error> stopped_by;                  // why some are left: server down, busy, ...
  std::optional<std::chrono::seconds> retry_after;  // the server's wish, with stopped_by
};

// Sends spooled batches to the aggregator, oldest first. A batch leaves the spool only after the
// server's 200, so one that is sent again after a crash is the server's to recognise. Its owner
// holds the upload lock.
class Uploader {
 public:
  Uploader(const AgentPaths& paths, const AgentConfig& config, const Clock& clock);

  // The epochs whose batches go in one upload. Those of two in a row tell that their keys belong
  // together.
  enum class Epochs { kOne, kAll };

  // Goes on until `max_batches` are sent, the spool is empty, consent is withdrawn (amid a
  // request, too: then nothing of it leaves any more), a batch fails for now
  // (report.stopped_by), or the next is of another epoch than those of `report`. A connection has
  // batches of one epoch. An Error is ours (database, key file), not the server's.
  Status Send(SpoolDb& spool, StateDb& state, std::uint32_t max_batches, Epochs epochs,
              UploadReport& report);

 private:
  Status SendOne(SpoolDb& spool, StateDb& state, const SpooledBatch& batch, UploadReport& report);
  // Sets aside one that may have arrived under a key that is gone: with another key it would count
  // a second time.
  Status SetAsideWithoutKey(SpoolDb& spool, StateDb& state, const SpooledBatch& batch,
                            UploadReport& report);
  // Sets aside one that the service will never take.
  Status SetAsideRefused(SpoolDb& spool, StateDb& state, const SpooledBatch& batch,
                         const std::string& reason, UploadReport& report);
  // Takes a batch for sent if this is the aggregator's answer to it.
  // Has further rows of the refused ones that only added claim a contribution: the service may not
  // have the one that the agent made, and would refuse them until the quarter is over.
  static Status ContributeAgain(StateDb& state, const SpooledBatch& batch,
                                const wire::BatchAnswer& untrusted_answer);
  Status NoteAnswer(SpoolDb& spool, StateDb& state, const SpooledBatch& batch,
                    std::string_view untrusted_body, UploadReport& report);
  // Sends it, and enrols first where the server asks for that.
  Result<http::Response> Exchange(const crypto::PrivateKey& key, const SpooledBatch& batch);
  Status Enrol(const crypto::PrivateKey& key, wire::Epoch epoch);

  const AgentPaths* paths_;
  const AgentConfig* config_;
  const Clock* clock_;
  AgentKeys keys_;
  EpochConnection connection_;
};

}  // namespace fieldcost::agent
