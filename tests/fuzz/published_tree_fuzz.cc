// A published tree with one file replaced: the first byte of the input chooses the file, the others
// are its content. Only the original content may pass.
#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "aggregator/publish/tree_check.h"
#include "common/base/check.h"
#include "common/crypto/sha256.h"
#include "common/wire/fragment.h"
#include "common/wire/metadata.h"
#include "common/wire/policy.h"

namespace {

using namespace fieldcost;

constexpr WallTime kExpires{std::chrono::days(20'007)};

class MemorySource : public publish::TreeSource {
 public:
  MemorySource() {
    const auto key = crypto::PrivateKey::FromSeed(std::string(32, 'k'));
    const std::string fragment = wire::EncodeFragment({}).value();
    const std::string root = wire::SignRoot({.version = 1,
                                             .expires = kExpires,
                                             .root_keys = {key.public_key()},
                                             .timestamp_keys = {key.public_key()},
                                             .snapshot_keys = {key.public_key()},
                                             .policy_keys = {key.public_key()},
                                             .operated_by = {}},
                                            {key});
    const std::string snapshot =
        wire::SignSnapshot({.version = 3,
                            .expires = kExpires,
                            .contribution_threshold = 5,
                            .fragments = {{crypto::Sha256(fragment), fragment.size(), 0}}},
                           key);
    files_[wire::RootVersionPath(1)] = root;
    files_[wire::kRootPath] = root;
    files_[wire::FragmentPath(crypto::Sha256(fragment))] = fragment;
    files_[wire::SnapshotPath(crypto::Sha256(snapshot))] = snapshot;
    files_[wire::kTimestampPath] = wire::SignTimestamp({.version = 3,
                                                        .expires = kExpires,
                                                        .snapshot_version = 3,
                                                        .snapshot_sha256 = crypto::Sha256(snapshot),
                                                        .snapshot_bytes = snapshot.size(),
                                                        .refresh_seconds = 3'600},
                                                       key);
    files_[wire::kPolicyPath] = wire::SignPolicy({.version = 1, .expires = kExpires}, key);
  }

  // Replaces a file; returns its name and whether its content is another.
  std::pair<std::string, bool> Replace(std::uint8_t which, std::string_view untrusted_bytes) {
    replaced_ = std::next(files_.begin(), which % static_cast<int>(files_.size()))->first;
    replacement_ = untrusted_bytes;
    return {replaced_, replacement_ != files_[replaced_]};
  }

  Result<std::string> Read(const std::string& path, std::size_t max_bytes) override {
    const auto found = files_.find(path);
    if (found == files_.end()) return Fail(ErrorCode::kNotFound, "{}: none", path);
    std::string bytes = path == replaced_ ? replacement_ : found->second;
    if (bytes.size() > max_bytes) return Fail(ErrorCode::kTooLarge, "{}: larger", path);
    return bytes;
  }
  Result<std::optional<publish::TreeListing>> List() override {
    return std::optional<publish::TreeListing>();
  }
  std::string NameOf(std::string_view path) const override { return std::string(path); }

 private:
  std::map<std::string, std::string> files_;
  std::string replaced_;
  std::string replacement_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static MemorySource source;
  const auto [path, is_other] =
      source.Replace(data[0], {reinterpret_cast<const char*>(data) + 1, size - 1});
  const auto report = publish::CheckTree(source, {}, WallTime(std::chrono::days(20'000)));
  FIELDCOST_CHECK(report.has_value());
  // Signatures can be encoded in more than one way, with fields that readers ignore.
  const auto name = wire::ParsePublicPath(path);
  const bool is_compared =
      name->path->is_named_by_its_hash || name->path->kind == wire::PublicKind::kNewestRoot;
  if (is_other && is_compared) FIELDCOST_CHECK(!report->problems.empty());
  if (!is_other) FIELDCOST_CHECK(report->problems.empty());
  return 0;
}
