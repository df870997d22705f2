#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "common/base/check.h"
#include "common/base/file.h"
#include "common/shm/probe_file.h"
#include "tests/support/sparse_bytes.h"

namespace fieldcost::testing {

// A file of rings in memory.
class RingBytes final : public SparseBytes {
 public:
  // The file of a program that has passed no point.
  RingBytes() : SparseBytes(shm::ProbeFileBytes()) {
    shm::ProbeHeader header{};
    std::memcpy(header.magic, shm::kProbeMagic, sizeof header.magic);
    header.version = shm::kProbeVersion;
    header.complete = 1;
    header.size_bytes = size();
    header.session = 7;
    header.run = 0x1122334455667788;
    header.pid = 4711;
    header.attached = 1;
    header.tsc_to_ns_multiplier = std::uint64_t{1} << 31;  // two ticks per nanosecond
    header.start_ticks = 1000;
    header.start_unix_ns = 1'700'000'000'000'000'000;
    Put(0, header);
  }

  // Replaces the file; only pages with content take disk space.
  void WriteTo(const std::filesystem::path& path) const {
    const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    FIELDCOST_CHECK(fd.valid() && ::ftruncate(fd.get(), 0) == 0 &&
                    ::ftruncate(fd.get(), static_cast<off_t>(size())) == 0);
    char page[4096];
    for (std::uint64_t at = NextData(0); at < size(); at = NextData(at + sizeof page)) {
      const std::size_t bytes = std::min<std::uint64_t>(sizeof page, size() - at);
      FIELDCOST_CHECK(Read(at, page, bytes) &&
                      ::pwrite(fd.get(), page, bytes, static_cast<off_t>(at)) ==
                          static_cast<ssize_t>(bytes));
    }
  }
};

// Offsets of its parts.
constexpr std::uint64_t ProbeSiteAt(std::uint64_t site) {
  return shm::ProbeSitesOffset() + site * sizeof(shm::ProbeSite);
}
constexpr std::uint64_t ProbeRingAt(std::uint64_t ring) {
  return shm::ProbeRingsOffset() + ring * sizeof(shm::ProbeRing);
}
constexpr std::uint64_t ProbeDataAt(std::uint64_t ring, std::uint64_t place) {
  return shm::ProbeDataOffset() + ring * shm::kProbeRingBytes + place;
}
constexpr std::uint64_t ProbeModuleAt(std::uint64_t module) {
  return shm::ProbeModulesOffset() + module * sizeof(shm::ProbeModule);
}

// A program with one thread: an event begins, a point is passed with value 42 and 16 bytes of
// stack, and the event ends.
inline RingBytes SmallRings() {
  RingBytes bytes;
  auto header = bytes.Get<shm::ProbeHeader>(0);
  std::strcpy(header.program, "/usr/bin/gold");
  header.site_count = 1;
  header.module_count = 1;
  header.ended = 1;
  bytes.Put(0, header);

  shm::ProbeSite site{};
  std::strcpy(site.label, "data loaded");
  std::strcpy(site.file, "gold.cc");
  std::strcpy(site.function, "load");
  site.line = 12;
  site.complete = 1;
  bytes.Put(ProbeSiteAt(0), site);

  shm::ProbeModule module{};
  std::strcpy(module.path, "/usr/bin/gold");
  module.build_id_bytes = 2;
  module.build_id[0] = 0xab;
  module.build_id[1] = 0xcd;
  module.base = module.begin = 0x400000;
  module.end = 0x402000;
  module.complete = 1;
  bytes.Put(ProbeModuleAt(0), module);

  shm::ProbeRecord record{};
  record.size_bytes = sizeof record;
  record.thread = 4711;
  record.event = {header.run, 1};
  std::uint64_t place = 0;
  for (const auto kind : {shm::kProbeBegin, shm::kProbePoint, shm::kProbeEnd}) {
    record.kind = kind;
    ++record.sequence;
    record.ticks = 1000 + 200 * record.sequence;
    const bool is_point = kind == shm::kProbePoint;
    record.size_bytes = is_point ? 192 : 64;
    record.stack_bytes = is_point ? 16 : 0;
    record.flags = is_point ? shm::kProbeHasRegisters | shm::kProbeHasValue : 0;
    record.value = is_point ? 42 : 0;
    bytes.Put(ProbeDataAt(0, place), record);
    if (is_point) {
      shm::ProbeRegisters registers{};
      registers.ip = 0x401234;
      registers.sp = 0x7ffc00001000;
      bytes.Put(ProbeDataAt(0, place + 64), registers);
      bytes.Put(ProbeDataAt(0, place + 128), std::uint64_t{0x5152535455565758});
      bytes.Put(ProbeDataAt(0, place + 136), std::uint64_t{2});
    }
    place += record.size_bytes;
  }
  shm::ProbeRing ring{};
  ring.threads = 1;
  ring.tid = 4711;
  ring.head = place;
  bytes.Put(ProbeRingAt(0), ring);
  return bytes;
}

}  // namespace fieldcost::testing
