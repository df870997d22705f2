#include "common/catalog/root_chain.h"

#include <algorithm>

namespace fieldcost::catalog {
namespace {

constexpr std::string_view kOutdated =
    "the server's data is outdated, or an attacker withholds updates";

std::string Day(WallTime time) {
  const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(time));
  return fmt::format("{:04}-{:02}-{:02}", int{day.year()}, unsigned{day.month()},
                     unsigned{day.day()});
}

// Object stores answer 403 for files that do not exist if the client may not list the directory.
bool IsMissing(int status) { return status == 404 || status == 410 || status == 403; }

std::string NameOfRoot(std::uint64_t version) {
  return fmt::format("root metadata version {}", version);
}

// The root where the chain starts.
Result<TrustedRoot> Start(const RootChain& chain) {
  TrustedRoot root;
  root.bytes = chain.pinned;
  if (root.bytes.empty() && !chain.kept.empty()) root.bytes = chain.kept.begin()->second;
  auto metadata = wire::VerifyPinnedRoot(root.bytes);
  if (!metadata) return Within(metadata.error(), "verify the trusted root");
  root.metadata = std::move(*metadata);
  const auto kept = chain.kept.find(root.metadata.version);
  if (kept == chain.kept.end()) {
    if (chain.save) FIELDCOST_TRY(chain.save(root));
  } else if (kept->second != root.bytes) {
    return Fail(ErrorCode::kUnauthenticated,
                "{} was received with different content before: the pinned root was replaced, or "
                "belongs to another service; if this was intended, remove the catalogue",
                NameOfRoot(root.metadata.version));
  }
  return root;
}

// The root after `root`, verified.
Result<TrustedRoot> VerifyNext(const wire::RootMetadata& root, std::string untrusted_bytes) {
  const std::string what = NameOfRoot(root.version + 1);
  auto next = wire::VerifyRoot(untrusted_bytes, root.root_keys, root.root_threshold);
  if (!next) return Within(next.error(), what + " against the trusted root's keys");
  const auto by_own = wire::VerifyPinnedRoot(untrusted_bytes);
  if (!by_own) return Within(by_own.error(), what + " against its own keys");
  if (next->version != root.version + 1) {
    return Fail(ErrorCode::kUnauthenticated, "{} claims to be version {}", what, next->version);
  }
  return TrustedRoot{.metadata = std::move(*next), .bytes = std::move(untrusted_bytes)};
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

Error DifferentContent(std::string_view what, std::uint64_t version) {
  return Fail(
      ErrorCode::kUnauthenticated,
      "{} version {} was received with different content before: the server's keys are used "
      "for two histories, or the server was restored from a backup; ask its operator",
      what, version);
}

bool KeysDiffer(const std::vector<crypto::PublicKey>& left,
                const std::vector<crypto::PublicKey>& right) {
  const auto has_all = [](const auto& all, const auto& some) {
    return std::all_of(some.begin(), some.end(), [&all](const crypto::PublicKey& key) {
      return std::find(all.begin(), all.end(), key) != all.end();
    });
  };
  return !has_all(left, right) || !has_all(right, left);
}

Error NotServed(int status, std::string_view server, std::string_view path, std::string_view what) {
  if (IsMissing(status)) {
    return Fail(ErrorCode::kNotFound, "fetch {}: {} has no {} (status {})", what, server, path,
                status);
  }
  return Fail(ErrorCode::kUnavailable, "fetch {}: {} answered {}", what, server, status);
}

Result<std::string> Fetch(http::Client& client, const std::string& path, std::size_t max_bytes,
                          std::string_view what) {
  http::Request request;
  request.target = path;
  auto response = client.Send(request, max_bytes);
  if (!response) return Within(response.error(), fmt::format("fetch {}", what));
  if (response->status != 200) return NotServed(response->status, client.origin(), path, what);
  return std::move(response->body);
}

FetchFile FetchFrom(http::Client& client) {
  return [&client](const std::string& path, std::size_t max_bytes, std::string_view what) {
    return Fetch(client, path, max_bytes, what);
  };
}

Result<TrustedRoot> FollowRootChain(const FetchFile& fetch, const RootChain& chain, WallTime now) {
  FIELDCOST_ASSIGN(TrustedRoot root, Start(chain));
  int fetched = 0;
  for (;;) {
    const std::uint64_t version = root.metadata.version + 1;
    if (const auto kept = chain.kept.find(version); kept != chain.kept.end()) {
      // A damaged one is fetched again.
      if (auto next = VerifyNext(root.metadata, kept->second)) {
        root = std::move(*next);
        continue;
      }
    }
    if (fetched++ == kMaxRootUpdates) break;
    auto untrusted = fetch(wire::RootVersionPath(version), kMaxRootBytes, NameOfRoot(version));
    if (!untrusted && untrusted.error().code == ErrorCode::kNotFound) break;
    if (!untrusted) return untrusted.error();
    FIELDCOST_ASSIGN(root, VerifyNext(root.metadata, std::move(*untrusted)));
    if (chain.save) FIELDCOST_TRY(chain.save(root));
  }
  if (!chain.kept.empty()) {
    FIELDCOST_TRY(
        CheckNotLower("root metadata", root.metadata.version, chain.kept.rbegin()->first));
  }
  FIELDCOST_TRY(CheckExpiry("root metadata", root.metadata.expires, now));
  return root;
}

}  // namespace fieldcost::catalog
