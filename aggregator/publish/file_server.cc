#include "aggregator/publish/file_server.h"

#include <algorithm>
#include <array>
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
#include "common/http/request_target.h"
#include "common/http/routes.h"
#include "common/wire/metadata.h"
#include "common/wire/policy.h"

namespace fieldcost::publish {
namespace {

constexpr char kForever[] = "public, max-age=31536000, immutable";
constexpr char kAskAgain[] = "no-cache";

struct Place {
  std::filesystem::path path;
  bool immutable = false;
};

enum class NameKind { kFixed, kNewestRoot, kRootVersion, kHash };

struct Route {
  std::string_view path;
  const char* file;  // or the folder of the named file
  NameKind name;
  std::string_view method = "GET";  // http::ConditionalAnswer() also accepts HEAD
};
constexpr std::array kRoutes = std::to_array<Route>({
    {wire::kTimestampPath, "timestamp", NameKind::kFixed},
    {wire::kPolicyPath, kPolicyFile, NameKind::kFixed},
    {wire::kRootPath, "root", NameKind::kNewestRoot},
    {"/v1/metadata/root/*", "root", NameKind::kRootVersion},
    {"/v1/metadata/snapshot/*", "snapshots", NameKind::kHash},
    {"/v1/fragments/*", "fragments", NameKind::kHash},
});

bool IsHashName(std::string_view untrusted_name) {
  constexpr std::size_t kHashDigits = 64;
  return untrusted_name.size() == kHashDigits && AreAll(untrusted_name, IsLowerHexDigit);
}

bool IsRootVersion(std::string_view untrusted_name, std::uint64_t newest) {
  const auto version = ParseUint64(untrusted_name);
  return version && std::to_string(*version) == untrusted_name && *version <= newest;
}

std::optional<Place> PlaceOf(std::string_view untrusted_target,
                             const std::filesystem::path& directory, std::uint64_t root_version) {
  const auto path = http::PlainPath::Parse(untrusted_target);
  if (!path) return std::nullopt;
  // Only the address: an unknown file is 404 for every method.
  const Route* const route = http::FindRoute<Route>(kRoutes, "GET", path->parts()).route;
  if (route == nullptr) return std::nullopt;
  const std::filesystem::path file = directory / route->file;
  const std::string_view untrusted_name = path->parts().back();
  switch (route->name) {
    case NameKind::kFixed:
      return Place{file};
    case NameKind::kNewestRoot:
      return Place{file / std::to_string(root_version)};
    case NameKind::kRootVersion:
      if (!IsRootVersion(untrusted_name, root_version)) return std::nullopt;
      break;
    case NameKind::kHash:
      if (!IsHashName(untrusted_name)) return std::nullopt;
      break;
  }
  return Place{file / std::string(untrusted_name), true};
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
