#include "tools/cli/join/join_service.h"

#include "common/base/file.h"
#include "common/base/text.h"
#include "common/catalog/root_chain.h"
#include "common/crypto/sha256.h"
#include "common/http/client.h"
#include "common/http/proxy.h"

namespace fieldcost::cli {
namespace {

constexpr std::size_t kMaxAuthorityBytes = 1024 * 1024;
constexpr std::uint64_t kFirstRoot = 1;

// The root to pin: the one pinned already, or else the service's first one, so that all agents of
// the service sign their batches for the same root.
Result<std::string> RootToPin(http::Client& client, const settings::AgentPaths& paths,
                              const JoinRequest& request) {
  const auto pinned = ReadFile(paths.catalog_root_file, catalog::kMaxRootBytes);
  if (!pinned && pinned.error().code != ErrorCode::kNotFound) {
    return Within(pinned.error(), "read the pinned root");
  }
  std::uint64_t version = kFirstRoot;
  if (pinned) {
    const auto root = wire::VerifyPinnedRoot(*pinned);
    if (!root) return Within(root.error(), paths.catalog_root_file.string());
    version = root->version;
  }
  auto untrusted_root = catalog::Fetch(client, wire::RootVersionPath(version),
                                       catalog::kMaxRootBytes, "the service's root");
  if (!untrusted_root && untrusted_root.error().code == ErrorCode::kUnauthenticated &&
      request.ca_file.empty()) {
    return Fail(
        ErrorCode::kUnauthenticated,
        "{}; if the service has a certificate authority of its own, get its ca.pem from the "
        "operator and name it with --ca-file",
        untrusted_root.error().message);
  }
  if (!untrusted_root) return untrusted_root.error();
  if (pinned && *pinned != *untrusted_root) {
    return Fail(
        ErrorCode::kUnauthenticated,
        "{} does not have the root that is pinned in {}: that is another service's; to join "
        "this one, leave the other first (fieldcost agent leave), or remove that file",
        client.origin(), paths.catalog_root_file.string());
  }
  if (!request.root_sha256.empty() && FingerprintOf(*untrusted_root) != request.root_sha256) {
    return Fail(ErrorCode::kUnauthenticated,
                "the root of {} has SHA-256 {}, not {} as expected: this is another service, or an "
                "attacker answers in its place; ask the operator",
                client.origin(), FingerprintOf(*untrusted_root), request.root_sha256);
  }
  return untrusted_root;
}

}  // namespace

std::string FingerprintOf(const std::string& bytes) { return crypto::HexSha256(bytes); }

Result<ServiceOffer> AskService(const JoinRequest& request, const settings::AgentPaths& paths,
                                WallTime now) {
  if (!request.url.starts_with("https://")) {
    return Fail(ErrorCode::kInvalidArgument, "join {}: only https:// addresses are accepted",
                EscapeControl(request.url));
  }
  ServiceOffer offer;
  if (!request.ca_file.empty()) {
    FIELDCOST_ASSIGN(offer.authority, ReadFile(request.ca_file, kMaxAuthorityBytes));
  }
  FIELDCOST_ASSIGN(
      http::Client client,
      http::Client::Create({.url = request.url,
                            .ca_file = request.ca_file,
                            .max_response_bytes = catalog::kMaxRootBytes * 2,
                            .proxy_url = http::ChooseProxy(request.url, request.proxy)}));
  offer.url = client.origin();
  FIELDCOST_ASSIGN(offer.root, RootToPin(client, paths, request));
  FIELDCOST_ASSIGN(
      catalog::TrustedRoot newest,
      catalog::FollowRootChain(catalog::FetchFrom(client), {.pinned = offer.root}, now));
  offer.operated_by = std::move(newest.metadata.operated_by);
  return offer;
}

}  // namespace fieldcost::cli
