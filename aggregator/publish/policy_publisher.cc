#include "aggregator/publish/policy_publisher.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "aggregator/publish/key_ring.h"
#include "common/base/file.h"

namespace fieldcost::publish {
namespace {

// By one of our roots, newest first: after a change of keys the last policy still has its version.
Result<wire::PolicyMetadata> VerifyByAnyRoot(const std::string& bytes,
                                             const std::filesystem::path& root_dir) {
  FIELDCOST_ASSIGN(const std::vector<wire::RootMetadata> roots, KeyRing::AllRoots(root_dir));
  auto policy = wire::VerifyPolicy(bytes, roots.front());
  for (std::size_t i = 1; !policy && i < roots.size(); ++i) {
    if (auto older = wire::VerifyPolicy(bytes, roots[i])) return older;
  }
  return policy;
}

}  // namespace

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
                                           std::chrono::seconds lifetime, const Clock& clock) {
  FIELDCOST_TRY(wire::ValidatePolicy(policy));
  FIELDCOST_ASSIGN(const wire::RootMetadata root,
                   KeyRing::NewestRoot(data_dir / "publish" / "root"));
  if (root.policy_keys.empty()) {
    return Fail(ErrorCode::kNotFound, "root version {} names no policy key; sign a newer one",
                root.version);
  }
  const std::filesystem::path key_path = data_dir / "keys" / kPolicyKey;
  FIELDCOST_ASSIGN(const auto key, KeyRing::LoadKey(key_path, root.policy_keys, root.version));
  const UniqueFd turn(::open(key_path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!turn.valid() || ::flock(turn.get(), LOCK_EX) != 0) {
    return ErrnoError("lock", key_path, errno);
  }
  FIELDCOST_ASSIGN(const auto published, PublishedPolicy(data_dir));
  policy.version = published ? published->version + 1 : 1;
  policy.published = clock.Now();
  policy.expires = policy.published + lifetime;
  FIELDCOST_TRY(
      WriteFileAtomically(data_dir / "publish" / kPolicyFile, wire::SignPolicy(policy, key), 0644));
  return policy;
}

}  // namespace fieldcost::publish
