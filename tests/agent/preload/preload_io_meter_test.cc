#include <array>
#include <filesystem>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/agent/preload/preload_fixture.h"

// A victim moves known numbers of bytes through every I/O function of libc; the meter must count
// exactly these.

namespace fieldcost::testing {
namespace {

using shm::Metric;
using ::testing::SizeIs;

constexpr std::array<Metric, 4> kMetrics = {Metric::kDiskRead, Metric::kDiskWritten,
                                            Metric::kNetReceived, Metric::kNetSent};

using Bytes = std::array<std::uint64_t, 4>;  // of these metrics

class IoMeterTest : public PreloadTest {
 protected:
  ProcessOptions Metered(const std::string& scenario, const std::string& pick) const {
    ProcessOptions options = Measured({kVictims + "io", scenario}, pick);
    for (auto& [name, value] : options.environment) {
      if (name == "FIELDCOST_METRICS") value = "time,io";
    }
    return options;
  }

  // Runs with and without the agent; returns the run file's content.
  RunFileContent Run(const std::string& scenario, const std::string& pick) {
    const ProcessResult plain = RunProcess({.arguments = {kVictims + "io", scenario}});
    EXPECT_EQ(plain.exit_status, 0) << plain.errors;
    const ProcessResult metered = RunProcess(Metered(scenario, pick));
    EXPECT_EQ(metered.output, plain.output);
    EXPECT_EQ(metered.errors, plain.errors);
    EXPECT_EQ(metered.exit_status, plain.exit_status);
    EXPECT_EQ(metered.signal, plain.signal);
    const auto files = RunFiles();
    EXPECT_THAT(files, SizeIs(1));
    return files.empty() ? RunFileContent{} : files[0];
  }

  static Bytes BytesOf(const RunFileContent& run, const std::string& symbol) {
    Bytes sums{};
    for (std::size_t i = 0; i < kMetrics.size(); ++i) sums[i] = run.Of(symbol, kMetrics[i]).sum;
    return sums;
  }
};

struct Function {
  const char* name;
  std::uint64_t calls;
  Bytes bytes;  // read, written, received, sent
};

// Every round moves 1,000 bytes on a file, a socket and a pipe, or on what the function supports.
constexpr Function kFunctions[] = {
    {"read", 9, {3000, 0, 3000, 0}},
    {"readv", 9, {3000, 0, 3000, 0}},
    {"__read_chk", 9, {3000, 0, 3000, 0}},
    {"pread", 3, {3000, 0, 0, 0}},
    {"pread64", 3, {3000, 0, 0, 0}},
    {"preadv", 3, {3000, 0, 0, 0}},
    {"preadv64", 3, {3000, 0, 0, 0}},
    {"preadv2", 3, {3000, 0, 0, 0}},
    {"preadv64v2", 3, {3000, 0, 0, 0}},
    {"__pread_chk", 3, {3000, 0, 0, 0}},
    {"__pread64_chk", 3, {3000, 0, 0, 0}},
    {"recv", 3, {0, 0, 3000, 0}},
    {"recvfrom", 3, {0, 0, 3000, 0}},
    {"recvmsg", 3, {0, 0, 3000, 0}},
    {"recvmmsg", 3, {0, 0, 3000, 0}},
    {"__recv_chk", 3, {0, 0, 3000, 0}},
    {"__recvfrom_chk", 3, {0, 0, 3000, 0}},
    {"write", 9, {0, 3000, 0, 3000}},
    {"writev", 9, {0, 3000, 0, 3000}},
    {"pwrite", 3, {0, 3000, 0, 0}},
    {"pwrite64", 3, {0, 3000, 0, 0}},
    {"pwritev", 3, {0, 3000, 0, 0}},
    {"pwritev64", 3, {0, 3000, 0, 0}},
    {"pwritev2", 3, {0, 3000, 0, 0}},
    {"pwritev64v2", 3, {0, 3000, 0, 0}},
    {"send", 3, {0, 0, 0, 3000}},
    {"sendto", 3, {0, 0, 0, 3000}},
    {"sendmsg", 3, {0, 0, 0, 3000}},
    {"sendmmsg", 3, {0, 0, 0, 3000}},
    {"sendfile", 6, {6000, 3000, 0, 3000}},  // to a socket, to a file
    {"sendfile64", 3, {3000, 0, 0, 3000}},
    {"copy_file_range", 3, {3000, 3000, 0, 0}},
    {"splice", 6, {3000, 0, 0, 3000}},  // file to pipe, pipe to socket
};

TEST_F(IoMeterTest, CountsTheBytesOfEveryFunctionExactly) {
  const RunFileContent run = Run("all", "libvictim.so.1!victim_io_*");
  for (const Function& function : kFunctions) {
    SCOPED_TRACE(function.name);
    const std::string symbol = std::string("victim_io_") + function.name;
    EXPECT_EQ(BytesOf(run, symbol), function.bytes);
    EXPECT_EQ(run.Of(symbol, Metric::kWallTime).count, function.calls);
    for (const Metric metric : kMetrics) EXPECT_EQ(run.Of(symbol, metric).count, function.calls);
  }
}

// Names of the same function in libc are each measured under the name that the caller uses. The
// program prepares its files with calls of read, write and pwrite, so these would count more.
TEST_F(IoMeterTest, AFunctionOfLibcThatIsPickedCountsItsOwnBytes) {
  for (const Function& function : kFunctions) {
    const std::string name = function.name;
    if (name == "read" || name == "write" || name == "pwrite") continue;
    SCOPED_TRACE(name);
    const RunFileContent run = Run("all", "libc.so.6!" + name);
    EXPECT_EQ(BytesOf(run, name), function.bytes);
    std::filesystem::remove_all(state_dir_.path() / "runs");
    std::filesystem::create_directory(state_dir_.path() / "runs");
  }
}

TEST_F(IoMeterTest, AttributesBytesOfNestedCallsToTheOuterCall) {
  const RunFileContent run = Run("nested",
                                 "libvictim.so.1!victim_io_outer,libvictim.so.1!victim_io_pread,"
                                 "libvictim.so.1!victim_io_send");
  // Each outer call reads three times 1,000 bytes and sends 1,000.
  EXPECT_EQ(BytesOf(run, "victim_io_outer"), (Bytes{15000, 0, 0, 5000}));
  EXPECT_EQ(run.Of("victim_io_outer", Metric::kDiskRead).count, 5U);
  // Calls inside it are not measured; those outside are.
  EXPECT_EQ(BytesOf(run, "victim_io_pread"), (Bytes{500, 0, 0, 0}));
  EXPECT_EQ(run.Of("victim_io_pread", Metric::kWallTime).nested, 5U);
  EXPECT_EQ(BytesOf(run, "victim_io_send"), Bytes{});
  EXPECT_EQ(run.Of("victim_io_send", Metric::kWallTime).nested, 5U);
}

TEST_F(IoMeterTest, OnlyWhatWasReallyMovedCounts) {
  const RunFileContent run = Run("partial", "libvictim.so.1!victim_io_*");
  EXPECT_EQ(BytesOf(run, "victim_io_pread"), (Bytes{1000, 0, 0, 0}));
  EXPECT_EQ(BytesOf(run, "victim_io_read"), Bytes{});
  EXPECT_EQ(BytesOf(run, "victim_io_write"), Bytes{});
  EXPECT_EQ(BytesOf(run, "victim_io_recv"), (Bytes{0, 0, 500, 0}));
  EXPECT_EQ(BytesOf(run, "victim_io_sendfile"), Bytes{});
  EXPECT_EQ(BytesOf(run, "victim_io_send"), Bytes{});
  // Excludes bytes that were only peeked at and the truncated end of a datagram.
  EXPECT_EQ(BytesOf(run, "victim_io_receive"), (Bytes{0, 0, 1020, 0}));
  EXPECT_EQ(run.Of("victim_io_read", Metric::kDiskRead).count, 3U);
}

TEST_F(IoMeterTest, ABlockedReadCanBeCancelled) {
  const RunFileContent run = Run("cancel", "libvictim.so.1!victim_io_*,libc.so.6!read");
  EXPECT_EQ(run.Of("victim_io_read", Metric::kWallTime).count, 1U);
  EXPECT_EQ(BytesOf(run, "victim_io_read"), (Bytes{1000, 0, 0, 0}));
}

TEST_F(IoMeterTest, AnInterruptedReadCountsNothingAndKeepsErrno) {
  const RunFileContent run = Run("interrupt", "libvictim.so.1!victim_io_*");
  EXPECT_EQ(run.Of("victim_io_read", Metric::kWallTime).count, 20U);
  EXPECT_EQ(BytesOf(run, "victim_io_read"), Bytes{});
}

TEST_F(IoMeterTest, WithoutTheMetricNothingIsWrapped) {
  ProcessOptions options = Metered("all", "libvictim.so.1!victim_io_*");
  for (auto& [name, value] : options.environment) {
    if (name == "FIELDCOST_METRICS") value = "time";
  }
  ASSERT_EQ(RunProcess(options).exit_status, 0);
  EXPECT_EQ(RunFiles().at(0).Of("victim_io_pread", Metric::kWallTime).count, 3U);
  EXPECT_EQ(RunFiles().at(0).picks.at(0).metrics, shm::kTimeMetrics);
}

}  // namespace
}  // namespace fieldcost::testing
