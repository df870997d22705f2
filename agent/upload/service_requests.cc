#include "agent/upload/service_requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "common/base/file.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"
#include "common/http/proxy.h"
#include "common/wire/batch.h"
#include "common/wire/metadata.h"
#include "common/wire/wire_limits.h"
#include "common/wire/wire_requests.h"

namespace fieldcost::upload {
namespace {

constexpr char kTokenName[] = "enrolment_token";

http::Request Envelope(const char* target, const std::string& service,
                       const crypto::PrivateKey& key, wire::Epoch epoch,
                       std::string_view signing_input) {
  return {.method = "POST",
          .target = target,
          .headers = {{wire::kServiceHeader, service},
                      {wire::kAgentHeader, key.public_key().Hex()},
                      {wire::kEpochHeader, fmt::format("{}", epoch.value())},
                      {wire::kSignatureHeader, HexEncode(key.Sign(signing_input))}},
          .body = {},
          .peer_address = {}};
}

void AddBatch(const spool::SpooledBatch& batch, http::Request& request) {
  request.headers.emplace_back("Content-Type", wire::kBatchContentType);
  request.headers.emplace_back(wire::kSequenceHeader, fmt::format("{}", batch.sequence));
  request.body = batch.body;
}

}  // namespace

Result<http::Client> ConnectToService(const settings::AgentConfig& config,
                                      std::function<Status()> may_go_on,
                                      std::size_t max_response_bytes) {
  return http::Client::Create({.url = config.url,
                               .ca_file = config.ca_file,
                               .max_response_bytes = max_response_bytes,
                               .proxy_url = http::ChooseProxy(config.url, config.proxy),
                               .may_go_on = std::move(may_go_on)});
}

Result<std::string> PinnedRootFingerprint(const settings::AgentPaths& paths) {
  const auto pinned = ReadFile(paths.catalog_root_file, wire::kMaxMetadataBytes);
  if (!pinned && pinned.error().code == ErrorCode::kNotFound) {
    return Fail(ErrorCode::kNotFound,
                "catalog_root, which identifies the service that batches are signed for, is "
                "missing: get it from the service's operator, and put it at {}",
                paths.catalog_root_file.string());
  }
  if (!pinned) return Within(pinned.error(), "read the pinned root of the service");
  if (const auto root = wire::VerifyPinnedRoot(*pinned); !root) {
    return Within(root.error(),
                  fmt::format("the pinned root {}", paths.catalog_root_file.string()));
  }
  return wire::RootFingerprint(*pinned);
}

Error TryLater(std::string_view what, const http::Client& client,
               const http::Response& untrusted_response) {
  return Fail(ErrorCode::kUnavailable, "{} {}: {}", what, client.origin(),
              http::DescribeAnswer(untrusted_response));
}

Error NotFromAggregator(std::string_view what, const http::Client& client, const Error& why) {
  return Within(why,
                fmt::format("{} {}: the response is not the aggregator's", what, client.origin()));
}

http::Request MakeBatchRequest(const std::string& service, const crypto::PrivateKey& key,
                               const spool::SpooledBatch& batch) {
  http::Request request =
      Envelope(wire::kBatchesPath, service, key, batch.epoch,
               wire::BatchSigningInput(service, key.public_key().view(), batch.epoch,
                                       wire::Sequence(batch.sequence), crypto::Sha256(batch.body)));
  AddBatch(batch, request);
  return request;
}

http::Request MakeWithdrawalRequest(const std::string& service, const crypto::PrivateKey& key,
                                    const spool::SpooledBatch& batch) {
  http::Request request = Envelope(
      wire::kWithdrawalsPath, service, key, batch.epoch,
      wire::WithdrawalSigningInput(service, key.public_key().view(), batch.epoch,
                                   wire::Sequence(batch.sequence), crypto::Sha256(batch.body)));
  AddBatch(batch, request);
  if (!batch.receipt.empty()) {
    request.headers.emplace_back(wire::kReceiptHeader, batch.receipt);
  }
  return request;
}

http::Request MakeEnrolmentRequest(const std::string& service, const crypto::PrivateKey& key,
                                   wire::Epoch epoch, std::string_view token) {
  http::Request request = Envelope(
      wire::kEnrolmentsPath, service, key, epoch,
      wire::EnrolmentSigningInput(service, key.public_key().view(), epoch, crypto::Sha256(token)));
  if (!token.empty()) request.headers.emplace_back(wire::kTokenHeader, token);
  return request;
}

Result<std::string> LoadEnrolmentToken(const settings::AgentPaths& paths) {
  const auto text = ReadFile(paths.state_dir / kTokenName, wire::kMaxTokenBytes + 2);
  if (text) return std::string(Trim(*text));
  if (text.error().code == ErrorCode::kNotFound) return std::string();
  return Within(text.error(), "read the enrolment token");
}

Status SaveEnrolmentToken(const settings::AgentPaths& paths, std::string_view untrusted_token) {
  const std::string_view token = Trim(untrusted_token);
  const bool is_plain =
      std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c <= '~'; });
  if (token.empty() || token.size() > wire::kMaxTokenBytes || !is_plain) {
    return Fail(ErrorCode::kInvalidArgument,
                "an enrolment token is one word of printable ASCII of 1 to {} characters",
                wire::kMaxTokenBytes);
  }
  FIELDCOST_TRY(MakeDirectories(paths.state_dir, 0700));
  return WriteFileAtomically(paths.state_dir / kTokenName, std::string(token) + "\n", 0600);
}

}  // namespace fieldcost::upload
