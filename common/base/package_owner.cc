#include "common/base/package_owner.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "common/base/log.h"
#include "common/base/run_program.h"
#include "common/base/units.h"

namespace fieldcost {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxQueryBytes = 16 * kKiB;
constexpr std::chrono::milliseconds kQueryLimit{10'000};
constexpr std::size_t kMaxPathBytes = 511;
// Required, because in the middle of an upgrade a package's files and its record have different
// versions.
constexpr std::string_view kInstalled = "installed ";

bool IsPlain(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return c > ' ' && c <= '~' && std::string_view("*?[]\\").find(c) == std::string_view::npos;
  });
}

void AddOnce(std::vector<std::string>& paths, std::string path) {
  if (std::ranges::find(paths, path) == paths.end()) paths.push_back(std::move(path));
}

std::string FirstLine(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

// Returns the output of a query; nullopt if it is currently unavailable. The exit status is 1 if
// one of the paths is unknown, so only the output counts.
std::optional<std::string> OutputOf(const std::vector<std::string>& query) {
  auto result = RunCommand(query, kMaxQueryBytes, kQueryLimit);
  if (result) return std::move(result->output);
  LogDebug("package of a library: {}", result.error().message);
  if (result.error().code == ErrorCode::kNotFound) return std::string();
  return std::nullopt;
}

std::optional<PackageOwner> AskDpkg(const std::string& program,
                                    const std::vector<std::string>& paths) {
  std::vector<std::string> search = {program, "--search"};
  search.insert(search.end(), paths.begin(), paths.end());
  const auto found = OutputOf(search);
  if (!found) return std::nullopt;
  const std::string package = PackageIn(*found);
  if (package.empty()) return PackageOwner{};
  const auto shown =
      OutputOf({program, "--show", "--showformat=${db:Status-Status} ${Version}\\n", package});
  if (!shown || !shown->starts_with(kInstalled)) return std::nullopt;
  std::string version = FirstLine(*shown).substr(kInstalled.size());
  if (!IsPlain(version)) return PackageOwner{};
  return PackageOwner{.package = package.substr(0, package.find(':')),
                      .version = std::move(version)};
}

std::optional<PackageOwner> AskRpm(const std::string& program, const std::string& path) {
  const auto found = OutputOf({program, "-qf", "--queryformat", "%{NAME} %{EVR}\\n", path});
  if (!found) return std::nullopt;
  return RpmOwnerIn(*found);
}

// Without a database, a query would create an empty one: on Debian, in the user's home.
bool UsesRpm(const PackageManagers& managers) {
  return ::access(managers.rpm.c_str(), X_OK) == 0 &&
         std::ranges::any_of(managers.rpm_databases, [](const fs::path& file) {
           return ::access(file.c_str(), F_OK) == 0;
         });
}

}  // namespace

std::optional<PackageOwner> AskOwner(const PackageManagers& managers,
                                     const std::string& untrusted_path) {
  const std::vector<std::string> paths = PackagePaths(untrusted_path);
  if (paths.empty()) return PackageOwner{};
  const auto owner = AskDpkg(managers.dpkg_query, paths);
  // dpkg may be installed on an rpm system, where it owns no libraries.
  if (owner && owner->package.empty() && UsesRpm(managers)) {
    return AskRpm(managers.rpm, untrusted_path);
  }
  return owner;
}

std::vector<std::string> PackagePaths(const std::string& untrusted_path) {
  if (untrusted_path.empty() || untrusted_path[0] != '/' || untrusted_path.size() > kMaxPathBytes ||
      !IsPlain(untrusted_path)) {
    return {};
  }
  std::vector<std::string> paths = {untrusted_path};
  std::error_code error;
  const std::string resolved = fs::canonical(untrusted_path, error).string();
  if (!error && IsPlain(resolved)) AddOnce(paths, resolved);
  for (std::size_t i = 0, count = paths.size(); i < count; ++i) {
    const std::string path = paths[i];
    AddOnce(paths, path.starts_with("/usr/") ? path.substr(4) : "/usr" + path);
  }
  return paths;
}

std::string PackageIn(std::string_view untrusted_search_output) {
  std::string_view rest = untrusted_search_output;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::size_t end = line.find(": ");
    if (end == std::string_view::npos || line.starts_with("diversion by ")) continue;
    const std::string_view names = line.substr(0, end);
    const std::string_view name = names.substr(0, names.find(','));
    if (IsPlain(name) && name[0] != '-') return std::string(name);
  }
  return "";
}

PackageOwner RpmOwnerIn(std::string_view untrusted_query_output) {
  const std::string line = FirstLine(untrusted_query_output);
  const std::size_t space = line.find(' ');
  if (space == std::string::npos) return {};
  PackageOwner owner{.package = line.substr(0, space), .version = line.substr(space + 1)};
  return IsPlain(owner.package) && IsPlain(owner.version) ? owner : PackageOwner{};
}

}  // namespace fieldcost
