// Removes copies of programs' memory from abandoned rings: WipeAbandonedRings(), RingFile::Wipe().
#include "agent/probe/ring_wiper.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "agent/probe/probe_session.h"
#include "agent/probe/ring_reader.h"
#include "agent/probe/ring_records.h"
#include "common/base/read_at.h"

namespace fieldcost::probe {
namespace {

constexpr std::size_t kMostWipedAtOnce = 64 << 10;

// Whether this process has run out of descriptors, so that the file's state is unknown.
bool CannotOpen(const std::filesystem::path& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  return !fd.valid() && (errno == EMFILE || errno == ENFILE || errno == ENOMEM);
}

// Whether the file no longer contains memory of its program.
bool IsWiped(const std::filesystem::path& path) {
  if (CannotOpen(path)) return false;
  auto file = RingFile::Open(path);
  if (!file) {
    // Without a complete header nothing was recorded; a program may be about to begin.
    return file.error().code == ErrorCode::kUnavailable ||
           file.error().code == ErrorCode::kNotFound;
  }
  // If the program is still running, its file is wiped later.
  if (file->IsBeingWritten()) return true;
  return file->Refresh() && file->Wipe();
}

}  // namespace

void WipeAbandonedRings(const settings::AgentPaths& paths) {
  for (const std::filesystem::path& directory : SessionDirectories(paths)) {
    // A session without rings may be new: its recorder must not find it locked.
    if (SessionFiles(directory).empty()) continue;
    const auto session = Session::Take(directory);
    if (!session || !*session) continue;
    for (const std::filesystem::path& path : (*session)->Files()) {
      std::error_code error;
      if (!IsWiped(path)) std::filesystem::remove(path, error);
    }
  }
}

Status RingFile::Clear(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return {};
  if (::fallocate(fd_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
                  static_cast<off_t>(end - begin)) == 0) {
    return {};
  }
  return ErrnoError("clear", name_, errno);
}

Status RingFile::WipeRing(std::size_t ring, std::vector<Kept>& kept) {
  std::uint64_t position = rings_[ring].tail;
  if (!IsWithin(ring, position)) return {};  // the ring is invalid, so all of it is wiped
  std::vector<std::uint64_t> words;
  while (position != rings_[ring].head) {
    const Part part = PartAt(ring, position);
    const std::size_t size = std::min<std::uint64_t>(part.bytes, kMostWipedAtOnce);
    words.resize(size / sizeof words[0]);
    if (ReaderOf(fd_)(part.file_offset, words.data(), size) != size) {
      return Fail(ErrorCode::kCorrupt, "{}: ring {} cannot be read", name_, ring);
    }
    const Records records = WipeRecords(words, part.to_ring_end);
    if (::pwrite(fd_.get(), words.data(), records.bytes, static_cast<off_t>(part.file_offset)) !=
        static_cast<ssize_t>(records.bytes)) {
      return ErrnoError("write", name_, errno);
    }
    kept.push_back({part.file_offset, part.file_offset + records.bytes});
    position += records.bytes;
    if (records.is_broken || records.bytes == 0) return {};  // the rest is wiped
  }
  return {};
}

Status RingFile::Wipe() {
  const auto at = static_cast<off_t>(offsetof(shm::ProbeHeader, wiped));
  std::uint32_t wiped = 0;
  if (::pread(fd_.get(), &wiped, sizeof wiped, at) != sizeof wiped) {
    return ErrnoError("read", name_, errno);
  }
  if (wiped == 1) return {};
  std::vector<Kept> kept;
  for (std::size_t ring = 0; ring < shm::kProbeRings; ++ring) {
    FIELDCOST_TRY(WipeRing(ring, kept));
  }
  std::ranges::sort(kept, {}, &Kept::begin);
  // Records already read are still in the rings, so everything except the unread ones is wiped.
  const Kept regions[] = {{shm::ProbeDataOffset(), shm::ProbeModulesOffset()},
                          {shm::ProbeAreasOffset(), shm::ProbeFileBytes()}};
  for (const Kept& region : regions) {
    std::uint64_t from = region.begin;
    for (const Kept& one : kept) {
      if (one.begin < region.begin || one.begin >= region.end) continue;
      FIELDCOST_TRY(Clear(from, one.begin));
      from = std::max(from, one.end);
    }
    FIELDCOST_TRY(Clear(from, region.end));
  }
  wiped = 1;
  if (::pwrite(fd_.get(), &wiped, sizeof wiped, at) != sizeof wiped) {
    return ErrnoError("write", name_, errno);
  }
  return {};
}

}  // namespace fieldcost::probe
