#include "agent/trace/thunk_records.h"

#include <gtest/gtest.h>
#include <x86intrin.h>

#include <array>
#include <cstring>
#include <vector>

#include "common/base/clock.h"

namespace fieldcost::trace {
namespace {

constexpr std::uint64_t kRecordAt = 0x7f0000001000;
constexpr std::uint64_t kStackAt = 0x7ffc00000000;
constexpr std::uint64_t kStarted = 5000;

// return address, rbx, function, place on the stack, start, frame id
std::array<std::uint64_t, 6> Record() {
  return {0x401234, 0xb0b, 0x7f00dead0000, kStackAt + 64, kStarted, kStackAt + 80};
}

class OneRecord : public unwind::MemoryReader {
 public:
  explicit OneRecord(std::array<std::uint64_t, 6> record) : record_(record) {}
  std::size_t Read(std::uint64_t address, void* to, std::size_t size) override {
    if (address < kRecordAt || address + size > kRecordAt + sizeof record_) return 0;
    std::memcpy(to, reinterpret_cast<const char*>(record_.data()) + (address - kRecordAt), size);
    return size;
  }

 private:
  std::array<std::uint64_t, 6> record_;
};

// The value read at the record's `offset`; 0: none.
std::uint64_t ReadAt(std::uint64_t offset, std::uint64_t sampled_at,
                     std::array<std::uint64_t, 6> record = Record()) {
  OneRecord memory(record);
  const std::vector<std::uint8_t> stack(256);
  ThunkRecords records(memory, kStackAt, stack, sampled_at);
  std::uint64_t value = 0;
  return records.Read(kRecordAt + offset, &value, sizeof value) == sizeof value ? value : 0;
}

TEST(ThunkRecordsTest, ACallThatBeganBeforeTheSampleHasItsCaller) {
  EXPECT_EQ(ReadAt(0, kStarted), 0x401234U);
  EXPECT_EQ(ReadAt(8, kStarted), 0xb0bU);
  EXPECT_EQ(ReadAt(40, kStarted), kStackAt + 80);
}

TEST(ThunkRecordsTest, ARecordThatWasUsedAgainSinceIsNotBelieved) {
  EXPECT_EQ(ReadAt(0, kStarted - 1), 0U);
  auto never = Record();
  never[4] = 0;
  EXPECT_EQ(ReadAt(0, kStarted, never), 0U);
}

TEST(ThunkRecordsTest, ACallThatIsOverByNowHasItsCallerToo) {
  auto over = Record();
  over[3] = 0;
  EXPECT_EQ(ReadAt(0, kStarted, over), 0x401234U);
  EXPECT_EQ(ReadAt(0, kStarted - 1, over), 0U);
}

TEST(ThunkRecordsTest, IgnoresRecordsOutsideTheStack) {
  for (const std::uint64_t place : {kStackAt - 8, kStackAt + 256, kStackAt + 65}) {
    auto elsewhere = Record();
    elsewhere[3] = place;
    EXPECT_EQ(ReadAt(0, kStarted, elsewhere), 0U) << place;
  }
  EXPECT_EQ(ReadAt(16, kStarted), 0U);
  EXPECT_EQ(ReadAt(4096, kStarted), 0U);
}

TEST(TicksOfTimeTest, AMomentsTicksAreNotAfterIt) {
  TicksOfTime ticks;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t before = __rdtsc();
    const std::uint64_t moment = MonotonicNs();
    const std::uint64_t after = __rdtsc();
    ticks.Look();
    EXPECT_LE(ticks.NotAfter(moment), after);
    if (i > 500) {
      EXPECT_GT(ticks.NotAfter(moment) + 1'000'000'000, before);
    }
  }
}

}  // namespace
}  // namespace fieldcost::trace
