#include "common/wire/public_tree.h"

#include <fmt/format.h>

#include "common/base/ascii.h"
#include "common/base/text.h"

namespace fieldcost::wire {
namespace {

constexpr std::string_view FolderOf(PublicKind kind) {
  return kPublicPaths[static_cast<std::size_t>(kind)].folder;
}
static_assert([] {
  for (std::size_t i = 0; i < kPublicPaths.size(); ++i) {
    if (kPublicPaths[i].kind != static_cast<PublicKind>(i)) return false;
  }
  return true;
}());

// Versions have a single spelling, and the first is 1.
std::optional<std::uint64_t> VersionOf(std::string_view untrusted_name) {
  const auto version = ParseUint64(untrusted_name);
  if (!version || *version == 0 || std::to_string(*version) != untrusted_name) return std::nullopt;
  return version;
}

}  // namespace

std::string RootVersionPath(std::uint64_t version) {
  return fmt::format("{}{}", FolderOf(PublicKind::kRoot), version);
}

std::string SnapshotPath(std::string_view sha256) {
  return fmt::format("{}{}", FolderOf(PublicKind::kSnapshot), HexEncode(sha256));
}

std::string FragmentPath(std::string_view sha256) {
  return fmt::format("{}{}", FolderOf(PublicKind::kFragment), HexEncode(sha256));
}

std::optional<PublicName> ParsePublicPath(std::string_view untrusted_path) {
  for (const PublicPath& path : kPublicPaths) {
    if (!untrusted_path.starts_with(path.folder)) continue;
    const std::string_view untrusted_name = untrusted_path.substr(path.folder.size());
    if (!path.name.empty()) {
      if (untrusted_name == path.name) return PublicName{&path, path.name};
    } else if (path.is_named_by_its_hash) {
      if (IsHexSha256(untrusted_name)) return PublicName{&path, untrusted_name};
    } else if (const auto version = VersionOf(untrusted_name)) {
      return PublicName{&path, untrusted_name, *version};
    }
  }
  return std::nullopt;
}

}  // namespace fieldcost::wire
