#include "agent/symbols/perf_map.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <map>

#include "common/base/file.h"
#include "common/base/read_at.h"

namespace fieldcost::symbols {
namespace {

constexpr int kHex = 16;

bool TakeHex(std::string_view& line, std::uint64_t& number) {
  if (line.starts_with("0x")) line.remove_prefix(2);
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number, kHex);
  const auto used = static_cast<std::size_t>(end - line.data());
  if (error != std::errc() || used >= line.size() || *end != ' ') return false;
  line.remove_prefix(used + 1);
  return true;
}

}  // namespace

PerfMap PerfMap::Of(std::string_view untrusted_text) {
  // Functions by their starts. A new one replaces those that it overlaps, as its code did.
  std::map<std::uint64_t, std::pair<std::uint64_t, std::string_view>> by_start;
  while (!untrusted_text.empty()) {
    const std::size_t end = std::min(untrusted_text.find('\n'), untrusted_text.size());
    std::string_view line = untrusted_text.substr(0, end);
    untrusted_text.remove_prefix(std::min(end + 1, untrusted_text.size()));
    std::uint64_t start = 0;
    std::uint64_t size = 0;
    if (!TakeHex(line, start) || !TakeHex(line, size) || size == 0 || line.empty() ||
        start > UINT64_MAX - size || by_start.size() >= kMostFunctions) {
      continue;
    }
    auto at = by_start.lower_bound(start);
    if (at != by_start.begin() && std::prev(at)->second.first > start) --at;
    while (at != by_start.end() && at->first < start + size) at = by_start.erase(at);
    by_start.emplace(start, std::pair(start + size, line.substr(0, kMostNameBytes)));
  }
  PerfMap map;
  map.functions_.reserve(by_start.size());
  for (const auto& [start, rest] : by_start) {
    map.functions_.push_back({.start = start, .end = rest.first, .name = std::string(rest.second)});
  }
  return map;
}

Result<PerfMap> PerfMap::OfProcess(pid_t pid) {
  // The file is searched for below the process's own root first, and must belong to the process's
  // user.
  struct stat process {};
  const std::string directory = fmt::format("/proc/{}", pid);
  if (::stat(directory.c_str(), &process) != 0) {
    if (errno != ENOENT) return ErrnoError("inspect", directory, errno);
    process.st_uid = ::geteuid();  // it has ended
  }
  const std::string name = fmt::format("/tmp/perf-{}.map", pid);
  for (const std::string& path : {fmt::format("{}/root{}", directory, name), name}) {
    const UniqueFd fd(
        ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    if (!fd.valid()) continue;
    struct stat info {};
    if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != process.st_uid) {
      return Fail(ErrorCode::kPermissionDenied, "read {}: not a file of the process's user", path);
    }
    if (static_cast<std::uint64_t>(info.st_size) > kMostBytes) {
      return Fail(ErrorCode::kTooLarge, "read {}: more than {} bytes", path, kMostBytes);
    }
    std::string text(static_cast<std::size_t>(info.st_size), '\0');
    if (!text.empty()) text.resize(ReaderOf(fd)(0, text.data(), text.size()));
    return Of(text);
  }
  return Fail(ErrorCode::kNotFound, "find /tmp/perf-{}.map: the process wrote none", pid);
}

std::string_view PerfMap::Find(std::uint64_t address) const {
  const auto next =
      std::upper_bound(functions_.begin(), functions_.end(), address,
                       [](std::uint64_t a, const Function& f) { return a < f.start; });
  if (next == functions_.begin()) return {};
  const Function& function = *std::prev(next);
  return address < function.end ? std::string_view(function.name) : std::string_view();
}

}  // namespace fieldcost::symbols
