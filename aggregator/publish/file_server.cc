#include "aggregator/publish/file_server.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "aggregator/publish/policy_publisher.h"
#include "common/base/ascii.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"
#include "common/http/conditional.h"
#include "common/wire/metadata.h"
#include "common/wire/policy.h"

namespace fieldcost::publish {
namespace {

constexpr char kRootPrefix[] = "/v1/metadata/root/";
constexpr char kSnapshotPrefix[] = "/v1/metadata/snapshot/";
constexpr char kFragmentPrefix[] = "/v1/fragments/";
constexpr char kForever[] = "public, max-age=31536000, immutable";
constexpr char kAskAgain[] = "no-cache";

struct Place {
  std::filesystem::path path;
  bool immutable = false;
};

bool IsHashName(std::string_view untrusted_name) {
  constexpr std::size_t kHashDigits = 64;
  return untrusted_name.size() == kHashDigits && AreAll(untrusted_name, IsLowerHexDigit);
}

std::optional<Place> PlaceOf(std::string_view untrusted_target,
                             const std::filesystem::path& directory, std::uint64_t root_version) {
  if (untrusted_target == wire::kTimestampPath) return Place{directory / "timestamp"};
  if (untrusted_target == wire::kPolicyPath) return Place{directory / kPolicyFile};
  if (untrusted_target == wire::kRootPath) {
    return Place{directory / "root" / std::to_string(root_version)};
  }
  const auto rest_after = [&](std::string_view prefix) -> std::optional<std::string_view> {
    if (!untrusted_target.starts_with(prefix)) return std::nullopt;
    return untrusted_target.substr(prefix.size());
  };
  if (const auto rest = rest_after(kRootPrefix)) {
    const auto version = ParseUint64(*rest);
    if (!version || std::to_string(*version) != *rest || *version > root_version) {
      return std::nullopt;
    }
    return Place{directory / "root" / std::to_string(*version), true};
  }
  for (const auto& [prefix, folder] :
       {std::pair{kSnapshotPrefix, "snapshots"}, std::pair{kFragmentPrefix, "fragments"}}) {
    const auto rest = rest_after(prefix);
    if (rest && IsHashName(*rest)) return Place{directory / folder / std::string(*rest), true};
  }
  return std::nullopt;
}

}  // namespace

http::Response FileServer::Handle(const http::Request& untrusted_request) const {
  const auto place = PlaceOf(untrusted_request.target, directory_, root_version_);
  if (!place) return http::NotFound();
  auto bytes = ReadFile(place->path, std::max(wire::kMaxFragmentBytes, wire::kMaxMetadataBytes));
  if (!bytes) return http::NotFound();
  std::string etag = '"' + crypto::HexSha256(*bytes) + '"';
  return http::ConditionalAnswer(untrusted_request,
                                 {.bytes = std::move(*bytes),
                                  .etag = std::move(etag),
                                  .type = "application/octet-stream",
                                  .cache_control = place->immutable ? kForever : kAskAgain});
}

}  // namespace fieldcost::publish
