#include "agent/unwind/module_map.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <optional>
#include <utility>

#include "common/base/file.h"

namespace fieldcost::unwind {
namespace {

constexpr std::size_t kMostMapsBytes = std::size_t{64} << 20;

std::uint64_t NextGeneration() {
  static std::atomic<std::uint64_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

// Removes a number from the beginning of `text`, and the character that follows it.
template <typename Number>
bool TakeNumber(std::string_view& text, int base, char behind, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  const auto used = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || used == text.size() || *end != behind) return false;
  text.remove_prefix(used + 1);
  return true;
}

// Parses a line like "7f01-7f02 r-xp 00001000 fe:01 4711    /lib/x". Returns nullopt if it has
// another form or is not executable.
std::optional<Mapping> MappingOfLine(std::string_view line) {
  constexpr int kHex = 16;
  constexpr int kDecimal = 10;
  constexpr std::size_t kFlags = 5;
  Mapping mapping;
  if (!TakeNumber(line, kHex, '-', mapping.start) || !TakeNumber(line, kHex, ' ', mapping.end) ||
      line.size() < kFlags || line[2] != 'x' || line[kFlags - 1] != ' ') {
    return std::nullopt;
  }
  line.remove_prefix(kFlags);
  if (!TakeNumber(line, kHex, ' ', mapping.file_offset) ||
      !TakeNumber(line, kHex, ':', mapping.file.device_major) ||
      !TakeNumber(line, kHex, ' ', mapping.file.device_minor)) {
    return std::nullopt;
  }
  const auto [end, error] =
      std::from_chars(line.data(), line.data() + line.size(), mapping.file.inode, kDecimal);
  if (error != std::errc()) return std::nullopt;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  mapping.path = std::string(line);
  return mapping;
}

}  // namespace

void ModuleMap::Changed() { generation_ = NextGeneration(); }

bool ModuleMap::Add(Mapping mapping) {
  if (mapping.start >= mapping.end || mappings_.size() + 2 > kMostMappings) return false;
  Remove(mapping.start, mapping.end);
  const auto at =
      std::upper_bound(mappings_.begin(), mappings_.end(), mapping.start,
                       [](std::uint64_t start, const Mapping& m) { return start < m.start; });
  mappings_.insert(at, std::move(mapping));
  Changed();
  return true;
}

void ModuleMap::Remove(std::uint64_t start, std::uint64_t end) {
  if (start >= end) return;
  auto at =
      std::upper_bound(mappings_.begin(), mappings_.end(), start,
                       [](std::uint64_t address, const Mapping& m) { return address < m.end; });
  if (at == mappings_.end() || at->start >= end) return;
  Changed();
  if (at->start < start) {
    Mapping rest = *at;
    at->end = start;
    ++at;
    if (rest.end > end) {
      rest.file_offset += end - rest.start;
      rest.start = end;
      mappings_.insert(at, std::move(rest));
      return;
    }
  }
  const auto first = at;
  while (at != mappings_.end() && at->end <= end) ++at;
  if (at != mappings_.end() && at->start < end) {
    at->file_offset += end - at->start;
    at->start = end;
  }
  mappings_.erase(first, at);
}

void ModuleMap::Clear() {
  mappings_.clear();
  Changed();
}

ModuleMap ModuleMap::ForkedTo(pid_t child) const {
  ModuleMap copy = *this;
  copy.pid_ = child;
  return copy;
}

Mapping* ModuleMap::Find(std::uint64_t address) {
  const auto at = std::upper_bound(mappings_.begin(), mappings_.end(), address,
                                   [](std::uint64_t a, const Mapping& m) { return a < m.end; });
  return at == mappings_.end() || at->start > address ? nullptr : &*at;
}

void AddMapsText(std::string_view untrusted_text, ModuleMap& map) {
  while (!untrusted_text.empty()) {
    const std::size_t end = std::min(untrusted_text.find('\n'), untrusted_text.size());
    if (auto mapping = MappingOfLine(untrusted_text.substr(0, end))) map.Add(std::move(*mapping));
    untrusted_text.remove_prefix(std::min(end + 1, untrusted_text.size()));
  }
}

Result<ModuleMap> ReadModuleMap(pid_t pid) {
  const std::string path = fmt::format("/proc/{}/maps", pid);
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoError("open", path, errno);
  std::string text;
  for (;;) {
    constexpr std::size_t kPieceBytes = std::size_t{1} << 16;
    const std::size_t had = text.size();
    text.resize(had + kPieceBytes);
    const ssize_t got = ::read(fd.get(), text.data() + had, kPieceBytes);
    if (got < 0 && errno != EINTR) return ErrnoError("read", path, errno);
    text.resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) break;
    if (text.size() > kMostMapsBytes) return Fail(ErrorCode::kTooLarge, "read {}: too long", path);
  }
  ModuleMap map(pid);
  AddMapsText(text, map);
  return map;
}

}  // namespace fieldcost::unwind
