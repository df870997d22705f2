#include "aggregator/publish/file_server.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "aggregator/publish/policy_publisher.h"
#include "common/base/ascii.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"
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

bool Matches(std::string_view untrusted_if_none_match, std::string_view etag) {
  return untrusted_if_none_match == "*" ||
         untrusted_if_none_match.find(etag) != std::string_view::npos;
}

struct Range {
  std::size_t first = 0;
  std::size_t end = 0;
};
enum class RangeKind { kNone, kSatisfiable, kUnsatisfiable };

// Returns the requested range if it may be sent, or "" for the whole file. Only GET has ranges (RFC
// 9110 §14.2). A range that completes an older download must be of the same bytes (§13.1.5): a weak
// ETag does not prove that, nor does a date, since we send none.
std::string_view RangeOf(const http::Request& untrusted_request, std::string_view etag) {
  if (untrusted_request.method != "GET") return "";
  const std::string_view condition = http::Find(untrusted_request.headers, "If-Range");
  if (!condition.empty() && condition != etag) return "";
  return http::Find(untrusted_request.headers, "Range");
}

// Parses one range of bytes (RFC 9110 §14.2); anything else is treated as no range.
RangeKind ParseRange(std::string_view untrusted_text, std::size_t size, Range& range) {
  constexpr std::string_view kUnit = "bytes=";
  if (!untrusted_text.starts_with(kUnit)) return RangeKind::kNone;
  const std::string_view spec = untrusted_text.substr(kUnit.size());
  const std::size_t dash = spec.find('-');
  if (dash == std::string_view::npos) return RangeKind::kNone;
  const auto first = ParseUint64(spec.substr(0, dash));
  const auto last = ParseUint64(spec.substr(dash + 1));
  if (dash == 0) {  // a suffix of this many bytes
    if (!last) return RangeKind::kNone;
    if (*last == 0 || size == 0) return RangeKind::kUnsatisfiable;
    range = {size - std::min<std::size_t>(*last, size), size};
    return RangeKind::kSatisfiable;
  }
  const bool open = dash + 1 == spec.size();
  if (!first || (!open && !last) || (!open && *last < *first)) return RangeKind::kNone;
  if (*first >= size) return RangeKind::kUnsatisfiable;
  range = {*first, open ? size : std::min<std::size_t>(*last, size - 1) + 1};
  return RangeKind::kSatisfiable;
}

// Adds the requested bytes of the file to `response`. REQUIRES: its headers are set.
http::Response WithBody(const http::Request& untrusted_request, std::string_view etag,
                        std::string bytes, http::Response response) {
  response.headers.emplace_back("Content-Type", "application/octet-stream");
  Range range;
  const std::size_t size = bytes.size();
  switch (ParseRange(RangeOf(untrusted_request, etag), size, range)) {
    case RangeKind::kNone:
      response.body = std::move(bytes);
      break;
    case RangeKind::kSatisfiable:
      response.status = 206;
      response.headers.emplace_back(
          "Content-Range", fmt::format("bytes {}-{}/{}", range.first, range.end - 1, size));
      response.body = bytes.substr(range.first, range.end - range.first);
      break;
    case RangeKind::kUnsatisfiable:
      response = http::JsonError(416, Name(ErrorCode::kInvalidArgument), "no such range");
      response.headers.emplace_back("Content-Range", fmt::format("bytes */{}", size));
      break;
  }
  return response;
}

}  // namespace

http::Response FileServer::Handle(const http::Request& untrusted_request) const {
  const auto place = PlaceOf(untrusted_request.target, directory_, root_version_);
  if (!place) return http::NotFound();
  if (untrusted_request.method != "GET" && untrusted_request.method != "HEAD") {
    return http::WrongMethod("GET, HEAD");
  }
  auto bytes = ReadFile(place->path, std::max(wire::kMaxFragmentBytes, wire::kMaxMetadataBytes));
  if (!bytes) return http::NotFound();

  const std::string digest = crypto::Sha256(*bytes);
  const std::string etag = '"' + HexEncode(digest) + '"';
  http::Response response;
  response.headers = {{"ETag", etag},
                      {"Cache-Control", place->immutable ? kForever : kAskAgain},
                      {"Accept-Ranges", "bytes"}};
  if (Matches(http::Find(untrusted_request.headers, "If-None-Match"), etag)) {
    response.status = 304;
    return response;
  }
  return WithBody(untrusted_request, etag, std::move(*bytes), std::move(response));
}

}  // namespace fieldcost::publish
