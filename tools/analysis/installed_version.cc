#include "tools/analysis/installed_version.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "common/base/file.h"
#include "common/base/package_owner.h"
#include "common/base/text.h"

namespace fieldcost::analysis {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxSonameBytes = 255;
constexpr std::size_t kMaxCacheBytes = 1 << 20;
constexpr int kCacheMode = 0600;
constexpr char kDpkgDatabase[] = "/var/lib/dpkg/status";

// The dynamic linker's search directories on common distributions (ld.so(8)).
#if defined(__aarch64__)
#define FIELDCOST_TRIPLET "aarch64-linux-gnu"
#else
#define FIELDCOST_TRIPLET "x86_64-linux-gnu"
#endif
constexpr std::array<const char*, 6> kFolders = {"/lib/" FIELDCOST_TRIPLET,
                                                 "/usr/lib/" FIELDCOST_TRIPLET,
                                                 "/lib64",
                                                 "/usr/lib64",
                                                 "/lib",
                                                 "/usr/lib"};

bool IsPlain(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return c > ' ' && c <= '~' && std::string_view("*?[]\\").find(c) == std::string_view::npos;
  });
}

// The file that the dynamic linker would most likely load; empty if none.
std::string FileOf(const std::string& soname) {
  for (const char* const folder : kFolders) {
    const fs::path file = fs::path(folder) / soname;
    std::error_code error;
    if (fs::exists(file, error)) return file.string();
  }
  return "";
}

fs::path CacheFile() {
  const char* const base = std::getenv("XDG_CACHE_HOME");
  if (base != nullptr && *base == '/') return fs::path(base) / "fieldcost/installed_versions";
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home != '/') return {};
  return fs::path(home) / ".cache/fieldcost/installed_versions";
}

std::string AskManager(const std::string& soname) {
  const auto owner = AskOwner(PackageManagers(), FileOf(soname));
  return owner ? owner->version : "";
}

}  // namespace

InstalledVersions::InstalledVersions(std::vector<fs::path> databases, fs::path cache, Ask ask)
    : databases_(std::move(databases)), cache_(std::move(cache)), ask_(std::move(ask)) {}

std::int64_t InstalledVersions::Stamp() const {
  std::int64_t stamp = 0;
  for (const fs::path& database : databases_) {
    struct stat info {};
    if (::stat(database.c_str(), &info) != 0) continue;
    stamp = std::max(stamp, info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec);
  }
  return stamp;
}

// "STAMP", then one line "soname version" per library; no version = not installed.
void InstalledVersions::Read(std::int64_t stamp) {
  known_.clear();
  stamp_ = stamp;
  if (cache_.empty()) return;
  const Result<std::string> untrusted_text = ReadFile(cache_, kMaxCacheBytes);
  if (!untrusted_text) return;
  bool is_first = true;
  for (const std::string_view line : Split(*untrusted_text, "\n")) {
    if (is_first && line != std::to_string(stamp)) return;
    const std::size_t space = line.find(' ');
    const std::string_view version = line.substr(std::min(space, line.size() - 1) + 1);
    const bool is_entry = !is_first && space != std::string_view::npos;
    is_first = false;
    if (is_entry && (version.empty() || IsPlain(version))) {
      known_.emplace(line.substr(0, space), version);
    }
  }
}

void InstalledVersions::Write() const {
  if (cache_.empty()) return;
  std::string text = std::to_string(stamp_) + "\n";
  for (const auto& [soname, version] : known_) text += soname + " " + version + "\n";
  if (text.size() > kMaxCacheBytes) return;
  std::error_code error;
  fs::create_directories(cache_.parent_path(), error);
  static_cast<void>(WriteFileAtomically(cache_, text, kCacheMode));
}

std::string InstalledVersions::Of(const std::string& untrusted_soname) {
  const bool is_name = IsPlain(untrusted_soname) && untrusted_soname.size() <= kMaxSonameBytes &&
                       untrusted_soname.find('/') == std::string::npos;
  if (!is_name) return "";
  const std::int64_t stamp = Stamp();
  if (stamp == 0) return "";
  if (stamp != stamp_) Read(stamp);
  const auto known = known_.find(untrusted_soname);
  if (known != known_.end()) return known->second;
  std::string version = ask_(untrusted_soname);
  known_.emplace(untrusted_soname, version);
  Write();
  return version;
}

InstalledVersion AskPackageManager() {
  static const auto versions = [] {
    std::vector<fs::path> databases = PackageManagers().rpm_databases;
    databases.emplace_back(kDpkgDatabase);
    return std::make_shared<InstalledVersions>(std::move(databases), CacheFile(), AskManager);
  }();
  return [](const std::string& untrusted_soname) { return versions->Of(untrusted_soname); };
}

}  // namespace fieldcost::analysis
