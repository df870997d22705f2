#include "agent/reach/reach.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <map>

#include "agent/reach/preload_variable.h"
#include "common/base/file.h"
#include "common/shm/run_file.h"
#include "tests/support/binary_dir.h"
#include "tests/support/process.h"
#include "tests/support/run_files.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::reach {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using namespace std::string_literals;

const fs::path kSamples = FIELDCOST_SOURCE_DIR "/tests/fuzz/corpus/elf_reach";
constexpr char kLibrary[] = FIELDCOST_BINARY_DIR "/lib/libfieldcost_preload.so";

std::string Bytes(const fs::path& path) { return ReadFile(path, 1 << 20).value(); }

Explanation ExplainBytes(const std::string& bytes) {
  return ExplainElf([&](std::uint64_t offset, void* to, std::size_t size) {
    if (offset >= bytes.size()) return std::size_t{0};
    const std::size_t got = std::min<std::size_t>(size, bytes.size() - offset);
    std::memcpy(to, bytes.data() + offset, got);
    return got;
  });
}

TEST(ExplainElfTest, DistinguishesAllKindsOfFiles) {
  const std::map<std::string, Reach> kinds = {
      {"able", Reach::kAble},         {"static", Reach::kStatic},
      {"static_pie", Reach::kStatic}, {"shared", Reach::kNotProgram},
      {"asan", Reach::kSanitizer},    {"musl", Reach::kOtherLibc},
      {"object", Reach::kNotProgram}, {"truncated", Reach::kNotProgram}};
  for (const auto& [name, reach] : kinds) {
    EXPECT_EQ(ExplainBytes(Bytes(kSamples / name)).reach, reach) << name;
  }
  EXPECT_EQ(ExplainBytes(Bytes(kSamples / "asan")).untrusted_detail, "libasan.so.8");
  EXPECT_EQ(ExplainBytes(Bytes(kSamples / "musl")).untrusted_detail, "/lib/ld-musl-x86_64.so.1");
}

TEST(ExplainElfTest, AnotherClassOrMachineIsSeenBeforeAnythingElseIsRead) {
  std::string bytes = Bytes(kSamples / "able");
  bytes[EI_CLASS] = ELFCLASS32;
  EXPECT_EQ(ExplainBytes(bytes.substr(0, 52)).reach, Reach::kOtherMachine);
  bytes = Bytes(kSamples / "able");
  bytes[offsetof(Elf64_Ehdr, e_machine)] = static_cast<char>(EM_AARCH64);
  EXPECT_EQ(ExplainBytes(bytes).reach, Reach::kOtherMachine);
}

TEST(ExplainElfTest, NoDamageToAFileDoesHarm) {
  for (const char* name : {"able", "asan", "static_pie"}) {
    const std::string good = Bytes(kSamples / name);
    for (std::size_t size = 0; size < good.size(); size += 7) ExplainBytes(good.substr(0, size));
    // Header, program headers and dynamic section: changed numbers refer to other places.
    std::string bytes = good;
    for (std::size_t at = 0; at < good.size(); ++at) {
      for (const char value : {'\0', '\x7f', '\xff'}) {
        bytes[at] = value;
        const Explanation explanation = ExplainBytes(bytes);
        EXPECT_LT(explanation.untrusted_detail.size(), 4096U);
      }
      bytes[at] = good[at];
    }
  }
}

class ExplainProgramTest : public ::testing::Test {
 protected:
  fs::path Write(const std::string& name, const std::string& text, mode_t mode = 0755) {
    const fs::path path = directory_.path() / name;
    std::ofstream(path) << text;
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  testing::TempDir directory_;
};

TEST_F(ExplainProgramTest, AnOrdinaryProgramCanBeMeasured) {
  const auto explanation = ExplainProgram("/bin/true");
  ASSERT_TRUE(explanation) << explanation.error().message;
  EXPECT_EQ(explanation->reach, Reach::kAble);
  EXPECT_EQ(explanation->program, "/bin/true");
}

TEST_F(ExplainProgramTest, AScriptIsAsMeasurableAsItsInterpreter) {
  EXPECT_EQ(ExplainProgram(Write("shell", "#! /bin/sh -e\ntrue\n"))->program, "/bin/sh");
  EXPECT_EQ(ExplainProgram(Write("no_end", "#!/bin/sh"))->program, "/bin/sh");
  const fs::path lent = Write("static", Bytes(kSamples / "static"));
  const fs::path script = Write("script", "#!" + lent.string() + "\n");
  EXPECT_EQ(ExplainProgram(script)->reach, Reach::kStatic);
  EXPECT_EQ(ExplainProgram(Write("twice", "#!" + script.string() + "\n"))->program, lent);
}

TEST_F(ExplainProgramTest, EnvIsLookedThrough) {
  const fs::path sh = FindProgram("sh");
  EXPECT_EQ(ExplainProgram(Write("a", "#!/usr/bin/env sh\n"))->program, sh);
  EXPECT_EQ(ExplainProgram(Write("b", "#!/usr/bin/env -S A=1 sh -e\n"))->program, sh);
  EXPECT_EQ(ExplainProgram(Write("c", "#!/usr/bin/env no-such-program\n"))->program,
            "/usr/bin/env");
}

TEST_F(ExplainProgramTest, ReportsFilesThatAreNotPrograms) {
  const fs::path circle = directory_.path() / "circle";
  for (const fs::path& path :
       {Write("text", "hello\n"), Write("empty", ""), Write("lost", "#!/no/such/interpreter\n"),
        Write("circle", "#!" + circle.string() + "\n"), Write("blank", "#!\n"),
        directory_.path()}) {
    const auto explanation = ExplainProgram(path);
    ASSERT_TRUE(explanation) << path;
    EXPECT_EQ(explanation->reach, Reach::kNotProgram) << path;
    EXPECT_FALSE(explanation->untrusted_detail.empty()) << path;
  }
  const auto missing = ExplainProgram(directory_.path() / "missing");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
}

TEST_F(ExplainProgramTest, RefusesFilesThatAreNotExecutable) {
  const fs::path path = directory_.path() / "able";
  fs::copy_file(kSamples / "able", path);
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(ExplainProgram(path)->reach, Reach::kNotProgram);
  fs::permissions(path, fs::perms::owner_all);
  EXPECT_EQ(ExplainProgram(path)->reach, Reach::kAble);
}

TEST_F(ExplainProgramTest, ASetUserIdProgramOfAnotherUserIsPrivileged) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const fs::path program = Write("true", Bytes("/bin/true"));
  ASSERT_EQ(::chown(program.c_str(), 65534, 65534), 0);
  ASSERT_EQ(::chmod(program.c_str(), 04711), 0);
  EXPECT_EQ(ExplainProgram(program)->reach, Reach::kPrivileged);
  ASSERT_EQ(::chmod(program.c_str(), 02711), 0);
  EXPECT_EQ(ExplainProgram(program)->reach, Reach::kPrivileged);
  ASSERT_EQ(::chown(program.c_str(), 0, 0), 0);
  ASSERT_EQ(::chmod(program.c_str(), 06711), 0);
  EXPECT_EQ(ExplainProgram(program)->reach, Reach::kAble) << "its own user's gives nothing more";
}

TEST_F(ExplainProgramTest, ProgramsAreFoundAsTheShellFindsThem) {
  EXPECT_EQ(FindProgram("./sh"), "./sh");
  EXPECT_TRUE(fs::exists(FindProgram("sh")));
  EXPECT_EQ(FindProgram("no-such-program"), fs::path());
}

// A simulated /proc.
class SurveyTest : public ::testing::Test {
 protected:
  struct Process {
    std::string name = "program";
    std::string uids = "1000\t1000\t1000\t1000";
    std::string seccomp = "0";
    std::string maps;
    std::string environment;
    std::string command_line;
    std::string program = (kSamples / "able").string();
    std::uint64_t secure = 0;
    std::uint64_t start_ticks = 50;
    bool has_memory = true;
  };

  void Add(pid_t pid, const Process& process) {
    const fs::path directory = directory_.path() / std::to_string(pid);
    fs::create_directories(directory);
    std::ofstream(directory / "status") << "Name:\t" << process.name << "\nUid:\t" << process.uids
                                        << "\nGid:\t" << process.uids << "\n"
                                        << (process.has_memory ? "VmSize:\t  100 kB\n" : "")
                                        << "Seccomp:\t" << process.seccomp << "\n";
    std::ofstream(directory / "maps") << process.maps;
    std::ofstream(directory / "environ") << process.environment;
    std::ofstream(directory / "cmdline") << process.command_line;
    std::ofstream(directory / "stat")
        << pid << " (a) b) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 " << process.start_ticks << " 1";
    const Elf64_auxv_t vector[] = {{AT_PAGESZ, {4096}}, {AT_SECURE, {process.secure}}, {0, {0}}};
    std::ofstream(directory / "auxv").write(reinterpret_cast<const char*>(vector), sizeof vector);
    fs::create_symlink(process.program, directory / "exe");
  }

  Reach ReachOf(const Process& process) {
    const pid_t pid = ++last_pid_;
    Add(pid, process);
    const auto explained = ExplainProcess(options(), pid);
    EXPECT_TRUE(explained) << explained.error().message;
    return explained->why.reach;
  }

  SurveyOptions options() const {
    return {.proc = directory_.path(), .run_dir = state_dir() / "runs", .uid = 1000};
  }
  fs::path state_dir() const { return directory_.path() / "state"; }

  // The path of a run file.
  std::string RunFile(std::uint32_t attached) const {
    shm::RunHeader header{};
    std::memcpy(header.magic, shm::kRunMagic, sizeof header.magic);
    header.version = shm::kRunVersion;
    header.attached = attached;
    const fs::path path = state_dir() / "runs" / (attached != 0 ? "attached.run" : "detached.run");
    fs::create_directories(path.parent_path());
    std::ofstream(path).write(reinterpret_cast<const char*>(&header), sizeof header);
    return fs::canonical(path).string();
  }

  static std::string Mapping(const std::string& path) {
    return "7f00-7f01 r--p 00000000 08:01 7          " + path + "\n";
  }
  static std::string Asked() {
    return "A=1\0LD_PRELOAD=/x/other.so:/l/libfieldcost_preload.so\0B=2\0"s;
  }

  testing::TempDir directory_;
  pid_t last_pid_ = 100;
};

TEST_F(SurveyTest, AProcessIsMeasuredWhileItsRunFileIsAttached) {
  const std::string library = Mapping("/l/libfieldcost_preload.so");
  const std::string attached = library + Mapping(RunFile(1));
  const std::string detached = library + Mapping(RunFile(0));
  EXPECT_EQ(ReachOf({.maps = attached}), Reach::kMeasuring);
  EXPECT_EQ(ReachOf({.seccomp = "2", .maps = attached}), Reach::kMeasuring);
  EXPECT_EQ(ReachOf({.seccomp = "2", .maps = detached}), Reach::kSandboxFilter);
  EXPECT_EQ(ReachOf({.seccomp = "1", .maps = detached}), Reach::kSandboxStrict);
  EXPECT_EQ(ReachOf({.maps = detached}), Reach::kAble);
  EXPECT_EQ(ReachOf({.maps = library + Mapping("/other/runs/ab.run")}), Reach::kAble);
  EXPECT_EQ(ReachOf({.maps = library + Mapping(RunFile(1) + " (deleted)")}), Reach::kAble);
  EXPECT_EQ(ReachOf({.maps = library}), Reach::kAble);
  EXPECT_EQ(ReachOf({.seccomp = "2", .maps = library}), Reach::kAble);
  EXPECT_EQ(ReachOf({.maps = Mapping("/l/notlibfieldcost_preload.so")}), Reach::kNotAsked);
}

TEST_F(SurveyTest, ALinkedStateDirectoryIsTheSameOne) {
  const std::string run = RunFile(1);
  fs::create_directory_symlink(state_dir(), directory_.path() / "link");
  Add(7, {.maps = Mapping(run)});
  SurveyOptions linked = options();
  linked.run_dir = directory_.path() / "link" / "runs";
  EXPECT_EQ(ExplainProcess(linked, 7)->why.reach, Reach::kMeasuring);
}

TEST_F(SurveyTest, NamesTheReasonThatKeepsTheLibraryOut) {
  EXPECT_EQ(ReachOf({}), Reach::kNotAsked);
  EXPECT_EQ(ReachOf({.environment = Asked()}), Reach::kNotLoaded);
  EXPECT_EQ(ReachOf({.environment = "XLD_PRELOAD=/l/libfieldcost_preload.so\0"s}),
            Reach::kNotAsked);
  EXPECT_EQ(ReachOf({.environment = Asked(), .secure = 1}), Reach::kPrivileged);
  EXPECT_EQ(ReachOf({.environment = Asked(), .program = (kSamples / "static").string()}),
            Reach::kStatic);
  EXPECT_EQ(ReachOf({.program = (kSamples / "musl").string()}), Reach::kOtherLibc);
  EXPECT_EQ(ReachOf({.maps = Mapping("/lib/libasan.so.8.0.0")}), Reach::kSanitizer);
  EXPECT_EQ(ReachOf({.seccomp = "1"}), Reach::kSandboxStrict);
  EXPECT_EQ(ReachOf({.seccomp = "2"}), Reach::kNotAsked);
}

TEST_F(SurveyTest, ReadsOnlyTheUsersOwnLiveProcesses) {
  Add(7, {.name = "mine"});
  Add(8, {.uids = "1001\t1001\t1001\t1001"});
  Add(9, {.has_memory = false});
  Add(10, {.name = "changed", .uids = "1000\t0\t0\t0", .secure = 1});
  fs::create_directories(directory_.path() / "self");
  fs::create_directories(directory_.path() / "77");  // has ended meanwhile
  const auto processes = Survey(options());
  ASSERT_TRUE(processes) << processes.error().message;
  std::vector<std::string> names;
  for (const ProcessReach& process : *processes) names.push_back(process.untrusted_name);
  EXPECT_THAT(names, ElementsAre("mine", "changed"));
  EXPECT_EQ(processes->back().why.reach, Reach::kPrivileged);
  EXPECT_EQ(ExplainProcess(options(), 77).error().code, ErrorCode::kNotFound);
}

TEST_F(SurveyTest, DamagedFilesOfAProcessDoNoHarm) {
  Add(7, {.maps = std::string(100000, 'x')});  // an endless line
  EXPECT_EQ(ExplainProcess(options(), 7)->why.reach, Reach::kUnreadable);
  Add(8, {.uids = "many"});
  EXPECT_FALSE(ExplainProcess(options(), 8));
  Add(9, {});
  std::ofstream(directory_.path() / "9" / "auxv") << "short";
  EXPECT_EQ(ExplainProcess(options(), 9)->why.reach, Reach::kNotAsked);
}

TEST_F(SurveyTest, HoldersNameTheLibraryOrMayHaveReadTheSessionsFiles) {
  const auto holds = [&](const Process& process) {
    const pid_t pid = ++last_pid_;
    Add(pid, process);
    const auto holders = LibraryHolders(
        options(),
        {.library = "/l/libfieldcost_preload.so", .home = "/home/u", .started_before_ticks = 60});
    EXPECT_TRUE(holders);
    fs::remove_all(directory_.path() / std::to_string(pid));
    return !holders->empty();
  };
  const std::string home = "HOME=/home/u\0"s;
  EXPECT_TRUE(holds({.environment = Asked()}));
  EXPECT_FALSE(holds({.environment = "LD_PRELOAD=/m/libfieldcost_preload.so\0"s}));
  for (const std::string& command :
       {"-bash\0"s, "/bin/sh\0-lc\0ls\0"s, "zsh\0--login\0"s, "bash\0-i\0"s, "sh\0"s,
        "/usr/lib/systemd/systemd\0--user\0"s}) {
    EXPECT_TRUE(holds({.environment = home, .command_line = command})) << command;
    EXPECT_FALSE(holds({.environment = home, .command_line = command, .start_ticks = 60}));
    EXPECT_FALSE(holds({.environment = "HOME=/home/v\0"s, .command_line = command}));
  }
  for (const std::string& command :
       {"sh\0-c\0ls -l\0"s, "sh\0-e\0script\0-l\0"s, "ls\0-l\0"s, "systemd\0"s, ""s}) {
    EXPECT_FALSE(holds({.environment = home, .command_line = command})) << command;
  }
}

TEST_F(SurveyTest, AnotherRootDirectoryKeepsTheLibraryOut) {
  const auto reach = [&](const fs::path& root, const Process& process) {
    const pid_t pid = ++last_pid_;
    Add(pid, process);
    fs::create_directory_symlink(root, directory_.path() / std::to_string(pid) / "root");
    return ExplainProcess(options(), pid)->why.reach;
  };
  EXPECT_EQ(reach(directory_.path(), {.environment = Asked()}), Reach::kOtherRoot);
  EXPECT_EQ(reach("/", {.environment = Asked()}), Reach::kNotLoaded);
  // It was loaded before the process changed its root.
  EXPECT_EQ(reach(directory_.path(), {.maps = Mapping("/l/libfieldcost_preload.so")}),
            Reach::kAble);
}

// Real processes.
class LivingTest : public ::testing::Test {
 protected:
  // A stopped shell with these variables.
  testing::BackgroundProcess& Start(std::vector<std::pair<std::string, std::string>> environment) {
    process_.emplace(
        testing::ProcessOptions{.arguments = {"/bin/sh", "-c", "echo ready; kill -STOP $$"},
                                .environment = std::move(environment),
                                .unset = {"LD_PRELOAD"}});
    EXPECT_TRUE(process_->WaitForLine("ready"));
    return *process_;
  }
  Reach ReachOf(pid_t pid) const {
    const auto explained =
        ExplainProcess({.run_dir = state_dir_.path() / "runs", .uid = ::getuid()}, pid);
    EXPECT_TRUE(explained) << explained.error().message;
    return explained->why.reach;
  }
  testing::TempDir state_dir_{testing::kMemory};
  std::optional<testing::BackgroundProcess> process_;
};

TEST_F(LivingTest, AShellIsMeasuredLoadedOrNotAsked) {
  testing::MakeStateDirectory(state_dir_.path(), {.modules = {"libc.so.6"}});
  const std::string state = state_dir_.path().string();
  EXPECT_EQ(ReachOf(Start({}).pid()), Reach::kNotAsked);
  EXPECT_EQ(ReachOf(Start({{"LD_PRELOAD", kLibrary}}).pid()), Reach::kAble);
  EXPECT_EQ(ReachOf(Start({{"LD_PRELOAD", kLibrary},
                           {"FIELDCOST_STATE_DIR", state},
                           {"FIELDCOST_PICK", "libc.so.6!*"}})
                        .pid()),
            Reach::kMeasuring);
}

TEST_F(LivingTest, TheSurveyFindsIt) {
  const pid_t pid = Start({{"LD_PRELOAD", kLibrary}}).pid();
  const auto processes = Survey({.run_dir = state_dir_.path() / "runs", .uid = ::getuid()});
  ASSERT_TRUE(processes) << processes.error().message;
  bool found = false;
  for (const ProcessReach& process : *processes) {
    if (process.pid != pid) continue;
    found = true;
    EXPECT_EQ(process.untrusted_name, "sh");
    EXPECT_EQ(process.why.reach, Reach::kAble);
  }
  EXPECT_TRUE(found);
}

TEST_F(LivingTest, ReportsALibraryThatWasMissingAtTheStart) {
  const std::string gone = (state_dir_.path() / kPreloadLibraryName).string();
  const pid_t pid = Start({{"LD_PRELOAD", gone}}).pid();
  EXPECT_EQ(ReachOf(pid), Reach::kNotLoaded);
  const SurveyOptions options{.run_dir = state_dir_.path() / "runs", .uid = ::getuid()};
  const auto holders = LibraryHolders(options, {.library = gone, .home = "/nowhere"});
  ASSERT_TRUE(holders);
  ASSERT_EQ(holders->size(), 1U);
  EXPECT_EQ(holders->front().pid, pid);
}

TEST_F(LivingTest, AStrictSandboxIsSeen) {
  int ready[2];
  int never[2];
  ASSERT_EQ(::pipe(ready), 0);
  ASSERT_EQ(::pipe(never), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char byte = 0;
    ::prctl(PR_SET_SECCOMP, 1);
    ::syscall(SYS_write, ready[1], &byte, 1);
    ::syscall(SYS_read, never[0], &byte, 1);
    ::syscall(SYS_exit, 0);
  }
  char byte = 0;
  EXPECT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(ReachOf(child), Reach::kSandboxStrict);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  for (const int fd : {ready[0], ready[1], never[0], never[1]}) ::close(fd);
}

TEST(PreloadWithTest, TheLibraryComesFirstAndTheFieldsOnlyOnce) {
  constexpr char kOurs[] = "/l/libfieldcost_preload.so";
  EXPECT_EQ(PreloadWith(kOurs, ""), kOurs);
  EXPECT_EQ(PreloadWith(kOurs, "/x/a.so b.so"), "/l/libfieldcost_preload.so:/x/a.so:b.so");
  EXPECT_EQ(PreloadWith(kOurs, "/x/a.so:/l/libfieldcost_preload.so"),
            "/l/libfieldcost_preload.so:/x/a.so");
  EXPECT_EQ(PreloadWith(kOurs, "/session/libfieldcost_preload.so:/x/hours.so"),
            "/l/libfieldcost_preload.so:/x/hours.so");
  EXPECT_EQ(PreloadWith("", "/session/libfieldcost_preload.so:/x/a.so"), "/x/a.so");
}

}  // namespace
}  // namespace fieldcost::reach
