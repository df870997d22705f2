#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "aggregator/store/retention_rules.h"
#include "common/base/clock.h"
#include "common/crypto/ed25519.h"
#include "common/http/http_message.h"
#include "common/wire/batch.h"

namespace fieldcost::ingest {

// A test agent: creates valid batches and the signed requests that carry them.

// The host name of the tests' services and the root that their agents have pinned. Both are part of
// the signature.
inline constexpr char kTestHost[] = "localhost";
inline constexpr char kTestRoot[] = "5e0c";
// Sets the root fingerprint, for example that of a real service; nullopt restores kTestRoot.
void SetTestRoot(std::optional<std::string> fingerprint);
// Sets it to the root of the service with this data directory.
void SetTestRootOf(const std::filesystem::path& data_dir);
// Returns the service id as in the request header.
std::string TestService();

// The epoch of requests: the current one, unless a test with its own clock has set another.
wire::Epoch TestEpoch();
void SetTestEpoch(std::optional<wire::Epoch> epoch);
using wire::EpochOfWeek;

wire::BatchRow TestRow(unsigned number, std::uint32_t week);
wire::BatchContent TestContent(unsigned rows, std::uint32_t week);

// Returns the batch as an agent of that format version sends it (the version is the first field).
std::string OfVersion(const std::string& body, std::uint32_t version);

// Returns a request as the agent's uploader sends it.
http::Request SignedRequest(const crypto::PrivateKey& key, std::uint64_t sequence,
                            const std::string& body);
// Same, for a content that must be encodable.
http::Request SignedRequest(const crypto::PrivateKey& key, std::uint64_t sequence,
                            const wire::BatchContent& content);

// Withdraws the batch; without a receipt if `receipt` is empty.
http::Request WithdrawalRequest(const crypto::PrivateKey& key, std::uint64_t sequence,
                                const std::string& body, const std::string& receipt);
// Enrols the key; without a token if `token` is empty.
http::Request EnrolmentRequest(const crypto::PrivateKey& key, const std::string& token);

void SetHeader(http::Request& request, std::string_view name, const std::string& value);

}  // namespace fieldcost::ingest
