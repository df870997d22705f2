#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

#include "agent/daemon/agent.h"
#include "agent/daemon/agent_keys.h"
#include "agent/daemon/spool_db.h"
#include "common/base/units.h"
#include "common/crypto/ed25519.h"
#include "common/http/client.h"

namespace fieldcost::daemon {

// Sends spooled batches to the aggregator, oldest first. A batch leaves the spool only after the
// server's 200, so one that is sent again after a crash is the server's to recognise. Its owner
// holds the upload lock.
class Uploader {
 public:
  Uploader(const Profile& profile, const AgentConfig& config, const Clock& clock);

  // Of how many epochs batches go in one upload. Those of two in a row tell that their keys belong
  // together.
  enum class Epochs { kOne, kAll };

  // Until `max_batches` are sent, the spool is empty, consent is withdrawn (in the middle of a
  // request, too: then nothing of it leaves any more), a batch fails for now
  // (report.stopped_by), or the next is of another epoch than those of `report`. A connection has
  // batches of one epoch. An Error is ours (database, key file), not the server's.
  Status Send(SpoolDb& spool, StateDb& state, std::uint32_t max_batches, Epochs epochs,
              UploadReport& report);

 private:
  Status SendOne(SpoolDb& spool, StateDb& state, const SpooledBatch& batch, UploadReport& report);
  // Sends it, and enrols first where the server asks for that.
  Result<http::Response> Exchange(const crypto::PrivateKey& key, const SpooledBatch& batch);
  Status Enrol(const crypto::PrivateKey& key, std::uint64_t epoch);

  const Profile* profile_;
  const AgentConfig* config_;
  const Clock* clock_;
  AgentKeys keys_;
  std::optional<http::Client> client_;
  std::uint64_t epoch_ = 0;  // of the client's batches
};

// The longest answer to a request about batches, headers aside.
inline constexpr std::size_t kMaxServiceAnswerBytes = 256 * kKiB;

// A client of the service of `config`, through its proxy or the environment's. `may_go_on` as in
// http::ClientOptions; null for what is wanted in every mode.
Result<http::Client> ConnectToService(const AgentConfig& config, std::function<Status()> may_go_on,
                                      std::size_t max_response_bytes = kMaxServiceAnswerBytes);

// "status 503: <what the server says>", one line of limited length.
std::string DescribeAnswer(const http::Response& untrusted_response);

// The signed requests for a batch: to add it, and to take it back (with its receipt). `service` is
// http::Client::server_name(): with another service they are worth nothing.
http::Request MakeBatchRequest(const std::string& service, const crypto::PrivateKey& key,
                               const SpooledBatch& batch);
http::Request MakeWithdrawalRequest(const std::string& service, const crypto::PrivateKey& key,
                                    const SpooledBatch& batch);
http::Request MakeEnrolmentRequest(const std::string& service, const crypto::PrivateKey& key,
                                   std::uint64_t epoch, std::string_view token);

// The enrolment token: a file of mode 0600 in the state directory. Empty if there is none.
Result<std::string> LoadEnrolmentToken(const Profile& profile);
// kInvalidArgument unless it is one line of printable ASCII without spaces of limited length; what
// surrounds it is cut off.
Status SaveEnrolmentToken(const Profile& profile, std::string_view untrusted_token);

}  // namespace fieldcost::daemon
