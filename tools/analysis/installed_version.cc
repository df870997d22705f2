#include "tools/analysis/installed_version.h"

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "common/base/child_process.h"
#include "common/base/file.h"
#include "common/base/text.h"

namespace fieldcost::analysis {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPackageQueryLimit{5};
constexpr std::size_t kMaxOutputBytes = 16 * 1024;
constexpr std::size_t kMaxSonameBytes = 255;
constexpr std::size_t kMaxCacheBytes = 1 << 20;
constexpr int kCacheMode = 0600;
constexpr char kDpkg[] = "/usr/bin/dpkg-query";
constexpr char kRpm[] = "/usr/bin/rpm";
constexpr char kDpkgDatabase[] = "/var/lib/dpkg/status";
// rpm's backends sqlite, ndb (openSUSE) and bdb (before rpm 4.16), where distributions have them.
constexpr std::array<const char*, 5> kRpmDatabases = {
    "/usr/lib/sysimage/rpm/rpmdb.sqlite", "/var/lib/rpm/rpmdb.sqlite",
    "/usr/lib/sysimage/rpm/Packages.db", "/var/lib/rpm/Packages.db", "/var/lib/rpm/Packages"};
constexpr std::string_view kInstalled = "installed ";

// Where the dynamic linker of common distributions looks (ld.so(8)).
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

bool Exists(const char* file) { return ::access(file, F_OK) == 0; }

// What a program prints; empty if it cannot be run or takes too long.
std::string OutputOf(std::vector<std::string> command) {
  Result<Pipe> pipe = MakePipe();
  if (!pipe) return "";
  const Result<pid_t> child = StartChild({.arguments = std::move(command),
                                          .input = kNowhere,
                                          .output = pipe->write_end.get(),
                                          .errors = kNowhere});
  if (!child) return "";
  pipe->write_end = UniqueFd();
  std::string output;
  const Clock::time_point end = Clock::now() + kPackageQueryLimit;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd waited{.fd = pipe->read_end.get(), .events = POLLIN, .revents = 0};
    std::array<char, 4096> bytes;
    const bool is_ready = left > 0 && ::poll(&waited, 1, static_cast<int>(left)) > 0;
    const ssize_t count = is_ready ? ::read(waited.fd, bytes.data(), bytes.size()) : -1;
    if (count == 0) break;
    if (count < 0 || output.size() > kMaxOutputBytes) {
      ::kill(*child, SIGKILL);
      output.clear();
      break;
    }
    output.append(bytes.data(), static_cast<std::size_t>(count));
  }
  Reap(*child);
  return output;
}

std::string FirstLine(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

// The file's names, since packages may have been made before /usr was merged.
std::vector<std::string> FilesOf(const std::string& soname) {
  std::vector<std::string> files;
  const auto add = [&](std::string file) {
    if (IsPlain(file) && std::ranges::find(files, file) == files.end()) files.push_back(file);
  };
  for (const char* const folder : kFolders) {
    const fs::path file = fs::path(folder) / soname;
    std::error_code error;
    const fs::path resolved = fs::canonical(file, error);
    if (error) continue;
    for (const std::string& name : {resolved.string(), file.string()}) {
      add(name);
      add(name.starts_with("/usr/") ? name.substr(4) : "/usr" + name);
    }
    break;
  }
  return files;
}

std::string AskDpkg(const std::vector<std::string>& files) {
  std::vector<std::string> search = {kDpkg, "--search"};
  search.insert(search.end(), files.begin(), files.end());
  const std::string package = PackageIn(OutputOf(std::move(search)));
  if (package.empty()) return "";
  const std::string shown = FirstLine(
      OutputOf({kDpkg, "--show", "--showformat=${db:Status-Status} ${Version}\\n", package}));
  return shown.starts_with(kInstalled) ? shown.substr(kInstalled.size()) : "";
}

std::string AskRpm(const std::string& file) {
  return RpmVersionIn(OutputOf({kRpm, "-qf", "--queryformat", "%{EVR}\\n", file}));
}

// Whether the system has a database of rpm. Without one, a question would make an empty one: on
// Debian, in the user's home.
bool HasRpmDatabase() {
  return std::ranges::any_of(kRpmDatabases, [](const char* file) { return Exists(file); });
}

std::vector<fs::path> DatabaseFiles() {
  std::vector<fs::path> files;
  if (Exists(kDpkgDatabase)) files.emplace_back(kDpkgDatabase);
  for (const char* const file : kRpmDatabases) {
    if (Exists(file)) files.emplace_back(file);
  }
  return files;
}

fs::path CacheFile() {
  const char* const base = std::getenv("XDG_CACHE_HOME");
  if (base != nullptr && *base == '/') return fs::path(base) / "fieldcost/installed_versions";
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home != '/') return {};
  return fs::path(home) / ".cache/fieldcost/installed_versions";
}

std::string AskManager(const std::string& soname) {
  const std::vector<std::string> files = FilesOf(soname);
  if (files.empty()) return "";
  std::string version;
  if (::access(kDpkg, X_OK) == 0) version = AskDpkg(files);
  // dpkg can be installed on a system of rpm, and owns no library there.
  if (version.empty() && ::access(kRpm, X_OK) == 0 && HasRpmDatabase()) {
    version = AskRpm(files.front());
  }
  return IsPlain(version) ? version : "";
}

}  // namespace

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

std::string RpmVersionIn(std::string_view untrusted_query_output) {
  const std::string line = FirstLine(untrusted_query_output);
  return IsPlain(line) ? line : "";
}

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

// "STAMP", then a line "soname version" each; no version = not installed.
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
  static const auto versions =
      std::make_shared<InstalledVersions>(DatabaseFiles(), CacheFile(), AskManager);
  return [](const std::string& untrusted_soname) { return versions->Of(untrusted_soname); };
}

}  // namespace fieldcost::analysis
