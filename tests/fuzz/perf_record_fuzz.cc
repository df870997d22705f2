// A perf ring with arbitrary contents, read record by record; and where a thread is reported to
// wait.

#include <linux/perf_event.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "agent/perf/perf_record.h"
#include "agent/perf/perf_ring.h"
#include "agent/perf/wait_stack.h"
#include "common/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace perf = fieldcost::perf;
  constexpr std::size_t kRingBytes = 4096;
  if (size < 2) return 0;
  perf::ParseWaitPlace({reinterpret_cast<const char*>(data), size});
  // The position of the first record, so that some records wrap around the end.
  const std::size_t start = (std::size_t{data[0]} | std::size_t{data[1]} << 8) % kRingBytes / 8 * 8;
  data += 2;
  size = std::min(size - 2, kRingBytes);
  std::vector<std::uint64_t> words(kRingBytes / sizeof(std::uint64_t));
  auto* const ring_bytes = reinterpret_cast<std::uint8_t*>(words.data());
  perf_event_mmap_page page{};
  page.data_head = start;
  perf::PerfRing ring(&page, ring_bytes, kRingBytes);
  // The reader starts at 0; an empty record leads it to the start position.
  if (start != 0) {
    const perf_event_header header{.type = 0, .misc = 0, .size = static_cast<std::uint16_t>(start)};
    std::memcpy(ring_bytes, &header, sizeof header);
    FIELDCOST_CHECK(ring.Front().has_value());
    ring.Pop();
  }
  for (std::size_t i = 0; i < size; ++i) ring_bytes[(start + i) % kRingBytes] = data[i];
  page.data_head = start + size;
  for (std::size_t left = kRingBytes; left > 0; --left) {
    const auto record = ring.Front();
    if (!record) break;
    FIELDCOST_CHECK(record->size() <= size);
    if (const auto parsed = perf::ParseRecord(*record)) {
      if (const auto* const sample = std::get_if<perf::SampleRecord>(&parsed->content)) {
        FIELDCOST_CHECK(sample->stack.size() <= record->size());
      }
      if (const auto* const change = std::get_if<perf::SwitchRecord>(&parsed->content)) {
        FIELDCOST_CHECK(change->out || !change->preempted);
      }
      if (const auto* const name = std::get_if<perf::NameRecord>(&parsed->content)) {
        FIELDCOST_CHECK(name->name.size() <= record->size());
      }
      if (const auto* const map = std::get_if<perf::MapRecord>(&parsed->content)) {
        FIELDCOST_CHECK(map->mapping.end >= map->mapping.start);
      }
    }
    ring.Pop();
  }
  FIELDCOST_CHECK(!ring.Front());
  return 0;
}
