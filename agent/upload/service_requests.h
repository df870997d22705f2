#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "agent/settings/config.h"
#include "agent/settings/paths.h"
#include "agent/spool/spool_db.h"
#include "common/base/result.h"
#include "common/base/units.h"
#include "common/crypto/ed25519.h"
#include "common/http/client.h"
#include "common/wire/epoch.h"

namespace fieldcost::agent {

// What an agent says to the service, and how it shows the answers. Thread-safe.

// The longest answer to a request about batches, headers aside.
inline constexpr std::size_t kMaxServiceAnswerBytes = 256 * kKiB;

// A client of the service of `config`, through its proxy or the environment's. `may_go_on` as in
// http::ClientOptions; null for what is wanted in every mode.
Result<http::Client> ConnectToService(const AgentConfig& config, std::function<Status()> may_go_on,
                                      std::size_t max_response_bytes = kMaxServiceAnswerBytes);

// The name of the root that the user has pinned, by which requests are signed for its service (see
// wire::ServiceId()). kNotFound, with what to do, if there is none; kCorrupt or kUnauthenticated if
// the file is no root.
Result<std::string> PinnedRootFingerprint(const AgentPaths& paths);

// Why a request is for later: "WHAT ORIGIN: status 503: ...", `what` being "upload to" or the like.
Error TryLater(std::string_view what, const http::Client& client,
               const http::Response& untrusted_response);
// Why a good answer counts for nothing: it is not our aggregator's (a captive portal's, say), so
// not its promise either.
Error NotFromAggregator(std::string_view what, const http::Client& client, const Error& why);

// The signed requests for a batch: to add it, and to take it back (with its receipt). `service` is
// wire::ServiceId(): with another service they are worth nothing.
http::Request MakeBatchRequest(const std::string& service, const crypto::PrivateKey& key,
                               const SpooledBatch& batch);
http::Request MakeWithdrawalRequest(const std::string& service, const crypto::PrivateKey& key,
                                    const SpooledBatch& batch);
http::Request MakeEnrolmentRequest(const std::string& service, const crypto::PrivateKey& key,
                                   wire::Epoch epoch, std::string_view token);

// The enrolment token: a file of mode 0600 in the state directory. Empty if there is none.
Result<std::string> LoadEnrolmentToken(const AgentPaths& paths);
// kInvalidArgument unless it is one line of printable ASCII without spaces of limited length; what
// surrounds it is cut off.
Status SaveEnrolmentToken(const AgentPaths& paths, std::string_view untrusted_token);

}  // namespace fieldcost::agent
