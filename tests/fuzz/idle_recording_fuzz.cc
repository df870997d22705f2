// Recordings of idle CPUs as found on disk, and as frames with correct checksums; the derived
// figures must be consistent.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/check.h"
#include "tests/fuzz/recording_frames.h"
#include "tools/analysis/idle_matrix.h"
#include "tools/analysis/idle_timeline.h"
#include "tools/analysis/idle_view.h"

namespace {

using namespace fieldcost;
using namespace fieldcost::analysis;

void CheckSums(const CpuIdle& cpu) {
  std::uint64_t sum = 0;
  for (const std::uint64_t ns : cpu.by_why) sum += ns;
  FIELDCOST_CHECK(sum == cpu.idle_ns && cpu.explained_ns <= sum);
}

void CheckPairs(const IdleView& view) {
  std::uint64_t ns = 0;
  for (const IdlePair& pair : view.pairs) {
    std::uint64_t periods = 0;
    for (const LengthCount& length : pair.lengths) periods += length.count;
    FIELDCOST_CHECK(periods == pair.periods);
    ns += pair.ns;
  }
  FIELDCOST_CHECK(ns == view.all_pairs.ns);
  const IdleMatrix matrix = MakeIdleMatrix(view, 3, 2);
  FIELDCOST_CHECK(matrix.to.size() <= 3 && matrix.from.size() <= 2);
  for (const auto& line : matrix.ns) {
    for (const std::uint64_t cell : line) ns -= cell;
  }
  FIELDCOST_CHECK(ns == 0);
}

void Read(std::string_view untrusted_file) {
  const auto recording = recording::Recording::Over(untrusted_file);
  if (!recording) return;
  const std::array<recording::Interval, 2> parts = {{{0, 5'000'000}, {5'000'000, UINT64_MAX}}};
  (void)MakeIdleTimeline(*recording, parts, 7).has_value();
  const auto view = MakeIdleView(*recording, parts);
  if (!view) return;
  CheckSums(view->all);
  std::uint64_t idle_ns = view->no_cpu_ns;
  for (const CpuIdle& cpu : view->cpus) {
    CheckSums(cpu);
    idle_ns += cpu.idle_ns;
  }
  FIELDCOST_CHECK(idle_ns == view->all.idle_ns);
  CheckPairs(*view);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Read(bytes);
  Read(RecordingOfFrames(bytes));
  return 0;
}
