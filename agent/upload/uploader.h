#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "agent/settings/agent_config.h"
#include "agent/spool/spool_db.h"
#include "agent/upload/agent_keys.h"
#include "agent/upload/epoch_connection.h"
#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/crypto/ed25519.h"
#include "common/http/client.h"
#include "common/wire/batch.h"
#include "common/wire/epoch.h"

namespace fieldcost::upload {

struct UploadReport {
  std::uint32_t batches_sent = 0;
  std::uint32_t batches_quarantined = 0;  // permanently refused by the server, kept with the reason
  std::uint32_t batches_left = 0;
  std::uint32_t rows_sent = 0;
  std::uint32_t rows_rejected = 0;                  // by the server, one by one
  std::optional<Error> stopped_by;                  // why batches are left: server down, ...
  std::optional<std::chrono::seconds> retry_after;  // the server's, with stopped_by
};

// Sends spooled batches to the aggregator, oldest first. A batch leaves the spool only after the
// server's 200, so the server must recognise one that is sent again after a crash. The owner of an
// Uploader holds the upload lock.
class Uploader {
 public:
  Uploader(const settings::AgentPaths& paths, const settings::AgentConfig& config,
           const Clock& clock);

  // The epochs whose batches are sent in one upload. Sending batches of two epochs in a row reveals
  // that their keys belong together.
  enum class Epochs { kOne, kAll };

  // Sends until `max_batches` are sent, the spool is empty, consent is withdrawn (even during a
  // request, which is then cut off), a batch fails temporarily (report.stopped_by), or, with kOne,
  // the next batch belongs to another epoch. A connection carries batches of one epoch only.
  // Returns an Error only for local failures (database, key file), not for the server's.
  Status Send(spool::SpoolDb& spool, spool::StateDb& state, std::uint32_t max_batches,
              Epochs epochs, UploadReport& report);

 private:
  Status SendOne(spool::SpoolDb& spool, spool::StateDb& state, const spool::SpooledBatch& batch,
                 UploadReport& report);
  // Sets aside a batch that may have arrived under a deleted key: with another key it would count
  // twice.
  Status SetAsideWithoutKey(spool::SpoolDb& spool, spool::StateDb& state,
                            const spool::SpooledBatch& batch, UploadReport& report);
  // Sets aside a batch that the service will never accept.
  Status SetAsideRefused(spool::SpoolDb& spool, spool::StateDb& state,
                         const spool::SpooledBatch& batch, const std::string& reason,
                         UploadReport& report);
  // Lets the next rows claim a contribution again where rows that only added were refused: the
  // service may lack the earlier contribution, and would refuse such rows until the quarter ends.
  static Status ContributeAgain(spool::StateDb& state, const spool::SpooledBatch& batch,
                                const wire::BatchAnswer& untrusted_answer);
  // Marks the batch as sent if the response is the aggregator's answer.
  Status NoteAnswer(spool::SpoolDb& spool, spool::StateDb& state, const spool::SpooledBatch& batch,
                    std::string_view untrusted_body, UploadReport& report);
  // Sends it; enrols first if the server requires it.
  Result<http::Response> Exchange(const crypto::PrivateKey& key, const spool::SpooledBatch& batch);
  Status Enrol(const crypto::PrivateKey& key, wire::Epoch epoch);

  const settings::AgentPaths* paths_;
  const settings::AgentConfig* config_;
  const Clock* clock_;
  AgentKeys keys_;
  EpochConnection connection_;
};

}  // namespace fieldcost::upload
