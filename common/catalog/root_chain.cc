#include "common/catalog/root_chain.h"

namespace fieldcost::catalog {
namespace {

constexpr std::string_view kOutdated =
    "the server's data is outdated, or an attacker withholds updates";

std::string Day(WallTime time) {
  const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(time));
  return fmt::format("{:04}-{:02}-{:02}", int{day.year()}, unsigned{day.month()},
                     unsigned{day.day()});
}

}  // namespace

Status CheckExpiry(std::string_view what, WallTime expires, WallTime now) {
  if (now < expires) return {};
  return Fail(ErrorCode::kUnauthenticated, "{} expired on {}: {}", what, Day(expires), kOutdated);
}

Status CheckNotLower(std::string_view what, std::uint64_t untrusted_version, std::uint64_t seen) {
  if (untrusted_version >= seen) return {};
  return Fail(ErrorCode::kUnauthenticated,
              "{} has version {}, but version {} was seen before (rollback)", what,
              untrusted_version, seen);
}

Result<std::string> Fetch(http::Client& client, const std::string& path, std::size_t max_bytes,
                          std::string_view what) {
  http::Request request;
  request.target = path;
  auto response = client.Send(request);
  if (!response) return Within(response.error(), fmt::format("fetch {}", what));
  if (response->status == 404) {
    return Fail(ErrorCode::kNotFound, "fetch {}: {} has no {}", what, client.origin(), path);
  }
  if (response->status != 200) {
    return Fail(ErrorCode::kUnavailable, "fetch {}: {} answered {}", what, client.origin(),
                response->status);
  }
  if (response->body.size() > max_bytes) {
    return Fail(ErrorCode::kTooLarge, "{} has {} bytes, at most {} are allowed", what,
                response->body.size(), max_bytes);
  }
  return std::move(response->body);
}

Result<TrustedRoot> FollowRootChain(http::Client& client, std::string trusted_bytes, WallTime now) {
  auto trusted = wire::VerifyPinnedRoot(trusted_bytes);
  if (!trusted) return Within(trusted.error(), "verify the trusted root");
  TrustedRoot root{.metadata = std::move(*trusted), .bytes = std::move(trusted_bytes)};
  for (int step = 0; step < kMaxRootUpdates; ++step) {
    const std::uint64_t version = root.metadata.version + 1;
    const std::string what = fmt::format("root metadata version {}", version);
    auto untrusted = Fetch(client, wire::RootVersionPath(version), kMaxRootBytes, what);
    if (!untrusted && untrusted.error().code == ErrorCode::kNotFound) break;
    if (!untrusted) return untrusted.error();
    auto next = wire::VerifyRoot(*untrusted, root.metadata.root_keys, root.metadata.root_threshold);
    if (!next) return Within(next.error(), what + " against the trusted root's keys");
    auto by_own = wire::VerifyPinnedRoot(*untrusted);
    if (!by_own) return Within(by_own.error(), what + " against its own keys");
    if (next->version != version) {
      return Fail(ErrorCode::kUnauthenticated, "{} claims to be version {}", what, next->version);
    }
    root = {.metadata = std::move(*next), .bytes = std::move(*untrusted)};
  }
  FIELDCOST_TRY(CheckExpiry("root metadata", root.metadata.expires, now));
  return root;
}

}  // namespace fieldcost::catalog
