// Reads and creates skip files; common/shm/skip_file.h has their layout.
#include "agent/runs/skip_counts.h"

#include <array>
#include <cstring>
#include <optional>
#include <string_view>

#include "common/base/file.h"
#include "common/shm/skip_file.h"

namespace fieldcost::runs {
namespace {

// Indexed by shm::Skip.
constexpr std::array<const char*, shm::kSkipCount> kReasons = {
    "the policy file is damaged",
    "the system was under load",
    "enough other programs were being measured",
    "too many run files were waiting to be collected",
    "no public library function was selected",
    "no run file could be made (directory missing, not on tmpfs, or full)",
    "the program's resource limits leave no room",
    "the program is built with a sanitizer",
    "the program entered a sandbox (seccomp): measured until then",
    "out of memory",
    "the program's garbage collector searches registers",
    "not selected at random",
    "the list of APIs was longer than programs are given",
    "more APIs matched than one run measures: 512 of them were measured",
};

std::optional<shm::SkipFile> ReadSkipFile(const std::filesystem::path& file) {
  const auto untrusted_bytes = ReadFile(file, sizeof(shm::SkipFile));
  if (!untrusted_bytes || untrusted_bytes->size() != sizeof(shm::SkipFile)) return std::nullopt;
  shm::SkipFile skips;
  std::memcpy(&skips, untrusted_bytes->data(), sizeof skips);
  if (std::memcmp(skips.magic, shm::kSkipMagic, sizeof skips.magic) != 0) return std::nullopt;
  return skips;
}

}  // namespace

Status MakeSkipFile(const std::filesystem::path& file) {
  if (ReadSkipFile(file)) return {};
  shm::SkipFile skips{};
  std::memcpy(skips.magic, shm::kSkipMagic, sizeof skips.magic);
  return WriteFileAtomically(
      file, std::string_view(reinterpret_cast<const char*>(&skips), sizeof skips), 0600);
}

std::vector<SkipCount> ReadSkips(const std::filesystem::path& file) {
  std::vector<SkipCount> counts;
  const auto skips = ReadSkipFile(file);
  if (!skips) return counts;
  for (std::size_t i = 0; i < kReasons.size(); ++i) {
    if (skips->counts[i] == 0) continue;
    counts.push_back(
        {.reason = kReasons[i], .runs = skips->counts[i], .skip = static_cast<shm::Skip>(i)});
  }
  return counts;
}

std::uint64_t CountedSince(std::uint64_t now, std::uint64_t seen) {
  return now >= seen ? now - seen : now;
}

bool WouldHaveBeenSelected(shm::Skip skip) {
  return skip == shm::Skip::kSystemLoaded || skip == shm::Skip::kNoLease ||
         skip == shm::Skip::kTooManyRunFiles;
}

}  // namespace fieldcost::runs
