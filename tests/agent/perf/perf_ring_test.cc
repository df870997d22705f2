#include "agent/perf/perf_ring.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/agent/trace/made_records.h"

namespace fieldcost::perf {
namespace {

constexpr std::size_t kBytes = 256;

// The kernel's side of a ring.
class MadeRing {
 public:
  MadeRing() : ring(&page_, data_, kBytes) {}
  void Write(const std::string& bytes) {
    for (const char byte : bytes)
      data_[page_.data_head++ % kBytes] = static_cast<std::uint8_t>(byte);
  }
  std::uint64_t free_bytes() const { return kBytes - (page_.data_head - page_.data_tail); }

 private:
  perf_event_mmap_page page_{};
  alignas(8) std::uint8_t data_[kBytes] = {};

 public:
  PerfRing ring;
};

std::string Record(char letter, std::size_t bytes) {
  return testing::MadeRecord(PERF_RECORD_COMM, 0, std::string(bytes, letter));
}

std::string TextOf(std::span<const std::uint8_t> record) {
  return std::string(record.begin(), record.end());
}

TEST(PerfRingTest, RecordsComeInTheirOrderAlsoRoundTheEnd) {
  MadeRing made;
  EXPECT_FALSE(made.ring.Front().has_value());
  for (int round = 0; round < 100; ++round) {
    const std::string first = Record('a', 8 * static_cast<std::size_t>(round % 9));
    const std::string second = Record('b', 40);
    made.Write(first);
    made.Write(second);
    EXPECT_EQ(TextOf(*made.ring.Front()), first);
    EXPECT_EQ(TextOf(*made.ring.Front()), first);  // until it is taken
    made.ring.Pop();
    EXPECT_EQ(TextOf(*made.ring.Front()), second);
    made.ring.Pop();
    EXPECT_FALSE(made.ring.Front().has_value());
    EXPECT_EQ(made.free_bytes(), kBytes);
  }
  EXPECT_EQ(made.ring.broken(), 0U);
}

TEST(PerfRingTest, ItsRoomIsTheKernelsAgainOnlyWhenARecordIsTaken) {
  MadeRing made;
  made.Write(Record('a', 24));
  EXPECT_TRUE(made.ring.Front().has_value());
  EXPECT_EQ(made.free_bytes(), kBytes - 32);
  made.ring.Pop();
  EXPECT_EQ(made.free_bytes(), kBytes);
}

TEST(PerfRingTest, InvalidRecordEmptiesTheRing) {
  for (const unsigned size : {0U, 7U, 12U, 64U, 65535U}) {
    MadeRing made;
    const perf_event_header header{
        .type = PERF_RECORD_COMM, .misc = 0, .size = static_cast<std::uint16_t>(size)};
    made.Write(testing::Raw(header));
    made.Write(testing::Raw(std::uint64_t{1}));
    made.Write(testing::Raw(std::uint64_t{2}));
    EXPECT_FALSE(made.ring.Front().has_value()) << size;
    EXPECT_EQ(made.ring.broken(), 1U);
    EXPECT_EQ(made.free_bytes(), kBytes);
    made.Write(Record('a', 8));
    EXPECT_EQ(TextOf(*made.ring.Front()), Record('a', 8));
  }
  MadeRing overrun;
  overrun.Write(std::string(kBytes + 8, 'x'));
  EXPECT_FALSE(overrun.ring.Front().has_value());
  EXPECT_EQ(overrun.ring.broken(), 1U);
}

}  // namespace
}  // namespace fieldcost::perf
