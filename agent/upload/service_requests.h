#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "agent/settings/agent_config.h"
#include "agent/settings/paths.h"
#include "agent/spool/spool_db.h"
#include "common/base/result.h"
#include "common/base/units.h"
#include "common/crypto/ed25519.h"
#include "common/http/client.h"
#include "common/wire/epoch.h"

namespace fieldcost::upload {

// The agent's requests to the service, and error messages about its responses. Thread-safe.

// The longest response to a request about batches, without headers.
inline constexpr std::size_t kMaxServiceAnswerBytes = 256 * kKiB;

// A client of the service of `config`, through its proxy or the environment's. `may_go_on` as in
// http::ClientOptions; null for requests allowed in every mode.
Result<http::Client> ConnectToService(const settings::AgentConfig& config,
                                      std::function<Status()> may_go_on,
                                      std::size_t max_response_bytes = kMaxServiceAnswerBytes);

// The fingerprint of the root that the user has pinned; requests are signed for its service (see
// wire::ServiceId()). kNotFound, with instructions, if none is pinned; kCorrupt or kUnauthenticated
// if the file is not a root.
Result<std::string> PinnedRootFingerprint(const settings::AgentPaths& paths);

// The reason to retry later: "WHAT ORIGIN: status 503: ...", with `what` such as "upload to".
Error TryLater(std::string_view what, const http::Client& client,
               const http::Response& untrusted_response);
// Why a successful response is ignored: it is not from our aggregator (but, for example, from a
// captive portal), so it promises nothing.
Error NotFromAggregator(std::string_view what, const http::Client& client, const Error& why);

// The signed requests for a batch: to add it, and to withdraw it (with its receipt). `service` is
// wire::ServiceId(): no other service accepts them.
http::Request MakeBatchRequest(const std::string& service, const crypto::PrivateKey& key,
                               const spool::SpooledBatch& batch);
http::Request MakeWithdrawalRequest(const std::string& service, const crypto::PrivateKey& key,
                                    const spool::SpooledBatch& batch);
http::Request MakeEnrolmentRequest(const std::string& service, const crypto::PrivateKey& key,
                                   wire::Epoch epoch, std::string_view token);

// The enrolment token: a file of mode 0600 in the state directory. Empty if there is none.
Result<std::string> LoadEnrolmentToken(const settings::AgentPaths& paths);
// kInvalidArgument unless it is one line of printable ASCII without spaces of limited length,
// after trimming.
Status SaveEnrolmentToken(const settings::AgentPaths& paths, std::string_view untrusted_token);

}  // namespace fieldcost::upload
