// The run file as the agent's reader sees it. First byte of the input: bit 0 = the process has
// ended; bit 1 = the file is exactly as long as the input, otherwise it has the size stated in its
// header, with zeros (a hole) after the input. The rest is the file. Also checks what the harvester
// derives from its contents.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "agent/harvest/harvester.h"
#include "agent/runs/run_file_reader.h"
#include "common/base/check.h"

namespace {

class FuzzedBytes final : public fieldcost::runs::RunBytes {
 public:
  FuzzedBytes(const std::uint8_t* data, std::size_t given, bool is_exact)
      : data_(data), given_(given), size_(given) {
    fieldcost::shm::RunHeader header;
    if (is_exact || given < sizeof header) return;
    std::memcpy(&header, data, sizeof header);
    size_ = std::max<std::uint64_t>(given, header.size_bytes);
  }
  std::uint64_t size() const override { return size_; }
  bool Read(std::uint64_t offset, void* to, std::size_t size) const override {
    if (offset > size_ || size > size_ - offset) return false;
    std::memset(to, 0, size);
    if (offset < given_) {
      std::memcpy(to, data_ + offset, std::min<std::uint64_t>(size, given_ - offset));
    }
    return true;
  }
  std::uint64_t NextData(std::uint64_t offset) const override {
    return offset < given_ ? offset : size_;
  }

 private:
  const std::uint8_t* data_;
  std::uint64_t given_;
  std::uint64_t size_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const FuzzedBytes bytes(data + 1, size - 1, (data[0] & 2) != 0);
  const auto info = fieldcost::runs::ReadRunInfo(bytes);
  if (!info || !info->ready) return 0;
  const bool ended = (data[0] & 1) != 0;
  const auto content = fieldcost::runs::ReadRunContent(bytes, *info, ended);
  if (!content) return 0;
  FIELDCOST_CHECK(content->picks.size() == info->pick_count);
  for (const auto& cell : content->cells) {
    FIELDCOST_CHECK(cell.pick < content->picks.size());
    FIELDCOST_CHECK(fieldcost::stats::IsKnownMetric(static_cast<unsigned>(cell.metric)));
    FIELDCOST_CHECK(fieldcost::stats::Validate(cell.histogram).has_value());
    FIELDCOST_CHECK(!cell.histogram.empty());
  }
  for (const auto& pick : content->picks) {
    FIELDCOST_CHECK(pick.first_call_ns.value_or(0) < fieldcost::runs::kMaxFirstCallNs);
    if (!pick.calls) continue;
    FIELDCOST_CHECK(pick.calls->timed <= fieldcost::runs::kMaxRunCalls);
    FIELDCOST_CHECK(pick.calls->untimed <= fieldcost::runs::kMaxRunCalls);
  }
  for (const auto& cell : fieldcost::harvest::SingleValues(*info, *content, ended)) {
    FIELDCOST_CHECK(cell.pick < content->picks.size());
    FIELDCOST_CHECK(fieldcost::stats::Validate(cell.histogram).has_value());
    // One value, or one per reason for values that were not measured.
    const bool is_measured = cell.metric != fieldcost::stats::Metric::kNotMeasured;
    const int values = is_measured ? 1 : std::popcount(fieldcost::shm::kAllNotMeasured);
    FIELDCOST_CHECK(cell.histogram.timed() >= 1 &&
                    cell.histogram.timed() <= static_cast<unsigned>(values));
    FIELDCOST_CHECK(cell.histogram.count() <= fieldcost::shm::kMostRunsStoodFor);
  }
  const fieldcost::spool::RunNumbers before{
      .lost_calls = 5, .timed_calls = 6, .untimed_calls = 7, .dropped_picks = 1};
  const auto now = fieldcost::harvest::NumbersOf(*info, *content, before);
  FIELDCOST_CHECK(now.lost_calls >= before.lost_calls && now.timed_calls >= before.timed_calls);
  FIELDCOST_CHECK(now.untimed_calls >= before.untimed_calls);
  FIELDCOST_CHECK(now.dropped_picks >= 1 && now.dropped_picks <= content->picks.size() + 1);
  return 0;
}
