#include "aggregator/publish/tree_check.h"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <utility>

#include "common/base/text.h"
#include "common/base/time_text.h"
#include "common/crypto/sha256.h"
#include "common/wire/fragment.h"
#include "common/wire/metadata.h"
#include "common/wire/policy.h"
#include "common/wire/public_tree.h"

namespace fieldcost::publish {
namespace {

// More changes of keys than any service will make.
constexpr std::uint64_t kMaxRoots = 4'096;

// Whether the whole check must end: the problem is not one of this file.
bool IsOfSource(const Error& error) {
  return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kDeadlineExceeded ||
         error.code == ErrorCode::kUnauthenticated;
}

class TreeCheck {
 public:
  TreeCheck(TreeSource& source, const TreeCheckOptions& options, WallTime now)
      : source_(source), options_(options), now_(now) {}

  Result<TreeReport> Run() {
    FIELDCOST_TRY(CheckRoots());
    if (root_) {
      FIELDCOST_TRY(CheckPolicy());
      FIELDCOST_TRY(CheckTimestamp());
    }
    if (snapshot_) FIELDCOST_TRY(CheckFragments());
    FIELDCOST_TRY(CheckUnlisted());
    return report_;
  }

 private:
  enum class Absent { kIsProblem, kIsFine };

  void Note(std::string_view path, std::string why) {
    std::string file = source_.NameOf(path);
    // Errors of reading name the file themselves.
    if (why.starts_with(file + ": ")) why.erase(0, file.size() + 2);
    report_.problems.push_back({std::move(file), std::move(why)});
  }

  // The file; nullopt if it cannot be used, which is then noted.
  Result<std::optional<std::string>> Read(const std::string& path, std::size_t max_bytes,
                                          Absent absent = Absent::kIsProblem);
  Status CheckRoots();
  // Notes why a root does not follow its predecessor; returns whether it does.
  bool AcceptRoot(std::uint64_t version, const std::string& untrusted_bytes);
  Status CheckNewestRoot(const std::string& newest);
  void CheckExpiry(const std::string& path, WallTime expires);
  Status CheckPolicy();
  Status CheckTimestamp();
  Status CheckSnapshot(const wire::TimestampMetadata& timestamp);
  Status CheckFragments();
  Status CheckFragment(std::uint32_t index, const wire::FragmentReference& wanted);
  void CheckRows(const std::string& path, std::uint32_t index,
                 const wire::FragmentReference& wanted, const std::string& untrusted_bytes);
  Status CheckUnlisted();
  Status CheckName(const std::string& path);

  TreeSource& source_;
  const TreeCheckOptions& options_;
  const WallTime now_;
  TreeReport report_;
  std::optional<wire::RootMetadata> root_;  // the newest that is valid
  std::optional<wire::SnapshotMetadata> snapshot_;
  std::set<std::string> read_;  // paths
  bool has_pinned_ = false;
};

Result<std::optional<std::string>> TreeCheck::Read(const std::string& path, std::size_t max_bytes,
                                                   Absent absent) {
  auto untrusted_bytes = source_.Read(path, max_bytes);
  if (untrusted_bytes) {
    ++report_.files;
    report_.bytes += untrusted_bytes->size();
    read_.insert(path);
    return std::optional(std::move(*untrusted_bytes));
  }
  const Error& error = untrusted_bytes.error();
  if (IsOfSource(error)) return error;
  if (error.code != ErrorCode::kNotFound) {
    Note(path, error.message);
  } else if (absent == Absent::kIsProblem) {
    Note(path, "it is missing");
  }
  return std::optional<std::string>();
}

bool TreeCheck::AcceptRoot(std::uint64_t version, const std::string& untrusted_bytes) {
  const std::string path = wire::RootVersionPath(version);
  auto root = wire::VerifyPinnedRoot(untrusted_bytes);
  if (!root) {
    Note(path, root.error().message);
    return false;
  }
  if (root->version != version) {
    Note(path, fmt::format("it is version {}", root->version));
    return false;
  }
  if (root_) {
    const auto by_last = wire::VerifyRoot(untrusted_bytes, root_->root_keys, root_->root_threshold);
    if (!by_last) {
      Note(path, fmt::format("version {} does not vouch for it: {}", root_->version,
                             by_last.error().message));
      return false;
    }
  }
  has_pinned_ |= untrusted_bytes == options_.pinned_root ||
                 crypto::HexSha256(untrusted_bytes) == options_.pinned_sha256;
  root_ = std::move(*root);
  return true;
}

Status TreeCheck::CheckRoots() {
  std::string newest;
  for (std::uint64_t version = 1; version <= kMaxRoots; ++version) {
    const Absent absent = version == 1 ? Absent::kIsProblem : Absent::kIsFine;
    FIELDCOST_ASSIGN(auto untrusted_bytes,
                     Read(wire::RootVersionPath(version), wire::kMaxMetadataBytes, absent));
    if (!untrusted_bytes || !AcceptRoot(version, *untrusted_bytes)) break;
    newest = std::move(*untrusted_bytes);
  }
  if (!root_) return {};
  report_.root_version = root_->version;
  const bool is_pinned = !options_.pinned_root.empty() || !options_.pinned_sha256.empty();
  if (is_pinned && !has_pinned_) {
    Note(wire::RootVersionPath(1), "neither it nor a root that follows is the given one");
  }
  CheckExpiry(wire::RootVersionPath(root_->version), root_->expires);
  return CheckNewestRoot(newest);
}

Status TreeCheck::CheckNewestRoot(const std::string& newest) {
  FIELDCOST_ASSIGN(const auto untrusted_bytes, Read(wire::kRootPath, wire::kMaxMetadataBytes));
  if (untrusted_bytes && *untrusted_bytes != newest) {
    Note(wire::kRootPath, fmt::format("it is not version {}, the newest", root_->version));
  }
  return {};
}

void TreeCheck::CheckExpiry(const std::string& path, WallTime expires) {
  if (expires <= now_) Note(path, "it has expired: " + Rfc3339Text(expires));
}

Status TreeCheck::CheckPolicy() {
  FIELDCOST_ASSIGN(const auto untrusted_bytes,
                   Read(wire::kPolicyPath, wire::kMaxPolicyBytes, Absent::kIsFine));
  if (!untrusted_bytes) return {};
  const auto policy = wire::VerifyPolicy(*untrusted_bytes, *root_);
  if (!policy) {
    Note(wire::kPolicyPath, policy.error().message);
    return {};
  }
  report_.policy_version = policy->version;
  CheckExpiry(wire::kPolicyPath, policy->expires);
  return {};
}

Status TreeCheck::CheckTimestamp() {
  FIELDCOST_ASSIGN(const auto untrusted_bytes, Read(wire::kTimestampPath, wire::kMaxMetadataBytes));
  if (!untrusted_bytes) return {};
  const auto timestamp = wire::VerifyTimestamp(*untrusted_bytes, *root_);
  if (!timestamp) {
    Note(wire::kTimestampPath, timestamp.error().message);
    return {};
  }
  CheckExpiry(wire::kTimestampPath, timestamp->expires);
  return CheckSnapshot(*timestamp);
}

Status TreeCheck::CheckSnapshot(const wire::TimestampMetadata& timestamp) {
  const std::string path = wire::SnapshotPath(timestamp.snapshot_sha256);
  FIELDCOST_ASSIGN(const auto untrusted_bytes, Read(path, wire::kMaxMetadataBytes));
  if (!untrusted_bytes) return {};
  if (crypto::Sha256(*untrusted_bytes) != timestamp.snapshot_sha256) {
    Note(path, "its name is not the hash of its content");
    return {};
  }
  if (untrusted_bytes->size() != timestamp.snapshot_bytes) {
    Note(path, fmt::format("it has {} bytes, but the timestamp announces {}",
                           untrusted_bytes->size(), timestamp.snapshot_bytes));
  }
  auto snapshot = wire::VerifySnapshot(*untrusted_bytes, *root_);
  if (!snapshot) {
    Note(path, snapshot.error().message);
    return {};
  }
  if (snapshot->version != timestamp.snapshot_version) {
    Note(path, fmt::format("it has version {}, but the timestamp announces {}", snapshot->version,
                           timestamp.snapshot_version));
  }
  CheckExpiry(path, snapshot->expires);
  report_.version = snapshot->version;
  snapshot_ = std::move(*snapshot);
  return {};
}

void TreeCheck::CheckRows(const std::string& path, std::uint32_t index,
                          const wire::FragmentReference& wanted,
                          const std::string& untrusted_bytes) {
  const auto rows = wire::DecodeFragment(untrusted_bytes);
  if (!rows) return Note(path, rows.error().message);
  report_.rows += rows->size();
  if (rows->size() != wanted.row_count) {
    Note(path, fmt::format("it has {} rows, but the snapshot announces {}", rows->size(),
                           wanted.row_count));
  }
  for (const stats::StatRow& row : *rows) {
    const stats::ApiKey& api = row.key.api;
    if (wire::FragmentIndexOf(api.soname, api.symbol, snapshot_->fragment_bits) == index) continue;
    Note(path, fmt::format("fragment {} holds {}, which belongs to another one", index,
                           stats::DisplayName(api)));
    return;
  }
}

Status TreeCheck::CheckFragment(std::uint32_t index, const wire::FragmentReference& wanted) {
  const std::string path = wire::FragmentPath(wanted.sha256);
  // Fragments without rows are the same file.
  if (read_.contains(path) && wanted.row_count == 0) return {};
  // The snapshot's decoder limits the size.
  FIELDCOST_ASSIGN(const auto untrusted_bytes,
                   Read(path, static_cast<std::size_t>(wanted.size_bytes)));
  if (!untrusted_bytes) return {};
  if (crypto::Sha256(*untrusted_bytes) != wanted.sha256) {
    Note(path, "its name is not the hash of its content");
    return {};
  }
  if (untrusted_bytes->size() != wanted.size_bytes) {
    Note(path, fmt::format("it has {} bytes, but the snapshot announces {}",
                           untrusted_bytes->size(), wanted.size_bytes));
  }
  CheckRows(path, index, wanted, *untrusted_bytes);
  return {};
}

Status TreeCheck::CheckFragments() {
  for (std::uint32_t index = 0; index < snapshot_->fragments.size(); ++index) {
    FIELDCOST_TRY(CheckFragment(index, snapshot_->fragments[index]));
    ++report_.fragments;
    if (options_.progress) options_.progress(report_.fragments, snapshot_->fragments.size());
  }
  return {};
}

Status TreeCheck::CheckName(const std::string& path) {
  const auto parsed = wire::ParsePublicPath(path);
  FIELDCOST_ASSIGN(const auto untrusted_bytes, Read(path, parsed->path->max_bytes));
  if (untrusted_bytes && parsed->path->is_named_by_its_hash &&
      crypto::HexSha256(*untrusted_bytes) != parsed->name) {
    Note(path, "its name is not the hash of its content");
  }
  return {};
}

Status TreeCheck::CheckUnlisted() {
  FIELDCOST_ASSIGN(const auto listing, source_.List());
  if (!listing) return {};
  for (const std::string& name : listing->files) {
    const std::string path = '/' + name;
    if (read_.contains(path)) continue;
    ++report_.unlisted;
    FIELDCOST_TRY(CheckName(path));
  }
  report_.unlisted += listing->temporary.size();
  for (const std::string& name : listing->unknown) {
    Note('/' + name, "it is not a file of a published tree");
  }
  return {};
}

}  // namespace

Result<TreeReport> CheckTree(TreeSource& source, const TreeCheckOptions& options, WallTime now) {
  return TreeCheck(source, options, now).Run();
}

}  // namespace fieldcost::publish
