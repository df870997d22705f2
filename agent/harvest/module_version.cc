#include "agent/harvest/module_version.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <optional>

#include "common/base/build_id.h"
#include "common/base/file.h"
#include "common/base/read_at.h"
#include "common/wire/wire_limits.h"

namespace fieldcost::harvest {
namespace {

// The owner as stored in the database: "PACKAGE VERSION", or empty.
std::string TextOf(const PackageOwner& owner) {
  return owner.package.empty() ? std::string() : owner.package + ' ' + owner.version;
}

// nullopt for the format of earlier releases, which stored only the version.
std::optional<PackageOwner> OwnerIn(const std::string& text) {
  if (text.empty()) return PackageOwner{};
  const std::size_t space = text.find(' ');
  if (space == std::string::npos) return std::nullopt;
  return PackageOwner{.package = text.substr(0, space), .version = text.substr(space + 1)};
}

bool IsSameFile(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_ctim.tv_sec == b.st_ctim.tv_sec &&
         a.st_ctim.tv_nsec == b.st_ctim.tv_nsec;
}

// Opens the regular file at `path` for reading, and stats it.
UniqueFd OpenRegular(const std::string& path, struct stat& info) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.valid() || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return UniqueFd();
  return fd;
}

}  // namespace

Result<PackageOwner> ModuleVersions::Find(const stats::ApiKey& api,
                                          const std::string& untrusted_path) {
  if (untrusted_path.empty() || untrusted_path[0] != '/' || api.build_id.empty()) {
    return PackageOwner{};
  }
  // A library's file is named like its soname, or like the target of its link ("libz.so.1.2.13").
  const std::string stem = api.soname.substr(0, api.soname.find(".so"));
  if (!std::filesystem::path(untrusted_path).filename().string().starts_with(stem)) {
    return PackageOwner{};
  }
  struct stat info {};
  const UniqueFd fd = OpenRegular(untrusted_path, info);
  if (!fd.valid() || BuildIdIn(ReaderOf(fd)) != api.build_id) return PackageOwner{};
  // The change time: unlike the modification time, it is never set back.
  const spool::ModuleFile file{.path = untrusted_path,
                               .inode = info.st_ino,
                               .modified_ns = static_cast<std::uint64_t>(info.st_ctim.tv_sec) *
                                                  std::uint64_t{1'000'000'000} +
                                              static_cast<std::uint64_t>(info.st_ctim.tv_nsec)};
  FIELDCOST_ASSIGN(const std::optional<std::string> cached, database_->FindModuleVersion(file));
  const auto known = cached ? OwnerIn(*cached) : std::nullopt;
  if (known) return *known;
  auto owner = AskOwner(managers_, untrusted_path);
  struct stat after {};
  if (!owner || ::stat(untrusted_path.c_str(), &after) != 0 || !IsSameFile(info, after)) {
    return PackageOwner{};  // replaced meanwhile: the response may describe its successor
  }
  if (owner->version.size() > wire::kMaxVersionBytes) owner = PackageOwner{};
  FIELDCOST_TRY(database_->SaveModuleVersion(file, TextOf(*owner)));
  return *owner;
}

}  // namespace fieldcost::harvest
