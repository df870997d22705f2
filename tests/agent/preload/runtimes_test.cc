#include <linux/capability.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/agent/preload/unnoticed.h"

// Programs whose threads, libraries and frames come and go, and programs with another runtime:
// LLVM's, a sanitizer's, greenlets, a debugger.

namespace fieldcost::testing {
namespace {

using ::testing::HasSubstr;

class RuntimesTest : public UnnoticedTest {
 protected:
  static bool Exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }
};

// The functions that shapes.cc calls a hundred times each on every processor.
constexpr const char* kShapes[] = {"noop",
                                   "bool",
                                   "small",
                                   "int",
                                   "long",
                                   "wide",
                                   "pair",
                                   "pointer",
                                   "float",
                                   "double",
                                   "reals",
                                   "floats",
                                   "complex_float",
                                   "complex_double",
                                   "mixed",
                                   "mixed_reversed",
                                   "long_double",
                                   "complex",
                                   "long_struct",
                                   "big",
                                   "eight_reals",
                                   "by_value",
                                   "stack_arguments",
                                   "variadic_registers",
                                   "chosen"};

TEST_F(RuntimesTest, EveryShapeOfArgumentAndResultArrives) {
  const ProcessResult plain = ExpectUnnoticed({kVictims + "shapes"}, kAllOfVictim);
  EXPECT_EQ(plain.exit_status, 0);
  const RunFileContent run = OnlyRun();
  const auto calls = [&run](const std::string& function) {
    return run.Of(function, shm::Metric::kWallTime).count;
  };
  for (const char* const function : kShapes) {
    EXPECT_EQ(calls(std::string("victim_") + function), 100U) << function;
  }
  EXPECT_EQ(calls("_Z12VictimObjectB5cxx11l"), 100U);
  EXPECT_EQ(calls("victim_variadic"), 200U);
  EXPECT_EQ(calls("victim_static_chain"), 101U);
  EXPECT_EQ(calls("victim_narrow_vector"), 1U);
  // The other two require processors with their registers; the program prints the missing ones.
  const bool avx = plain.output.find("no __m256d") == std::string::npos;
  const bool avx512 = plain.output.find("no __m512d") == std::string::npos;
  EXPECT_EQ(calls("victim_vector"), avx ? 100U : 0U);
  EXPECT_EQ(calls("victim_eight_vectors"), avx ? 100U : 0U);
  EXPECT_EQ(calls("victim_wide_vector"), avx512 ? 100U : 0U);
}

TEST_F(RuntimesTest, APluginMayComeAndGoFiftyTimes) {
  ExpectUnnoticed({kVictims + "lifetimes", "reload"},
                  "libvictim.so.1!*,libvictim_plugin*!*,libc.so.6!m*,libc.so.6!s*,libc.so.6!a*");
  EXPECT_EQ(Measurements("victim_noop"), 501U);
}

TEST_F(RuntimesTest, EachVersionOfAFunctionIsAnApiOfItsOwn) {
  ExpectUnnoticed({kVictims + "lifetimes", "versions"}, "libvictim_versioned.so!*");
  const RunFileContent run = RunFiles().at(0);
  ASSERT_EQ(run.picks.size(), 2U);
  EXPECT_STRNE(run.picks[0].symbol_version, run.picks[1].symbol_version);
  EXPECT_EQ(Measurements("versioned_value"), 2000U);
}

TEST_F(RuntimesTest, ChildrenForkedWhileOtherThreadsAreMeasuredCountNothing) {
  ExpectUnnoticed({kVictims + "lifetimes", "fork-in-threads"}, kAllOfVictim);
  EXPECT_EQ(Measurements("victim_noop"), 4U * 20 * 5000 + 20 + 1);
  EXPECT_EQ(Measurements("victim_allocate"), 0U);
}

TEST_F(RuntimesTest, DestructorsOfEndingThreadsAreMeasuredToo) {
  ExpectUnnoticed({kVictims + "lifetimes", "thread-ends"}, kAllOfVictim);
  EXPECT_EQ(Measurements("victim_noop"), 500U * (1 + 3 + 3) + 1);
  EXPECT_EQ(Measurements("victim_allocate"), 500U);
}

TEST_F(RuntimesTest, ExitInsideAMeasuredCallRunsItsHandlers) {
  const ProcessResult plain =
      ExpectUnnoticed({kVictims + "lifetimes", "exit-inside"}, kAllOfVictim);
  EXPECT_EQ(plain.output, "at exit\nstatic destructor\n");
  EXPECT_EQ(plain.exit_status, 21);
}

TEST_F(RuntimesTest, BacktraceReachesMain) {
  const ProcessResult plain = ExpectUnnoticed({kVictims + "lifetimes", "reach-main"}, kAllOfVictim);
  EXPECT_THAT(plain.output, HasSubstr("main is met 1 times"));
  EXPECT_EQ(Measurements("victim_call_back"), 1U);
}

TEST_F(RuntimesTest, RecursionMayBeDeep) {
  ExpectUnnoticed({kVictims + "lifetimes", "deep"}, kAllOfVictim);
  EXPECT_EQ(Measurements("victim_recurse"), 1U);
}

TEST_F(RuntimesTest, ASignalHandlerMayJumpOutOfMeasuredCallsAllTheTime) {
  ExpectUnnoticed({kVictims + "lifetimes", "signal-jumps"}, kAllOfVictim);
  EXPECT_GE(Measurements("victim_noop"), 1000U);
}

// Compiled by clang, with libc++, libc++abi and libunwind: another unwinder, another personality.
class LlvmTest : public UnnoticedTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(LlvmTest, TheHostDoesNotNotice) {
  const std::string program = GetParam();
  const std::string directory = kVictims + "llvm/";
  if (::access((directory + "victim").c_str(), X_OK) != 0) {
    GTEST_SKIP() << "built only where clang 14, libc++ and LLVM's libunwind are installed";
  }
  if (program == "shapes") {
    ExpectUnnoticed({directory + "shapes"}, kAllOfVictim);
    EXPECT_EQ(Measurements("victim_pair"), 100U);
  } else {
    ExpectUnnoticed({directory + "victim", program}, kAllOfVictim);
    EXPECT_EQ(RunFileCount(), 1U);
  }
}

INSTANTIATE_TEST_SUITE_P(Scenarios, LlvmTest,
                         ::testing::Values("shapes", "alloc", "exceptions", "uncaught", "longjmp",
                                           "thread-exits", "fibres", "signals", "fork",
                                           "backtrace"),
                         [](const auto& scenario) {
                           std::string name = scenario.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_F(RuntimesTest, AddressSanitizerInsideAProgramIsNotDisturbed) {
  if (!Exists(kVictims + "victim_asan_inside")) GTEST_SKIP() << "built by gcc only";
  for (const char* const scenario : {"alloc", "exceptions", "thread-exits"}) {
    ExpectUnnoticed({kVictims + "victim_asan_inside", scenario}, "libvictim.so.1!*,libc.so.6!*");
  }
}

// gcc's AddressSanitizer must be the first library unless it is configured to ignore the order (as
// in the session's shell snippet); such programs are then not measured.
TEST_F(RuntimesTest, DoesNotMeasureProgramsWithAddressSanitizersLibrary) {
  if (!Exists(kVictims + "victim_asan")) GTEST_SKIP() << "built by gcc only";
  for (const char* const scenario : {"alloc", "exceptions", "thread-exits"}) {
    ExpectUnnoticed({kVictims + "victim_asan", scenario}, "libvictim.so.1!*,libc.so.6!*",
                    {{"ASAN_OPTIONS", "verify_asan_link_order=0"}});
  }
  EXPECT_EQ(RunFileCount(), 0U);
}

TEST_F(RuntimesTest, AProgramWithFileCapabilitiesIsNotMeasured) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a program capabilities";
  const TempDir scratch;
  std::filesystem::permissions(scratch.path(), std::filesystem::perms(0755));
  constexpr uid_t kUser = 1;
  for (const char* name : {"", "runs", "skips", "policy"}) {
    ASSERT_EQ(::chown((state_dir_.path() / name).c_str(), kUser, kUser), 0);
  }
  struct statvfs mount {};
  ASSERT_EQ(::statvfs(scratch.path().c_str(), &mount), 0);
  if ((mount.f_flag & ST_NOSUID) != 0) GTEST_SKIP() << "mounted nosuid";
  for (const bool capable : {true, false}) {
    const std::string program = scratch.path() / (capable ? "capable" : "usual");
    std::filesystem::copy_file("/bin/echo", program);
    if (capable) {
      vfs_cap_data data{};
      data.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE;
      data.data[0].permitted = 1U << CAP_NET_BIND_SERVICE;
      if (::setxattr(program.c_str(), "security.capability", &data, XATTR_CAPS_SZ_2, 0) != 0) {
        GTEST_SKIP() << "no file capabilities here: " << std::strerror(errno);
      }
    }
    const ProcessResult result = RunProcess(Measured(
        {"setpriv", "--reuid", "1", "--clear-groups", program, "said"}, "libc.so.6!fputs*"));
    EXPECT_EQ(result.output, "said\n");
    EXPECT_EQ(result.errors, "");
    std::size_t of_program = 0;
    for (const RunFileContent& run : RunFiles()) {
      of_program += std::any_of(run.picks.begin(), run.picks.end(), [](const shm::Pick& pick) {
        return std::strcmp(pick.symbol, "fputs_unlocked") == 0;
      });
    }
    EXPECT_EQ(of_program, capable ? 0U : 1U);
  }
}

// gdb commands that step through a measured call by instruction, with a backtrace at each.
std::string StepsWithWalks(const std::string& state_dir) {
  return "set pagination off\nset confirm off\nset disable-randomization off\n"
         "set environment LD_BIND_NOW=1\n"
         "set environment LD_PRELOAD=" +
         kLibrary + "\nset environment FIELDCOST_STATE_DIR=" + state_dir +
         "\nset environment FIELDCOST_PICK=" + kAllOfVictim +
         "\nbreak debugger_walks\nrun\nset $left = 1000\n"
         "while $left > 0\n"
         "  stepi\n"
         "  bt -frame-info short-location\n"
         "  set $left = $left - 1\n"
         "  if $_caller_is(\"main\")\n    set $left = 0\n  end\n"
         "end\ndelete\ncontinue\n";
}

// The results of gdb's backtraces.
struct Walks {
  int stops = 0;
  int with_main = 0;
  int in_thunk = 0;
  int in_the_middle = 0;
};
Walks ReadWalks(const std::string& output) {
  Walks walks;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const auto has = [&line](const char* text) { return line.find(text) != std::string::npos; };
    if (line.starts_with("#0")) {
      ++walks.stops;
      if (has("fieldcost")) ++walks.in_thunk;
      if (has("debugger_is_inside")) ++walks.in_the_middle;
    }
    if (line.starts_with("#") && has(" main (")) ++walks.with_main;
  }
  return walks;
}

// The debugger must see the complete stack up to main at each step.
TEST_F(RuntimesTest, ADebuggerSeesThroughAThunkAtEveryInstruction) {
  if (RunProcess({.arguments = {"gdb", "--version"}}).exit_status != 0) {
    GTEST_SKIP() << "gdb is not here";
  }
  const auto debug = [](std::vector<std::string> with) {
    std::vector<std::string> arguments = {"gdb", "-nx", "-q", "-batch"};
    arguments.insert(arguments.end(), with.begin(), with.end());
    arguments.insert(arguments.end(), {"--args", kVictims + "lifetimes", "debugged"});
    return RunProcess({.arguments = arguments});
  };
  const TempDir scratch;
  const std::string script = scratch.path() / "script";
  std::ofstream(script) << StepsWithWalks(state_dir_.path().string());
  const ProcessResult result = debug({"-x", script});
  if (result.output.find("went on") == std::string::npos) {
    const ProcessResult plain = debug({"-ex", "run"});
    if (plain.output.find("went on") == std::string::npos) {
      GTEST_SKIP() << "gdb cannot run programs here: " << plain.errors;
    }
  }
  EXPECT_THAT(result.output, HasSubstr("went on"));
  const Walks walks = ReadWalks(result.output);
  EXPECT_EQ(walks.with_main, walks.stops);
  EXPECT_GT(walks.in_thunk, 40);
  EXPECT_GT(walks.in_the_middle, 0);
  EXPECT_EQ(Measurements("victim_call_back"), 4U);
}

// Greenlets copy parts of the stack away and back. Here measured calls are in progress on them,
// which return in a different order than they began.
TEST_F(RuntimesTest, GreenletsMaySwitchInsideMeasuredCalls) {
  if (!Exists(kVictims + "embed")) GTEST_SKIP() << "built only where libpython 3.11 is installed";
  const std::vector<std::string> command = {kVictims + "embed", "-c", R"(
import ctypes, greenlet
call = ctypes.PyDLL(None).call_in_measured_call
Function = ctypes.CFUNCTYPE(None)
log = []
def worker(name):
    def inside():
        log.append(name)
        greenlet.getcurrent().parent.switch()
        log.append(name.upper())
    def body():
        function = Function(inside)
        for i in range(200):
            call(function)
    return greenlet.greenlet(body)
workers = [worker(name) for name in "abc"]
while not all(w.dead for w in workers):
    for w in workers:
        w.switch()
print("".join(log))
)"};
  const ProcessResult without = RunProcess({.arguments = command});
  if (without.errors.find("No module named 'greenlet'") != std::string::npos) {
    GTEST_SKIP() << "python3-greenlet is not here";
  }
  const ProcessResult plain = ExpectUnnoticed(command, "libvictim.so.1!*,libc.so.6!m*");
  EXPECT_EQ(plain.output.size(), 2U * 3 * 200 + 1);
  EXPECT_GT(Measurements("victim_call_back"), 0U);
}

}  // namespace
}  // namespace fieldcost::testing
