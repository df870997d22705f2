#include "agent/perf/perf_record.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/agent/trace/made_records.h"

namespace fieldcost::perf {
namespace {

using testing::MadeRecordAt;
using testing::MadeSample;
using testing::Raw;

std::span<const std::uint8_t> BytesOf(const std::string& record) {
  return {reinterpret_cast<const std::uint8_t*>(record.data()), record.size()};
}

TEST(PerfRecordTest, SamplesHaveTheirRegistersByDwarfNumber) {
  const std::string bytes = MadeSample(77, std::string(16, 's'), 8);
  EXPECT_EQ(TimeOf(BytesOf(bytes)), 77U);
  const auto record = ParseRecord(BytesOf(bytes));
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->time, 77U);
  const auto& sample = std::get<SampleRecord>(record->content);
  EXPECT_FALSE(sample.in_kernel);
  EXPECT_EQ(sample.pid, 42);
  EXPECT_EQ(sample.tid, 43);
  EXPECT_EQ(sample.cpu, 1U);
  EXPECT_EQ(sample.id, testing::kMadeId);
  EXPECT_EQ(sample.registers[unwind::kRax], 100U);
  EXPECT_EQ(sample.registers[unwind::kRbx], 101U);
  EXPECT_EQ(sample.registers[unwind::kRcx], 102U);
  EXPECT_EQ(sample.registers[unwind::kRdx], 103U);
  EXPECT_EQ(sample.registers[unwind::kRbp], 106U);
  EXPECT_EQ(sample.registers[unwind::kRsp], 107U);
  EXPECT_EQ(sample.registers[unwind::kRip], 108U);
  EXPECT_EQ(sample.registers[8], 109U);
  EXPECT_EQ(sample.registers[15], 116U);
  EXPECT_EQ(sample.stack.size(), 8U);  // of 16, the ones that the kernel filled
}

TEST(PerfRecordTest, MappingsNameTheirFile) {
  const auto map = [](std::uint32_t protection, std::uint64_t bytes, const char* path) {
    return MadeRecordAt(9, PERF_RECORD_MMAP2, 0,
                        Raw(std::uint32_t{42}) + Raw(std::uint32_t{43}) +
                            Raw(std::uint64_t{0x1000}) + Raw(bytes) + Raw(std::uint64_t{0x3000}) +
                            Raw(std::uint32_t{8}) + Raw(std::uint32_t{1}) +
                            Raw(std::uint64_t{4711}) + Raw(std::uint64_t{0}) + Raw(protection) +
                            Raw(std::uint32_t{2}) + std::string(path) + '\0');
  };
  const std::string bytes = map(5, 0x2000, "/lib/libx.so");
  const auto record = ParseRecord(BytesOf(bytes));
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->time, 9U);
  const auto& found = std::get<MapRecord>(record->content);
  EXPECT_EQ(found.pid, 42);
  EXPECT_TRUE(found.executable);
  EXPECT_EQ(found.mapping.start, 0x1000U);
  EXPECT_EQ(found.mapping.end, 0x3000U);
  EXPECT_EQ(found.mapping.file_offset, 0x3000U);
  EXPECT_EQ(found.mapping.file,
            (unwind::FileIdentity{.device_major = 8, .device_minor = 1, .inode = 4711}));
  EXPECT_EQ(found.mapping.path, "/lib/libx.so");
  const std::string data = map(3, 0x2000, "/lib/libx.so");
  EXPECT_FALSE(std::get<MapRecord>(ParseRecord(BytesOf(data))->content).executable);
  const std::string anonymous = map(5, 0x2000, "//anon");
  EXPECT_EQ(std::get<MapRecord>(ParseRecord(BytesOf(anonymous))->content).mapping.path, "");
  EXPECT_FALSE(ParseRecord(BytesOf(map(5, ~std::uint64_t{0}, "/x"))).has_value());
}

TEST(PerfRecordTest, ProcessesComeGoAndBecomeOthers) {
  const std::string four = Raw(std::uint32_t{7}) + Raw(std::uint32_t{8}) + Raw(std::uint32_t{9}) +
                           Raw(std::uint32_t{10});
  const std::string fork = MadeRecordAt(1, PERF_RECORD_FORK, 0, four + Raw(std::uint64_t{1}));
  EXPECT_EQ(std::get<ForkRecord>(ParseRecord(BytesOf(fork))->content).pid, 7);
  EXPECT_EQ(std::get<ForkRecord>(ParseRecord(BytesOf(fork))->content).parent_pid, 8);
  EXPECT_EQ(std::get<ForkRecord>(ParseRecord(BytesOf(fork))->content).tid, 9);
  EXPECT_EQ(std::get<ForkRecord>(ParseRecord(BytesOf(fork))->content).parent_tid, 10);
  const std::string exit = MadeRecordAt(1, PERF_RECORD_EXIT, 0, four + Raw(std::uint64_t{1}));
  EXPECT_EQ(std::get<ExitRecord>(ParseRecord(BytesOf(exit))->content).pid, 7);
  EXPECT_EQ(std::get<ExitRecord>(ParseRecord(BytesOf(exit))->content).tid, 9);
  const std::string name =
      Raw(std::uint32_t{7}) + Raw(std::uint32_t{8}) + std::string("name\0\0", 6);
  const std::string exec = MadeRecordAt(1, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, name);
  EXPECT_EQ(std::get<ExecRecord>(ParseRecord(BytesOf(exec))->content).pid, 7);
  EXPECT_EQ(std::get<ExecRecord>(ParseRecord(BytesOf(exec))->content).name, "name");
  const std::string renamed = MadeRecordAt(1, PERF_RECORD_COMM, 0, name);
  EXPECT_EQ(std::get<NameRecord>(ParseRecord(BytesOf(renamed))->content).pid, 7);
  EXPECT_EQ(std::get<NameRecord>(ParseRecord(BytesOf(renamed))->content).tid, 8);
  EXPECT_EQ(std::get<NameRecord>(ParseRecord(BytesOf(renamed))->content).name, "name");
  const std::string lost =
      MadeRecordAt(1, PERF_RECORD_LOST, 0, Raw(std::uint64_t{3}) + Raw(std::uint64_t{12}));
  EXPECT_EQ(std::get<LostRecord>(ParseRecord(BytesOf(lost))->content).count, 12U);
}

TEST(PerfRecordTest, SwitchesBelongToTheNamedThread) {
  const auto switched = [](std::uint16_t misc) {
    const std::string bytes = MadeRecordAt(4, PERF_RECORD_SWITCH, misc, "");
    return std::get<SwitchRecord>(ParseRecord(BytesOf(bytes))->content);
  };
  EXPECT_EQ(switched(0).pid, 5);
  EXPECT_EQ(switched(0).tid, 6);
  EXPECT_FALSE(switched(0).out);
  EXPECT_TRUE(switched(PERF_RECORD_MISC_SWITCH_OUT).out);
  EXPECT_FALSE(switched(PERF_RECORD_MISC_SWITCH_OUT).preempted);
  EXPECT_TRUE(
      switched(PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT).preempted);
}

TEST(PerfRecordTest, RejectsTruncatedRecords) {
  const std::string sample = MadeSample(77, std::string(16, 's'), 16);
  for (std::size_t size = 0; size < sample.size(); ++size) {
    EXPECT_FALSE(ParseRecord(BytesOf(sample).first(size)).has_value()) << size;
  }
  EXPECT_FALSE(ParseRecord(BytesOf(MadeSample(77, std::string(16, 's'), 17))).has_value());
  const std::string fork = MadeRecordAt(1, PERF_RECORD_FORK, 0, "");
  EXPECT_FALSE(ParseRecord(BytesOf(fork)).has_value());
}

}  // namespace
}  // namespace fieldcost::perf
