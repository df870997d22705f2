// The journal has one Slot per CPU, at the CPU's number times the size, in the memory layout of
// this build. A hole, or used = 0, means that nothing is changed. The process that writes the
// journal holds flock(2) on it.

#include "agent/idle/conformance/mask_journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <vector>

#include "agent/idle/idle_thread_state.h"

namespace fieldcost::idle_agent {
namespace {

namespace fs = std::filesystem;

constexpr char kPrefix[] = "idle-masks-";

struct Slot {
  std::uint64_t used = 0;
  ChangedMask changed;
};

off_t OffsetOf(std::uint32_t cpu) { return static_cast<off_t>(cpu * sizeof(Slot)); }

// Opens and locks a journal. Returns an invalid descriptor if it cannot be opened or its process is
// alive.
UniqueFd Lock(const fs::path& path, int flags) {
  UniqueFd file(::open(path.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.valid() && ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) file.Reset();
  return file;
}

std::size_t RestoreFrom(int file) {
  std::size_t restored = 0;
  for (std::uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    Slot untrusted_slot;
    if (::pread(file, &untrusted_slot, sizeof untrusted_slot, OffsetOf(cpu)) !=
        static_cast<ssize_t>(sizeof untrusted_slot))
      break;
    if (untrusted_slot.used != 1 || untrusted_slot.changed.cpu >= CPU_SETSIZE) continue;
    if (Restore(untrusted_slot.changed)) ++restored;
  }
  return restored;
}

}  // namespace

Result<std::unique_ptr<MaskJournal>> MaskJournal::Create(const fs::path& directory) {
  // A process may have several journals.
  constexpr int kAttempts = 64;
  for (int i = 0; i < kAttempts; ++i) {
    const fs::path path = directory / fmt::format("{}{}-{}", kPrefix, ::getpid(), i);
    UniqueFd file = Lock(path, O_RDWR | O_CREAT | O_EXCL);
    if (!file.valid()) continue;
    return std::unique_ptr<MaskJournal>(new MaskJournal(path, std::move(file)));
  }
  return ErrnoError("make a journal in", directory, errno);
}

MaskJournal::~MaskJournal() {
  std::error_code ignored;
  fs::remove(path_, ignored);
}

bool MaskJournal::Begin(std::uint32_t cpu, const ChangedMask& changed) {
  const Slot slot{.used = 1, .changed = changed};
  return ::pwrite(file_.get(), &slot, sizeof slot, OffsetOf(cpu)) ==
         static_cast<ssize_t>(sizeof slot);
}

void MaskJournal::End(std::uint32_t cpu) {
  const Slot none;
  [[maybe_unused]] const ssize_t written = ::pwrite(file_.get(), &none, sizeof none, OffsetOf(cpu));
}

bool Restore(const ChangedMask& changed) {
  if (StartOf(changed.pid, changed.tid) != changed.start) return false;
  cpu_set_t now;
  cpu_set_t one;
  CPU_ZERO(&now);
  CPU_ZERO(&one);
  CPU_SET(changed.cpu, &one);
  if (::sched_getaffinity(changed.tid, sizeof now, &now) != 0 || !CPU_EQUAL(&now, &one))
    return false;
  return ::sched_setaffinity(changed.tid, sizeof changed.before, &changed.before) == 0;
}

Result<std::size_t> RestoreMasks(const fs::path& directory) {
  std::error_code error;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().filename().string().starts_with(kPrefix)) found.push_back(entry.path());
  }
  if (error && error != std::errc::no_such_file_or_directory)
    return ErrnoError("look for journals in", directory, error.value());
  std::size_t restored = 0;
  for (const fs::path& path : found) {
    const UniqueFd file = Lock(path, O_RDWR);
    if (!file.valid()) continue;
    restored += RestoreFrom(file.get());
    fs::remove(path, error);
  }
  return restored;
}

}  // namespace fieldcost::idle_agent
