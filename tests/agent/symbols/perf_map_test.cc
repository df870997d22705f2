#include "agent/symbols/perf_map.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "common/base/file.h"

namespace fieldcost::symbols {
namespace {

TEST(PerfMapTest, AddressesHaveTheNamesOfTheirLines) {
  const PerfMap map = PerfMap::Of("1000 10 LazyCompile:~f a b.js:1\n0x2000 0x8 g\n");
  EXPECT_EQ(map.functions(), 2U);
  EXPECT_EQ(map.Find(0xfff), "");
  EXPECT_EQ(map.Find(0x1000), "LazyCompile:~f a b.js:1");
  EXPECT_EQ(map.Find(0x100f), "LazyCompile:~f a b.js:1");
  EXPECT_EQ(map.Find(0x1010), "");
  EXPECT_EQ(map.Find(0x2007), "g");
  EXPECT_EQ(map.Find(0x2008), "");
}

TEST(PerfMapTest, CodeThatWasWrittenOverHasItsLaterName) {
  const PerfMap map = PerfMap::Of("1000 100 a\n1100 100 b\n1080 100 c\n1000 10 d\n");
  EXPECT_EQ(map.Find(0x1000), "d");
  EXPECT_EQ(map.Find(0x1020), "");
  EXPECT_EQ(map.Find(0x1090), "c");
  EXPECT_EQ(map.Find(0x117f), "c");
  EXPECT_EQ(map.Find(0x1180), "");
}

TEST(PerfMapTest, SkipsInvalidLines) {
  const PerfMap map = PerfMap::Of(
      "\n\nx\n1000\n1000 \n1000 10\n1000 10 \n1000 0 f\nffffffffffffffff 2 f\n-1 5 f\n5 5 last");
  EXPECT_EQ(map.functions(), 1U);
  EXPECT_EQ(map.Find(7), "last");
  EXPECT_EQ(PerfMap::Of("1 1 " + std::string(5000, 'n')).Find(1).size(), PerfMap::kMostNameBytes);
}

// The perf map of a process, removed at the end.
class PerfMapFile {
 public:
  explicit PerfMapFile(pid_t pid) : path_("/tmp/perf-" + std::to_string(pid) + ".map") {
    EXPECT_TRUE(WriteFileAtomically(path_, "1000 10 f\n", 0600).has_value());
  }
  ~PerfMapFile() { std::filesystem::remove(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

TEST(PerfMapTest, AProcessesFileIsOneOfItsUser) {
  EXPECT_EQ(PerfMap::OfProcess(::getpid()).error().code, ErrorCode::kNotFound);
  const PerfMapFile file(::getpid());
  const auto map = PerfMap::OfProcess(::getpid());
  ASSERT_TRUE(map.has_value()) << map.error().message;
  EXPECT_EQ(map->Find(0x1000), "f");
  if (::getuid() == 0) {
    ASSERT_EQ(::chown(file.path().c_str(), 65534, 65534), 0);
    EXPECT_EQ(PerfMap::OfProcess(::getpid()).error().code, ErrorCode::kPermissionDenied);
  }
}

TEST(PerfMapTest, OfAProcessThatHasEndedItIsOneOfOurUser) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(PerfMap::OfProcess(child).error().code, ErrorCode::kNotFound);
  const PerfMapFile file(child);
  const auto map = PerfMap::OfProcess(child);
  ASSERT_TRUE(map.has_value()) << map.error().message;
  EXPECT_EQ(map->Find(0x1000), "f");
  if (::getuid() == 0) {
    ASSERT_EQ(::chown(file.path().c_str(), 65534, 65534), 0);
    EXPECT_EQ(PerfMap::OfProcess(child).error().code, ErrorCode::kPermissionDenied);
  }
}

}  // namespace
}  // namespace fieldcost::symbols
