// Reads rings; common/shm/probe_file.h has their layout.
#include "agent/probe/ring_reader.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <tuple>

#include "agent/probe/ring_records.h"
#include "agent/runs/liveness.h"
#include "agent/runs/untrusted_fields.h"
#include "common/base/check.h"
#include "common/base/read_at.h"

namespace fieldcost::probe {
namespace {

constexpr std::uint64_t kMostMultiplier = std::uint64_t{1} << 35;  // 8 ns per tick
constexpr std::uint64_t kMostUnixNs = std::uint64_t{1} << 63;
constexpr std::size_t kMostReadAtOnce = 16 << 10;

bool ReadFrom(const UniqueFd& fd, std::uint64_t offset, void* to, std::size_t size) {
  return ReaderOf(fd)(offset, to, size) == size;
}

bool IsBefore(const shm::ProbeEventId& one, const shm::ProbeEventId& other) {
  return std::tie(one.run, one.number) < std::tie(other.run, other.number);
}
bool IsSame(const shm::ProbeEventId& one, const shm::ProbeEventId& other) {
  return one.run == other.run && one.number == other.number;
}

// Adds the losses that a ring or the header reports.
template <typename Part>
void AddIncomplete(const Part& untrusted, RunFacts& facts) {
  const std::uint32_t count = std::min(untrusted.incomplete_count, shm::kProbeIncomplete);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (untrusted.incomplete[i].run != 0) facts.incomplete.push_back(untrusted.incomplete[i]);
  }
  if (untrusted.incomplete_count <= shm::kProbeIncomplete) return;
  const bool is_first = !facts.all_incomplete;
  facts.all_incomplete = true;
  facts.open_from_ticks = is_first ? untrusted.open_from_ticks
                                   : std::min(facts.open_from_ticks, untrusted.open_from_ticks);
  facts.open_until_ticks = std::max(facts.open_until_ticks, untrusted.open_until_ticks);
}

// Compares positions, which are modulo 2^64.
bool IsEarlier(std::uint64_t one, std::uint64_t other) {
  return static_cast<std::int64_t>(one - other) < 0;
}

std::uint64_t RingOffset(std::size_t ring) {
  return shm::ProbeRingsOffset() + ring * sizeof(shm::ProbeRing);
}

}  // namespace

std::uint64_t RunFacts::UnixNs(std::uint64_t ticks) const {
  __extension__ using Wide = __int128;
  const Wide multiplier = tsc_to_ns_multiplier == 0 ? Wide{1} << 32 : Wide{tsc_to_ns_multiplier};
  const Wide ns = ((Wide{ticks} - Wide{start_ticks}) * multiplier >> 32) + Wide{start_unix_ns};
  return static_cast<std::uint64_t>(std::clamp(ns, Wide{0}, Wide{kMostUnixNs}));
}

Result<RingFile> RingFile::Open(const std::filesystem::path& path) {
  RingFile file;
  file.name_ = path.string();
  // O_NONBLOCK: a FIFO in this place must not block us.
  file.fd_ =
      UniqueFd(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.fd_.valid()) {
    if (errno == ELOOP || errno == ENXIO || errno == EISDIR) {
      return Fail(ErrorCode::kCorrupt, "open {}: not a regular file", path.string());
    }
    return ErrnoError("open", path, errno);
  }
  struct stat info {};
  if (::fstat(file.fd_.get(), &info) != 0) return ErrnoError("stat", path, errno);
  if (!S_ISREG(info.st_mode) || info.st_uid != ::geteuid()) {
    return Fail(ErrorCode::kCorrupt, "{}: not a regular file of this user", path.string());
  }
  if (::flock(file.fd_.get(), LOCK_EX | LOCK_NB) != 0) {
    return Fail(ErrorCode::kUnavailable, "{}: another process reads it", path.string());
  }
  FIELDCOST_TRY(file.ReadHeader());
  FIELDCOST_TRY(file.ReadRings());
  return file;
}

Status RingFile::Refresh() {
  FIELDCOST_TRY(ReadHeader());
  return ReadRings();
}

Status RingFile::ReadHeader() {
  shm::ProbeHeader untrusted;
  if (!ReadFrom(fd_, 0, &untrusted, sizeof untrusted)) {
    struct stat info {};
    // Its writer extends the file before it writes anything.
    if (::fstat(fd_.get(), &info) == 0 && info.st_size == 0) {
      return Fail(ErrorCode::kUnavailable, "{}: not finished", name_);
    }
    return Fail(ErrorCode::kCorrupt, "{}: no header", name_);
  }
  if (untrusted.complete == 0 && untrusted.magic[0] == '\0') {
    return Fail(ErrorCode::kUnavailable, "{}: not finished", name_);
  }
  if (std::memcmp(untrusted.magic, shm::kProbeMagic, sizeof untrusted.magic) != 0) {
    return Fail(ErrorCode::kCorrupt, "{}: not a file of probe points", name_);
  }
  if (untrusted.version != shm::kProbeVersion) {
    return Fail(ErrorCode::kUnsupported, "{}: has version {}; this program reads only {}", name_,
                untrusted.version, shm::kProbeVersion);
  }
  if (untrusted.complete != 1) return Fail(ErrorCode::kUnavailable, "{}: not finished", name_);
  const auto program = runs::TextOf(untrusted.program);
  if (untrusted.size_bytes != shm::ProbeFileBytes() || untrusted.run == 0 ||
      untrusted.session == 0 || !program || untrusted.tsc_to_ns_multiplier >= kMostMultiplier) {
    return Fail(ErrorCode::kCorrupt, "{}: inconsistent header", name_);
  }
  facts_ = {.run = untrusted.run,
            .session = untrusted.session,
            .pid = untrusted.pid,
            .parent_pid = untrusted.parent_pid,
            .program = std::string(*program),
            .tsc_to_ns_multiplier = untrusted.tsc_to_ns_multiplier,
            .start_ticks = untrusted.start_ticks,
            .start_unix_ns = untrusted.start_unix_ns,
            .start_monotonic_ns = untrusted.start_monotonic_ns,
            .start_boot_ns = untrusted.start_boot_ns,
            .process_start_unix_ns = untrusted.process_start_unix_ns,
            .attached = untrusted.attached == 1,
            .ended = untrusted.ended == 1,
            .lost_hits = untrusted.lost_hits,
            .site_count = std::min(untrusted.site_count, shm::kProbeSites)};
  std::copy(std::begin(untrusted.placed), std::end(untrusted.placed), facts_.placed.begin());
  AddIncomplete(untrusted, facts_);
  return {};
}

Status RingFile::ReadRings() {
  std::vector<shm::ProbeRing> untrusted(shm::kProbeRings);
  if (!ReadFrom(fd_, shm::ProbeRingsOffset(), untrusted.data(),
                untrusted.size() * sizeof untrusted[0])) {
    return Fail(ErrorCode::kCorrupt, "{}: shorter than its rings", name_);
  }
  const bool is_first = rings_.empty();
  rings_.resize(shm::kProbeRings);
  for (std::size_t i = 0; i < untrusted.size(); ++i) {
    if (is_first) rings_[i].tail = untrusted[i].tail;
    rings_[i].head = untrusted[i].head;
  }
  // A ring's area is recorded before any position beyond it, so it is read after the positions.
  if (!ReadFrom(fd_, shm::ProbeRingsOffset(), untrusted.data(),
                untrusted.size() * sizeof untrusted[0])) {
    return Fail(ErrorCode::kCorrupt, "{}: shorter than its rings", name_);
  }
  for (std::size_t i = 0; i < untrusted.size(); ++i) {
    rings_[i].area = untrusted[i].area;
    rings_[i].grown_at = untrusted[i].grown_at;
    facts_.dropped += untrusted[i].dropped;
    facts_.interrupted += untrusted[i].interrupted;
    AddIncomplete(untrusted[i], facts_);
  }
  std::sort(facts_.incomplete.begin(), facts_.incomplete.end(), IsBefore);
  facts_.incomplete.erase(std::unique(facts_.incomplete.begin(), facts_.incomplete.end(), IsSame),
                          facts_.incomplete.end());
  return {};
}

bool RingFile::IsWithin(std::size_t number, std::uint64_t position) const {
  const Ring& ring = rings_[number];
  if (ring.area > shm::kProbeAreas || ring.head % kRecordBytes != 0 ||
      position % kRecordBytes != 0 || ring.grown_at % kRecordBytes != 0) {
    return false;
  }
  if (ring.area == 0) return ring.head - position <= shm::kProbeRingBytes;
  if (!IsEarlier(position, ring.grown_at)) {
    return ring.head - position <= shm::kProbeAreaBytes;
  }
  return ring.grown_at - position <= shm::kProbeRingBytes &&
         ring.head - ring.grown_at <= shm::kProbeAreaBytes;
}

RingFile::Part RingFile::PartAt(std::size_t number, std::uint64_t position) const {
  const Ring& ring = rings_[number];
  const bool in_area = ring.area != 0 && !IsEarlier(position, ring.grown_at);
  if (in_area) {
    const std::uint64_t place = (position - ring.grown_at) & (shm::kProbeAreaBytes - 1);
    const std::uint64_t to_end = shm::kProbeAreaBytes - place;
    return {.file_offset = shm::ProbeAreasOffset() + (ring.area - 1) * shm::kProbeAreaBytes + place,
            .bytes = std::min(ring.head - position, to_end),
            .to_ring_end = to_end};
  }
  const std::uint64_t place = position & (shm::kProbeRingBytes - 1);
  const std::uint64_t to_end = shm::kProbeRingBytes - place;
  const std::uint64_t until = ring.area != 0 ? ring.grown_at : ring.head;
  return {.file_offset = shm::ProbeDataOffset() + number * shm::kProbeRingBytes + place,
          .bytes = std::min(until - position, to_end),
          .to_ring_end = to_end};
}

bool RingFile::IsBeingWritten() const { return runs::IsBeingWritten(fd_.get()); }

Result<RingFile::Progress> RingFile::Read(std::size_t ring, std::uint64_t position,
                                          std::size_t most,
                                          const std::function<void(const RingHit&)>& visit) const {
  FIELDCOST_CHECK(ring < shm::kProbeRings);
  const std::uint64_t head = rings_[ring].head;
  if (!IsWithin(ring, position)) {
    return Fail(ErrorCode::kCorrupt, "{}: ring {} spans {} to {}", name_, ring, position, head);
  }
  Progress progress{.position = position, .at_end = false};
  std::vector<std::uint64_t> words;
  std::size_t visited = 0;
  while (progress.position != head && visited < most) {
    const Part part = PartAt(ring, progress.position);
    const std::size_t size = std::min<std::uint64_t>(part.bytes, kMostReadAtOnce);
    words.resize(size / sizeof words[0]);
    if (!ReadFrom(fd_, part.file_offset, words.data(), size)) {
      return Fail(ErrorCode::kCorrupt, "{}: ring {} cannot be read", name_, ring);
    }
    const Records records = VisitRecords(words, part.to_ring_end, most - visited, visit);
    visited += records.hits;
    progress.position += records.bytes;
    // A record cut off by the end of this read is read again, unless there is no more data.
    if (records.is_broken || records.bytes == 0) {
      return Fail(ErrorCode::kCorrupt, "{}: ring {} has no record at {}", name_, ring,
                  progress.position);
    }
  }
  progress.at_end = progress.position == head;
  return progress;
}

Status RingFile::Release(std::size_t ring, std::uint64_t position) {
  FIELDCOST_CHECK(ring < shm::kProbeRings);
  if (position - rings_[ring].tail > rings_[ring].head - rings_[ring].tail) {
    return Fail(ErrorCode::kInvalidArgument, "{}: ring {} ends before {}", name_, ring, position);
  }
  const auto blocks = static_cast<std::uint8_t>(position / shm::kProbeBlockBytes);
  const std::uint64_t at = RingOffset(ring);
  // Written first, for the next reader: it may see a hit twice, but does not miss any that the
  // program overwrites.
  if (::pwrite(fd_.get(), &position, sizeof position,
               static_cast<off_t>(at + offsetof(shm::ProbeRing, tail))) != sizeof position ||
      ::pwrite(fd_.get(), &blocks, sizeof blocks,
               static_cast<off_t>(at + offsetof(shm::ProbeRing, given_back))) != sizeof blocks) {
    return ErrnoError("write", name_, errno);
  }
  rings_[ring].tail = position;
  return {};
}

std::vector<RingModule> RingFile::Modules() const {
  std::vector<RingModule> modules;
  std::vector<shm::ProbeModule> untrusted(shm::kProbeModules);
  if (!ReadFrom(fd_, shm::ProbeModulesOffset(), untrusted.data(),
                untrusted.size() * sizeof untrusted[0])) {
    return modules;
  }
  for (const shm::ProbeModule& module : untrusted) {
    const auto path = runs::TextOf(module.path);
    if (module.complete != 1 || !path || module.build_id_bytes > sizeof module.build_id ||
        module.begin >= module.end) {
      continue;
    }
    const auto* const id = reinterpret_cast<const char*>(module.build_id);
    modules.push_back({.path = std::string(*path),
                       .build_id = std::string(id, module.build_id_bytes),
                       .base = module.base,
                       .begin = module.begin,
                       .end = module.end,
                       .code_offset = module.code_offset});
  }
  return modules;
}

std::optional<RingSite> RingFile::Site(std::uint32_t number) const {
  shm::ProbeSite untrusted;
  if (number >= shm::kProbeSites ||
      !ReadFrom(fd_, shm::ProbeSitesOffset() + number * sizeof untrusted, &untrusted,
                sizeof untrusted) ||
      untrusted.complete != 1) {
    return std::nullopt;
  }
  const auto label = runs::TextOf(untrusted.label);
  const auto file = runs::TextOf(untrusted.file);
  const auto function = runs::TextOf(untrusted.function);
  if (!label || label->empty() || !file || !function || untrusted.kind > shm::kProbeAutomaticSite ||
      untrusted.automatic > shm::kProbeAllAutomatic) {
    return std::nullopt;
  }
  return RingSite{.label = std::string(*label),
                  .file = std::string(*file),
                  .function = std::string(*function),
                  .line = untrusted.line,
                  .kind = static_cast<shm::ProbeSiteKind>(untrusted.kind),
                  .automatic = untrusted.automatic};
}

}  // namespace fieldcost::probe
