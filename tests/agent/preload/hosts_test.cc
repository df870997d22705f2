#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/agent/preload/unnoticed.h"

// Programs from every kind of build that do unusual things to their process: nothing may change for
// them.

namespace fieldcost::testing {
namespace {

using shm::Metric;

class HostsTest : public UnnoticedTest {
 protected:
  static std::string Limited(const std::string& limit, const std::string& scenario) {
    return limit + "; exec " + kVictims + "hosts " + scenario;
  }
};

class HostScenarioTest
    : public HostsTest,
      public ::testing::WithParamInterface<std::tuple<const char*, const char*>> {};

TEST_P(HostScenarioTest, TheHostDoesNotNotice) {
  const auto [build, scenario] = GetParam();
  ExpectUnnoticed({kVictims + build, scenario}, "libvictim.so.1!*,libc.so.6!*");
  const bool inert =
      std::string(build) == "hosts_static" || std::string(build) == "hosts_static_fixed";
  EXPECT_EQ(RunFileCount() == 0, inert && std::string(scenario) != "spawn");
}

INSTANTIATE_TEST_SUITE_P(
    Builds, HostScenarioTest,
    ::testing::Combine(::testing::Values("hosts", "hosts_now", "hosts_no_plt", "hosts_fixed",
                                         "hosts_static_runtime", "hosts_static",
                                         "hosts_static_fixed"),
                       ::testing::Values("many-threads", "migrate", "seccomp", "close-all",
                                         "descriptors", "memory", "pointers", "callbacks", "spawn",
                                         "hard-exit", "quick-exit", "abort", "high-rate",
                                         "wide-returns", "ifuncs")),
    [](const auto& host) {
      std::string name = std::string(std::get<0>(host.param)) + "_" + std::get<1>(host.param);
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST_F(HostsTest, ThreadsBeyondTheSlotsLoseCallsWhichAreCounted) {
  ExpectUnnoticed({kVictims + "hosts", "many-threads"}, "libvictim.so.1!victim_noop");
  const RunFileContent run = RunFiles().at(0);
  EXPECT_EQ(run.Of("victim_noop", Metric::kWallTime).count + run.header.lost_calls, 320U * 1000);
  EXPECT_GE(run.Of("victim_noop", Metric::kWallTime).count, 256U * 1000);
}

TEST_F(HostsTest, CallsThatChangeThreadsAreCountedOrAbandoned) {
  ExpectUnnoticed({kVictims + "hosts", "migrate"}, "libvictim.so.1!victim_call_back");
  EXPECT_EQ(Measurements("victim_call_back"), 50U);
}

TEST_F(HostsTest, AProgramMayHaveFewDescriptors) {
  for (const char* limit : {"ulimit -n 20", "ulimit -n 800"}) {
    ExpectUnnoticed({"/bin/sh", "-c", Limited(limit, "descriptors")}, "libvictim.so.1!*");
    ExpectUnnoticed({"/bin/sh", "-c", Limited(limit, "close-all")}, "libvictim.so.1!*");
  }
  EXPECT_EQ(RunFileCount(), 4U);
}

TEST_F(HostsTest, DoesNotMeasureProgramsWithLittleMemory) {
  for (const char* limit : {"ulimit -v 100000", "ulimit -d 100000"}) {
    ExpectUnnoticed({"/bin/sh", "-c", Limited(limit, "descriptors")}, "libvictim.so.1!*");
    EXPECT_EQ(RunFileCount(), 0U) << limit;
  }
}

// The other library passes calls on, to functions with and without a version.
TEST_F(HostsTest, AnotherPreloadedLibraryMayStandBeforeAndAfter) {
  const std::string other = kVictims + "libvictim_interposer.so";
  const std::vector<std::string> command = {kVictim, "alloc"};
  const ProcessResult plain =
      RunProcess({.arguments = command, .environment = {{"LD_PRELOAD", other}}});
  ASSERT_EQ(plain.errors, "interposed: 0 noops, 1 texts, 3000 allocations\n");
  for (const std::string pick : {"libvictim.so.1!*", "*!puts", "*"}) {
    for (const std::string& order : {kLibrary + ":" + other, other + ":" + kLibrary}) {
      SCOPED_TRACE(pick + " " + order);
      ProcessOptions options = Measured(command, pick);
      options.environment[0].second = order;
      const ProcessResult measured = RunProcess(options);
      EXPECT_EQ(measured.output, plain.output);
      EXPECT_EQ(measured.errors, plain.errors);
      EXPECT_EQ(measured.exit_status, plain.exit_status);
    }
  }
  EXPECT_EQ(RunFileCount(), 6U);
}

TEST_F(HostsTest, DoesNotMeasureProgramsWithASanitizersRuntime) {
  for (const char* const runtime : {"libvictim_msan.so", "libvictim_rtsan.so"}) {
    ProcessOptions options = Measured({kVictim, "alloc"}, kAllOfVictim);
    options.environment[0].second = kLibrary + ":" + kVictims + runtime;
    EXPECT_EQ(RunProcess(options).exit_status, 0);
    EXPECT_EQ(RunFileCount(), 0U) << runtime;
  }
}

TEST_F(HostsTest, AProgramKeepsItsOwnAllocator) {
  for (const std::string pick : {"libvictim.so.1!*", "*"}) {
    const ProcessResult plain = ExpectUnnoticed({kVictims + "own_malloc"}, pick);
    EXPECT_THAT(plain.output, ::testing::HasSubstr(" 0 foreign"));
  }
}

TEST_F(HostsTest, ASetuidProgramIsNotMeasured) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a program setuid";
  const TempDir scratch;
  std::filesystem::permissions(scratch.path(), std::filesystem::perms(0755));
  const std::string script =
      "cp /bin/echo $1/echo && chown nobody $1/echo && chmod $4 $1/echo && "
      "chown -R $5 $2 && exec setpriv --reuid 1 --clear-groups env LD_PRELOAD=$3 "
      "FIELDCOST_STATE_DIR=$2 FIELDCOST_PICK='*' $1/echo printed";
  for (const std::string mode : {"4755", "0755"}) {
    const ProcessResult result =
        RunProcess({.arguments = {"/bin/sh", "-c", script, "sh", scratch.path().string(),
                                  state_dir_.path().string(), kLibrary, mode,
                                  mode == "4755" ? "nobody" : "1"}});
    EXPECT_EQ(result.output, "printed\n");
    EXPECT_EQ(RunFileCount(), mode == "4755" ? 0U : 1U);
  }
}

// The loader ignores LD_PRELOAD for such programs. Libraries in /etc/ld.so.preload are loaded into
// them, too, and then only our own check of AT_SECURE prevents measuring.
TEST_F(HostsTest, ASetuidProgramIsNotMeasuredThoughTheLibraryIsInIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a program setuid";
  const TempDir scratch;
  std::filesystem::permissions(scratch.path(), std::filesystem::perms(0755));
  std::filesystem::create_directory(scratch.path() / "etc");
  const std::string script =
      "cp /etc/passwd /etc/group /etc/ld.so.cache $1/etc && echo $3 > $1/etc/ld.so.preload && "
      "cp /bin/cat $1/cat && chown nobody $1/cat && chmod $4 $1/cat && "
      "chown -R $5 $2 && mount --bind $1/etc /etc && exec setpriv --reuid 1 --clear-groups env "
      "FIELDCOST_STATE_DIR=$2 FIELDCOST_PICK='*' $1/cat /proc/self/maps";
  for (const std::string mode : {"4755", "0755"}) {
    const ProcessResult result =
        RunProcess({.arguments = {"unshare", "-m", "/bin/sh", "-c", script, "sh",
                                  scratch.path().string(), state_dir_.path().string(), kLibrary,
                                  mode, mode == "4755" ? "nobody" : "1"}});
    if (result.errors.starts_with("unshare:"))
      GTEST_SKIP() << "no mount namespace: " << result.errors;
    EXPECT_EQ(result.exit_status, 0) << result.errors;
    EXPECT_THAT(result.output, ::testing::HasSubstr("libfieldcost_preload.so"));
    EXPECT_EQ(RunFileCount(), mode == "4755" ? 0U : 1U);
  }
}

TEST_F(HostsTest, FullMemoryRaisesNoSignal) {
  const std::string script =
      "mount -t tmpfs -o size=32k,mode=700 none $1 && mkdir $1/runs && "
      "export LD_PRELOAD=$3 FIELDCOST_STATE_DIR=$2 FIELDCOST_METRICS=time,alloc "
      "FIELDCOST_PICK='libvictim.so.1!*' && $4 calls && $4 threads";
  const TempDir scratch;
  MakeStateDirectory(
      state_dir_.path(),
      {.modules = {"libvictim.so.1"}, .memory_root = scratch.path(), .memory_dir = scratch.path()});
  const ProcessResult result = RunProcess(
      {.arguments = {"unshare", "-m", "/bin/sh", "-c", script, "sh", scratch.path().string(),
                     state_dir_.path().string(), kLibrary, kVictim}});
  if (result.errors.starts_with("unshare:"))
    GTEST_SKIP() << "no mount namespace: " << result.errors;
  const ProcessResult calls = RunProcess({.arguments = {kVictim, "calls"}});
  EXPECT_EQ(result.output, calls.output + "joined\n");
  EXPECT_EQ(result.errors, "");
  EXPECT_EQ(result.exit_status, 0);
}

TEST_F(HostsTest, AReadOnlyStateDirectoryMakesItInert) {
  const std::string script =
      "mount --bind $1 $1 && mount -o remount,ro,bind $1 && export LD_PRELOAD=$2 "
      "FIELDCOST_STATE_DIR=$1 FIELDCOST_PICK='libvictim.so.1!*' && exec $3 calls";
  const ProcessResult result =
      RunProcess({.arguments = {"unshare", "-m", "/bin/sh", "-c", script, "sh",
                                state_dir_.path().string(), kLibrary, kVictim}});
  if (result.errors.starts_with("unshare:"))
    GTEST_SKIP() << "no mount namespace: " << result.errors;
  EXPECT_EQ(result.output, RunProcess({.arguments = {kVictim, "calls"}}).output);
  EXPECT_EQ(result.errors, "");
  EXPECT_EQ(RunFileCount(), 0U);
}

}  // namespace
}  // namespace fieldcost::testing
