#include "aggregator/operate/keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "aggregator/admin/admin_requests.h"
#include "aggregator/operate/ask_service.h"
#include "aggregator/publish/key_export.h"
#include "aggregator/publish/key_ring.h"
#include "aggregator/store/directory_lock.h"
#include "common/base/json_writer.h"
#include "common/base/log.h"
#include "common/base/text.h"
#include "common/base/time_text.h"
#include "common/crypto/sha256.h"

namespace fieldcost::aggregator {
namespace {

constexpr std::size_t kFingerprintBytes = 8;  // enough to compare by eye

// The beginning of the key's SHA-256.
std::string FingerprintOf(const crypto::PublicKey& key) {
  const std::string hash = crypto::Sha256(key.view());
  return HexEncode({hash.data(), kFingerprintBytes});
}

// Finds each key's file in keys/. Files that are not keys are left out.
std::map<crypto::PublicKey, std::filesystem::path> KeyFiles(const std::filesystem::path& keys_dir) {
  std::map<crypto::PublicKey, std::filesystem::path> files;
  std::error_code error;
  for (auto it = std::filesystem::directory_iterator(keys_dir, error);
       !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    if (it->path().extension() != ".key") continue;
    const auto key = crypto::PrivateKey::LoadOrCreate(it->path());
    if (key) files.emplace(key->public_key(), it->path());
  }
  return files;
}

std::vector<std::string> NamesOf(const std::vector<std::filesystem::path>& files) {
  std::vector<std::string> names;
  for (const std::filesystem::path& file : files) names.push_back(file.string());
  return names;
}

bool Runs(const std::filesystem::path& data_dir) {
  const auto lock = store::LockDirectory(data_dir);
  return !lock && lock.error().code == ErrorCode::kAlreadyExists;
}

}  // namespace

Result<std::string> ShowKeys(const Config& config, bool json, const Clock& clock) {
  const std::filesystem::path& data_dir = config.store.data_dir;
  FIELDCOST_ASSIGN(const wire::RootMetadata root,
                   publish::KeyRing::NewestRoot(data_dir / "publish" / "root"));
  const auto files = KeyFiles(data_dir / "keys");
  const bool expired = root.expires <= clock.Now();
  std::string text;
  JsonWriter writer;
  writer.Object().Member("root_version", root.version);
  writer.Member("expires", Rfc3339Text(root.expires)).Member("expired", expired);
  writer.Member("root_threshold", root.root_threshold).Key("keys").Array();
  for (const auto& [role, keys] :
       {std::pair{"root", &root.root_keys}, std::pair{"timestamp", &root.timestamp_keys},
        std::pair{"snapshot", &root.snapshot_keys}, std::pair{"policy", &root.policy_keys}}) {
    for (const crypto::PublicKey& key : *keys) {
      const auto file = files.find(key);
      const std::string path = file == files.end() ? "" : file->second.string();
      text += fmt::format("{:<10} {}  {}\n", role, FingerprintOf(key),
                          path.empty() ? "not here" : EscapeControl(path));
      writer.Object().Member("role", role).Member("key", key.Hex());
      writer.Member("fingerprint", FingerprintOf(key)).Key("file");
      (path.empty() ? writer.Null() : writer.Text(path)).EndObject();
    }
  }
  if (json) return writer.EndArray().EndObject().Take();
  return fmt::format(
      "root version {}, {} on {}; {} of {} root keys must sign the next one\n"
      "{:<10} {:<16}  FILE\n{}{}",
      root.version, expired ? "expired" : "expires", Rfc3339Text(root.expires), root.root_threshold,
      root.root_keys.size(), "ROLE", "FINGERPRINT", text,
      root.policy_keys.empty() ? "policy     none; keys rotate policy makes one\n" : "");
}

Result<Outcome> ChangeKeys(const Config& config, KeyChange change, publish::KeyRole role,
                           publish::RotationOptions signing, const Clock& clock) {
  signing.data_dir = config.store.data_dir;
  signing.operated_by = config.publish.operated_by;
  FIELDCOST_ASSIGN(const publish::RotatedKeys rotated,
                   change == KeyChange::kRenew ? publish::RenewRoot(signing, clock)
                                               : publish::RotateKeys(signing, role, clock));
  Outcome outcome;
  outcome.Add("root_version", rotated.root.version)
      .Add("expires", Rfc3339Text(rotated.root.expires));
  if (!rotated.key_files.empty()) {
    std::string names;
    for (const std::filesystem::path& file : rotated.key_files) {
      names += (names.empty() ? "" : " ") + file.string();
    }
    outcome.Add("made", names);
  }
  bool published = false;
  if (Runs(signing.data_dir)) {
    const auto answer = AskService(config, admin::kPublishPath, "{}");
    published = answer.has_value();
    if (!answer) {
      LogWarning(
          "cannot ask the running service to publish: {}; it signs with the new key from its next "
          "publication on (SIGUSR1 starts one)",
          answer.error().message);
    }
  }
  outcome.Add("published", published);
  return outcome;
}

Result<Outcome> ExportOffline(const Config& config, publish::KeyRole role,
                              const std::filesystem::path& directory) {
  FIELDCOST_ASSIGN(const publish::ExportedKeys exported,
                   publish::ExportOfflineKeys(config.store.data_dir, role, directory));
  if (exported.on_same_file_system) {
    LogWarning(
        "{} is on the file system of the data directory: anyone who obtains it has the keys, too; "
        "move them to a separate medium",
        directory.string());
  }
  Outcome outcome;
  outcome.Add("files", NamesOf(exported.copies))
      .Add("same_file_system", exported.on_same_file_system);
  return outcome;
}

}  // namespace fieldcost::aggregator
