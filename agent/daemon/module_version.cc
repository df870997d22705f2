#include "agent/daemon/module_version.h"

#include <sys/stat.h>

#include <algorithm>
#include <system_error>

#include "agent/daemon/command.h"
#include "common/base/log.h"
#include "common/wire/limits.h"

namespace fieldcost::daemon {
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

std::string AskPackageDatabase(const std::string& path) {
  const std::vector<std::string> paths = PackagePaths(path);
  if (paths.empty()) return {};
  std::vector<std::string> search = {kQueryProgram, "--search"};
  search.insert(search.end(), paths.begin(), paths.end());
  // Its exit status is 1 if one of the paths is unknown, so only the output counts.
  const auto found = RunCommand(search, kMaxQueryBytes, kQueryLimit);
  if (!found) {
    LogDebug("package of a library: {}", found.error().message);
    return {};
  }
  const std::string package = PackageOf(found->output);
  if (package.empty()) return {};
  const auto shown = RunCommand({kQueryProgram, "--show", "--showformat=${Version}\\n", package},
                                kMaxQueryBytes, kQueryLimit);
  if (!shown || shown->exit_status != 0) return {};
  const std::string version = shown->output.substr(0, shown->output.find('\n'));
  if (!IsPlain(version) || version.size() > wire::kMaxVersionBytes) return {};
  return version;
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

Result<std::string> ModuleVersions::Find(std::string_view soname,
                                         const std::string& untrusted_path) {
  struct stat info {};
  if (untrusted_path.empty() || untrusted_path[0] != '/' ||
      ::stat(untrusted_path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return std::string();
  }
  // A library goes by its soname or by the file that the soname links to ("libz.so.1.2.13").
  const std::string stem(soname.substr(0, soname.find(".so")));
  if (!std::filesystem::path(untrusted_path).filename().string().starts_with(stem)) {
    return std::string();
  }
  const ModuleFile file{.path = untrusted_path,
                        .inode = info.st_ino,
                        .modified_ns = static_cast<std::uint64_t>(info.st_mtim.tv_sec) *
                                           std::uint64_t{1'000'000'000} +
                                       static_cast<std::uint64_t>(info.st_mtim.tv_nsec)};
  FIELDCOST_ASSIGN(const std::optional<std::string> cached, database_->FindModuleVersion(file));
  if (cached) return *cached;
  const std::string version = AskPackageDatabase(untrusted_path);
  FIELDCOST_TRY(database_->SaveModuleVersion(file, version));
  return version;
}

}  // namespace fieldcost::daemon
