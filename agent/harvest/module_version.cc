#include "agent/harvest/module_version.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <system_error>

#include "agent/harvest/command.h"
#include "common/base/build_id.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/read_at.h"
#include "common/wire/limits.h"

namespace fieldcost::agent {
namespace {

constexpr char kQueryProgram[] = "/usr/bin/dpkg-query";
constexpr std::size_t kMaxQueryBytes = 16 * kKiB;
constexpr std::chrono::milliseconds kQueryLimit{10'000};
constexpr std::size_t kMaxPathBytes = 511;

bool IsPlain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return c > ' ' && c <= '~' && std::string_view("*?[]\\").find(c) == std::string_view::npos;
  });
}

void AddOnce(std::vector<std::string>& paths, std::string path) {
  if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(std::move(path));
}

// The package of the first line "package[:arch][, package...]: path"; empty if none. Lines about
// diversions start with "diversion by".
std::string PackageOf(std::string_view untrusted_output) {
  while (!untrusted_output.empty()) {
    const std::size_t end = std::min(untrusted_output.find('\n'), untrusted_output.size());
    const std::string_view line = untrusted_output.substr(0, end);
    untrusted_output.remove_prefix(std::min(end + 1, untrusted_output.size()));
    const std::size_t names_end = line.find(": ");
    if (names_end == std::string_view::npos || line.starts_with("diversion by ")) continue;
    const std::string_view names = line.substr(0, names_end);
    const std::string_view name = names.substr(0, names.find(','));
    if (!name.empty() && IsPlain(name) && name[0] != '-') return std::string(name);
  }
  return {};
}

// A package in the middle of an upgrade has files of one version and a record of another.
constexpr std::string_view kInstalled = "installed ";

// nullopt: not known now, which may change while the file stays.
std::optional<ModuleOwner> AskPackageDatabase(const std::string& path) {
  const std::vector<std::string> paths = PackagePaths(path);
  if (paths.empty()) return ModuleOwner{};
  std::vector<std::string> search = {kQueryProgram, "--search"};
  search.insert(search.end(), paths.begin(), paths.end());
  // Its exit status is 1 if one of the paths is unknown, so only the output counts.
  const auto found = RunCommand(search, kMaxQueryBytes, kQueryLimit);
  if (!found) {
    LogDebug("package of a library: {}", found.error().message);
    if (found.error().code == ErrorCode::kNotFound) return ModuleOwner{};
    return std::nullopt;
  }
  const std::string package = PackageOf(found->output);
  if (package.empty()) return ModuleOwner{};
  const auto shown = RunCommand(
      {kQueryProgram, "--show", "--showformat=${db:Status-Status} ${Version}\\n", package},
      kMaxQueryBytes, kQueryLimit);
  if (!shown || shown->exit_status != 0 || !shown->output.starts_with(kInstalled)) {
    return std::nullopt;
  }
  const std::string version =
      shown->output.substr(kInstalled.size(), shown->output.find('\n') - kInstalled.size());
  if (version.empty() || !IsPlain(version) || version.size() > wire::kMaxVersionBytes) {
    return ModuleOwner{};
  }
  return ModuleOwner{.package = package.substr(0, package.find(':')), .version = version};
}

// The owner as the database keeps it: "PACKAGE VERSION"; empty if there is none.
std::string TextOf(const ModuleOwner& owner) {
  return owner.package.empty() ? std::string() : owner.package + ' ' + owner.version;
}

// nullopt for what earlier releases kept, the version alone.
std::optional<ModuleOwner> OwnerIn(const std::string& text) {
  if (text.empty()) return ModuleOwner{};
  const std::size_t space = text.find(' ');
  if (space == std::string::npos) return std::nullopt;
  return ModuleOwner{.package = text.substr(0, space), .version = text.substr(space + 1)};
}

bool IsSameFile(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_ctim.tv_sec == b.st_ctim.tv_sec &&
         a.st_ctim.tv_nsec == b.st_ctim.tv_nsec;
}

// The regular file at `path`, open to be read, and what it is.
UniqueFd OpenRegular(const std::string& path, struct stat& info) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.valid() || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return UniqueFd();
  return fd;
}

}  // namespace

std::vector<std::string> PackagePaths(const std::string& untrusted_path) {
  if (untrusted_path.empty() || untrusted_path[0] != '/' || untrusted_path.size() > kMaxPathBytes ||
      !IsPlain(untrusted_path)) {
    return {};
  }
  std::vector<std::string> paths = {untrusted_path};
  std::error_code error;
  const std::string resolved = std::filesystem::canonical(untrusted_path, error).string();
  if (!error && IsPlain(resolved)) AddOnce(paths, resolved);
  for (std::size_t i = 0, count = paths.size(); i < count; ++i) {
    const std::string path = paths[i];
    AddOnce(paths, path.starts_with("/usr/") ? path.substr(4) : "/usr" + path);
  }
  return paths;
}

Result<ModuleOwner> ModuleVersions::Find(const stats::ApiKey& api,
                                         const std::string& untrusted_path) {
  if (untrusted_path.empty() || untrusted_path[0] != '/' || api.build_id.empty()) {
    return ModuleOwner{};
  }
  // A library goes by its soname or by the file that the soname links to ("libz.so.1.2.13").
  const std::string stem = api.soname.substr(0, api.soname.find(".so"));
  if (!std::filesystem::path(untrusted_path).filename().string().starts_with(stem)) {
    return ModuleOwner{};
  }
  struct stat info {};
  const UniqueFd fd = OpenRegular(untrusted_path, info);
  if (!fd.valid() || BuildIdIn(ReaderOf(fd)) != api.build_id) return ModuleOwner{};
  // The change time, which unlike that of modification is never set to an older one.
  const ModuleFile file{.path = untrusted_path,
                        .inode = info.st_ino,
                        .modified_ns = static_cast<std::uint64_t>(info.st_ctim.tv_sec) *
                                           std::uint64_t{1'000'000'000} +
                                       static_cast<std::uint64_t>(info.st_ctim.tv_nsec)};
  FIELDCOST_ASSIGN(const std::optional<std::string> cached, database_->FindModuleVersion(file));
  const auto known = cached ? OwnerIn(*cached) : std::nullopt;
  if (known) return *known;
  const auto owner = AskPackageDatabase(untrusted_path);
  struct stat after {};
  if (!owner || ::stat(untrusted_path.c_str(), &after) != 0 || !IsSameFile(info, after)) {
    return ModuleOwner{};  // replaced meanwhile: the answer may be about its successor
  }
  FIELDCOST_TRY(database_->SaveModuleVersion(file, TextOf(*owner)));
  return *owner;
}

}  // namespace fieldcost::agent
