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

// An agent of the tests: makes valid batches and the signed requests that carry them.

// The host of the services of the tests, and what their agents have pinned: requests are signed for
// both.
inline constexpr char kTestHost[] = "localhost";
inline constexpr char kTestRoot[] = "5e0c";
// The fingerprint of another root, that of a real service; nullopt: kTestRoot again.
void SetTestRoot(std::optional<std::string> fingerprint);
// The same, of the service with this data directory.
void SetTestRootOf(const std::filesystem::path& data_dir);
// As in the header.
std::string TestService();

// The epoch of their requests: today's, unless a test with a clock of its own has set another.
wire::Epoch TestEpoch();
void SetTestEpoch(std::optional<wire::Epoch> epoch);
using wire::EpochOfWeek;

wire::BatchRow TestRow(unsigned number, std::uint32_t week);
wire::BatchContent TestContent(unsigned rows, std::uint32_t week);

// The batch as an agent of that format version sends it: its first field.
std::string OfVersion(const std::string& body, std::uint32_t version);

// A request as the agent's uploader sends it.
http::Request SignedRequest(const crypto::PrivateKey& key, std::uint64_t sequence,
                            const std::string& body);
// The same, of a content that encodes.
http::Request SignedRequest(const crypto::PrivateKey& key, std::uint64_t sequence,
                            const wire::BatchContent& content);

// Takes the batch away again; without a receipt if it is empty.
http::Request WithdrawalRequest(const crypto::PrivateKey& key, std::uint64_t sequence,
                                const std::string& body, const std::string& receipt);
// Enrols; without a token if it is empty.
http::Request EnrolmentRequest(const crypto::PrivateKey& key, const std::string& token);

void SetHeader(http::Request& request, std::string_view name, const std::string& value);

}  // namespace fieldcost::ingest
