// The policy in force, and the version that the next one must exceed.
//
//   publish/policy       := signed metadata of role "policy" (common/wire/policy.cc)
//   publish/policy_floor := version in decimal "\n"
#include "aggregator/publish/policy_publisher.h"

#include <algorithm>

#include "aggregator/publish/key_ring.h"
#include "aggregator/publish/key_rotation.h"
#include "aggregator/publish/publish_limits.h"
#include "common/base/file.h"
#include "common/base/text.h"

namespace fieldcost::publish {
namespace {

// After a change of keys the last policy remains valid.
Result<wire::PolicyMetadata> VerifyByAnyRoot(const std::string& bytes,
                                             const std::filesystem::path& root_dir) {
  FIELDCOST_ASSIGN(const std::vector<wire::RootMetadata> roots, KeyRing::AllRoots(root_dir));
  return VerifyByAny(
      roots, [&](const wire::RootMetadata& root) { return wire::VerifyPolicy(bytes, root); });
}

constexpr std::size_t kMaxFloorBytes = 32;

// The highest version that an agent may have seen, as far as we know.
Result<std::uint64_t> LastVersion(const std::filesystem::path& data_dir) {
  FIELDCOST_ASSIGN(const auto published, PublishedPolicy(data_dir));
  const std::uint64_t version = published ? published->version : 0;
  const std::filesystem::path path = data_dir / "publish" / kPolicyFloorFile;
  const auto text = ReadFile(path, kMaxFloorBytes);
  if (!text && text.error().code == ErrorCode::kNotFound) return version;
  if (!text) return text.error();
  const auto floor = ParseUint64(std::string_view(*text).substr(0, text->find('\n')));
  if (!floor) return Fail(ErrorCode::kCorrupt, "{} does not hold a number", path.string());
  return std::max(version, *floor);
}

}  // namespace

Status LeavePolicyVersionGap(const std::filesystem::path& data_dir) {
  std::error_code error;
  std::uint64_t last = 0;
  if (std::filesystem::exists(data_dir / "publish" / kPolicyFile, error) ||
      std::filesystem::exists(data_dir / "publish" / kPolicyFloorFile, error)) {
    FIELDCOST_ASSIGN(last, LastVersion(data_dir));
  }
  return WriteFileAtomically(data_dir / "publish" / kPolicyFloorFile,
                             fmt::format("{}\n", last + kRestoredVersionGap), 0644);
}

Result<std::optional<wire::PolicyMetadata>> PublishedPolicy(const std::filesystem::path& data_dir) {
  const std::filesystem::path path = data_dir / "publish" / kPolicyFile;
  const auto bytes = ReadFile(path, wire::kMaxPolicyBytes);
  if (!bytes && bytes.error().code == ErrorCode::kNotFound) {
    return std::optional<wire::PolicyMetadata>();
  }
  if (!bytes) return bytes.error();
  auto policy = VerifyByAnyRoot(*bytes, data_dir / "publish" / "root");
  if (!policy) return Within(policy.error(), path.string());
  return std::optional(std::move(*policy));
}

Result<wire::PolicyMetadata> PublishPolicy(const std::filesystem::path& data_dir,
                                           wire::PolicyMetadata policy,
                                           std::chrono::seconds lifetime, const Clock& clock,
                                           const std::filesystem::path& offline_dir) {
  FIELDCOST_TRY(wire::ValidatePolicy(policy));
  FIELDCOST_ASSIGN(const wire::RootMetadata root,
                   KeyRing::NewestRoot(data_dir / "publish" / "root"));
  if (root.policy_keys.empty()) {
    return Fail(ErrorCode::kNotFound, "root version {} names no policy key; sign a newer one",
                root.version);
  }
  FIELDCOST_ASSIGN(const UniqueFd turn, LockKeys(data_dir));
  const std::filesystem::path keys_dir = offline_dir.empty() ? data_dir / "keys" : offline_dir;
  FIELDCOST_ASSIGN(const auto key,
                   KeyRing::LoadKey(keys_dir / kPolicyKey, root.policy_keys, root.version));
  FIELDCOST_ASSIGN(const std::uint64_t last, LastVersion(data_dir));
  policy.version = last + 1;
  policy.published = clock.Now();
  policy.expires = policy.published + lifetime;
  FIELDCOST_TRY(
      WriteFileAtomically(data_dir / "publish" / kPolicyFile, wire::SignPolicy(policy, key), 0644));
  return policy;
}

}  // namespace fieldcost::publish
