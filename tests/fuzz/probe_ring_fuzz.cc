// A file of probe points as its reader sees it. It is large and nearly empty, so an input states
// where its bytes go, in pieces: kind, number (2 bytes), offset in that part (2), length (1),
// bytes. They change a small valid file.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "agent/probe/ring_reader.h"
#include "common/base/check.h"
#include "tests/agent/probe/ring_bytes.h"
#include "tests/fuzz/pieces.h"
#include "tests/support/temp_dir.h"

namespace {

namespace shm = fieldcost::shm;
namespace probe = fieldcost::probe;
using fieldcost::testing::RingBytes;

constexpr std::uint64_t kMostBytes = shm::kProbeRingBytes + shm::kProbeAreaBytes;

std::uint64_t PlaceOf(unsigned kind, std::uint64_t number) {
  switch (kind % 6) {
    case 1:
      return fieldcost::testing::ProbeSiteAt(number % shm::kProbeSites);
    case 2:
      return fieldcost::testing::ProbeRingAt(number % shm::kProbeRings);
    case 3:
      return fieldcost::testing::ProbeDataAt(0, number * 64 % shm::kProbeRingBytes);
    case 4:
      return fieldcost::testing::ProbeModuleAt(number % shm::kProbeModules);
    case 5:
      return shm::ProbeAreasOffset() + number * 64 % (2 * shm::kProbeAreaBytes);
    default:
      return 0;
  }
}

RingBytes FileOf(std::string_view pieces) {
  RingBytes file = fieldcost::testing::SmallRings();
  fieldcost::testing::WritePieces(pieces, PlaceOf, file);
  return file;
}

// Reading is bounded and returns nothing outside the guaranteed ranges.
void Check(probe::RingFile& file, std::size_t ring) {
  std::uint64_t position = file.tail(ring);
  for (std::size_t hits = 0; hits <= kMostBytes / 64;) {
    const auto progress = file.Read(ring, position, 7, [&](const probe::RingHit& hit) {
      ++hits;
      FIELDCOST_CHECK(hit.site < shm::kProbeSites && hit.event.run != 0 && hit.sequence != 0);
      FIELDCOST_CHECK(hit.kind != shm::kProbeFill && hit.kind <= shm::kProbeJoin);
      FIELDCOST_CHECK(hit.stack.size_bytes() <= shm::kProbeStackBytes);
      FIELDCOST_CHECK(hit.registers != nullptr || hit.stack.empty());
      std::uint64_t sum = file.facts().UnixNs(hit.ticks);
      for (const std::uint64_t word : hit.stack) sum += word;
      __asm__ volatile("" ::"r"(sum));
      if (const auto site = file.Site(hit.site)) {
        FIELDCOST_CHECK(!site->label.empty() && site->label.size() <= 64);
      }
    });
    if (!progress) return;
    FIELDCOST_CHECK(progress->position - position <= kMostBytes);
    position = progress->position;
    if (!progress->at_end) continue;
    static_cast<void>(file.Release(ring, position));
    return;
  }
  FIELDCOST_CHECK(false);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fieldcost::testing::TempDir directory{fieldcost::testing::kMemory};
  const auto path = directory.path() / "1.probe";
  FileOf({reinterpret_cast<const char*>(data), size}).WriteTo(path);
  auto file = probe::RingFile::Open(path);
  if (!file) return 0;
  for (const probe::RingModule& module : file->Modules()) {
    FIELDCOST_CHECK(module.begin < module.end && module.build_id.size() <= 32);
  }
  FIELDCOST_CHECK(file->facts().incomplete.size() <=
                  (shm::kProbeRings + 1) * std::size_t{shm::kProbeIncomplete});
  for (const std::size_t ring : {std::size_t{0}, std::size_t{1}, std::size_t{63}}) {
    Check(*file, ring);
  }
  static_cast<void>(file->Refresh());
  return 0;
}
