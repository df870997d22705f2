#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <set>

#include "common/base/file.h"
#include "tests/support/binary_dir.h"
#include "tests/support/process.h"
#include "tests/support/run_files.h"
#include "tests/support/temp_dir.h"

// The real program, and real login shells in a separate home directory.

namespace fieldcost::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::ProcessResult;

const std::string kHello = FIELDCOST_BINARY_DIR "/victims/hello";
constexpr char kSourceLibrary[] = FIELDCOST_BINARY_DIR "/lib/libfieldcost_preload.so";

class SessionTest : public ::testing::Test {
 protected:
  // Like a login program: an environment with a home directory and little else.
  std::vector<std::string> AtLogin(const std::vector<std::string>& command,
                                   const std::vector<std::string>& variables = {}) const {
    std::vector<std::string> arguments = {"/usr/bin/env", "-i", "PATH=/usr/bin:/bin",
                                          "HOME=" + home().string()};
    arguments.insert(arguments.end(), variables.begin(), variables.end());
    arguments.insert(arguments.end(), command.begin(), command.end());
    return arguments;
  }
  ProcessResult Run(const std::vector<std::string>& command,
                    const std::vector<std::string>& variables = {}) const {
    return testing::RunProcess({.arguments = AtLogin(command, variables)});
  }
  ProcessResult Cli(std::vector<std::string> command) const {
    command.insert(command.begin(), FIELDCOST_PROGRAM);
    return Run(command, {std::string("FIELDCOST_PRELOAD_LIBRARY=") + kSourceLibrary});
  }
  ProcessResult On() const {
    EXPECT_EQ(Cli({"agent", "local"}).exit_status, 0);
    return Cli({"agent", "session", "on"});
  }
  ProcessResult Off() const { return Cli({"agent", "session", "off"}); }

  // The output of a login shell, which must print nothing to stderr.
  std::string Login(const std::string& shell, const std::string& command,
                    const std::vector<std::string>& variables = {}) const {
    const ProcessResult result = Run({shell, "-l", "-c", command}, variables);
    EXPECT_EQ(result.exit_status, 0) << shell << ": " << command;
    EXPECT_EQ(result.errors, "") << shell << ": " << command;
    return result.output;
  }

  fs::path home() const { return directory_.path() / "home"; }
  fs::path library() const {
    return home() / ".local/state/fieldcost/session/libfieldcost_preload.so";
  }
  fs::path snippet() const { return home() / ".config/fieldcost/session.sh"; }
  fs::path environment_file() const { return home() / ".config/environment.d/60-fieldcost.conf"; }

  void Write(const std::string& name, const std::string& text, mode_t mode = 0644) const {
    std::ofstream(home() / name) << text;
    ASSERT_EQ(::chmod((home() / name).c_str(), mode), 0);
  }

  // Every file and directory in the home except the agent's state, with its mode and bytes.
  std::map<std::string, std::string> Home() const {
    std::map<std::string, std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(home())) {
      const std::string name = entry.path().lexically_relative(home()).string();
      if (name.starts_with(".local")) continue;
      struct stat info {};
      EXPECT_EQ(::lstat(entry.path().c_str(), &info), 0);
      found[name] = std::to_string(info.st_mode) + " " +
                    (S_ISREG(info.st_mode) ? ReadFile(entry.path(), 1 << 20).value() : "");
    }
    return found;
  }

  SessionTest() { fs::create_directory(home()); }
  testing::TempDir directory_;
};

TEST_F(SessionTest, ProgramsOfLoginShellsHaveTheLibrary) {
  const ProcessResult on = On();
  EXPECT_EQ(on.exit_status, 0) << on.errors;
  for (const fs::path& file : {library(), snippet(), environment_file(), home() / ".profile"}) {
    EXPECT_THAT(on.output, HasSubstr("wrote    " + file.string() + "\n"));
    EXPECT_TRUE(fs::exists(file));
  }
  EXPECT_THAT(on.output, HasSubstr("takes effect at the next login"));
  for (const std::string shell : {"sh", "dash", "bash"}) {
    EXPECT_EQ(Login(shell, kHello), "with\n");
    EXPECT_EQ(Login(shell, kHello + "_static"), "without\n");
  }
  EXPECT_EQ(Run({"sh", "-c", kHello}).output, "without\n") << "no login, no session";
}

TEST_F(SessionTest, ASessionMeasures) {
  ASSERT_EQ(On().exit_status, 0);
  std::ofstream(home() / ".config/fieldcost/agent.toml")
      << "[selection]\nselection_probability = 1.0\npicks_per_run = 512\n"
      << "max_load_per_core_percent = 0\n"
      << "max_cpu_pressure_percent = 0\n";
  ASSERT_EQ(Cli({"agent", "session", "on"}).exit_status, 0);
  EXPECT_EQ(Login("sh", "/usr/bin/sqlite3 :memory: 'select 6*7'"), "42\n");
  const ProcessResult top = Cli({"top", "--local"});
  EXPECT_EQ(top.exit_status, 0) << top.errors;
  EXPECT_THAT(top.output, HasSubstr("CALLS"));
}

TEST_F(SessionTest, KeepsEarlierPreloadsAndVariables) {
  ASSERT_EQ(On().exit_status, 0);
  const std::string other = "/lib/x86_64-linux-gnu/libm.so.6";
  for (const std::string shell : {"dash", "bash"}) {
    EXPECT_EQ(Login(shell, "echo $LD_PRELOAD $ASAN_OPTIONS",
                    {"LD_PRELOAD=" + other, "ASAN_OPTIONS=verbosity=0"}),
              library().string() + ":" + other + " verify_asan_link_order=0:verbosity=0\n");
    EXPECT_EQ(Login(shell, "echo $ASAN_OPTIONS", {"ASAN_OPTIONS=verify_asan_link_order=1"}),
              "verify_asan_link_order=1\n");
  }
}

TEST_F(SessionTest, SourcingTwiceChangesNothingMore) {
  Write(".bash_profile", ". ~/.profile\n");
  ASSERT_EQ(On().exit_status, 0);
  const std::string show = "echo $LD_PRELOAD $FIELDCOST_STATE_DIR $ASAN_OPTIONS";
  const std::string once = library().string() + " " + (home() / ".local/state/fieldcost").string() +
                           " verify_asan_link_order=0\n";
  EXPECT_EQ(Login("bash", show), once);
  EXPECT_EQ(Login("dash", ". ~/.profile; set -eu; . ~/.profile; " + show), once);
}

TEST_F(SessionTest, InsideARunOnlyOneCopyIsLoaded) {
  ASSERT_EQ(On().exit_status, 0);
  const std::string count = "grep libfieldcost_preload.so /proc/self/maps | grep -c ' 00000000 '";
  EXPECT_EQ(Login("sh", count), "1\n");
  const std::string run = std::string(FIELDCOST_PROGRAM) + " run -- sh -c \"" + count + "\"";
  EXPECT_EQ(Login("sh", run, {std::string("FIELDCOST_PRELOAD_LIBRARY=") + kSourceLibrary}), "1\n");
  const std::string login = std::string(FIELDCOST_PROGRAM) + " run -- sh -l -c \"" + count + "\"";
  EXPECT_EQ(Login("sh", login, {std::string("FIELDCOST_PRELOAD_LIBRARY=") + kSourceLibrary}),
            "1\n");
}

TEST_F(SessionTest, ProgramsWithAddressSanitizerStart) {
  ASSERT_EQ(On().exit_status, 0);
  EXPECT_EQ(Login("sh", kHello + "_asan"), "with\n");
}

TEST_F(SessionTest, ProgramsWithOtherPrivilegesAreSilentAndWithoutIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(On().exit_status, 0);
  const fs::path copy = home() / "hello";
  fs::copy_file(kHello, copy);
  ASSERT_EQ(::chown(copy.c_str(), 65534, 65534), 0);
  for (const mode_t mode : {04755, 02755}) {
    ASSERT_EQ(::chmod(copy.c_str(), mode), 0);
    EXPECT_EQ(Login("sh", copy.string()), "without\n");
  }
  ASSERT_EQ(::chmod(copy.c_str(), 0755), 0);
  EXPECT_EQ(Login("sh", copy.string()), "with\n");
}

TEST_F(SessionTest, SystemdReadsTheEnvironmentFile) {
  const std::string generator =
      "/usr/lib/systemd/user-environment-generators/30-systemd-environment-d-generator";
  if (!fs::exists(generator)) GTEST_SKIP() << "no systemd here";
  ASSERT_EQ(On().exit_status, 0);
  const std::string other = "/lib/x86_64-linux-gnu/libm.so.6";
  ProcessResult result = Run({generator});
  EXPECT_EQ(result.errors, "");
  EXPECT_THAT(result.output, AllOf(HasSubstr("LD_PRELOAD=" + library().string() + "\n"),
                                   HasSubstr("ASAN_OPTIONS=verify_asan_link_order=0\n"),
                                   HasSubstr("FIELDCOST_STATE_DIR=" +
                                             (home() / ".local/state/fieldcost").string() + "\n")));
  result = Run({generator}, {"LD_PRELOAD=" + other, "ASAN_OPTIONS=verbosity=0"});
  EXPECT_THAT(result.output,
              AllOf(HasSubstr("LD_PRELOAD=" + library().string() + ":" + other + "\n"),
                    HasSubstr("ASAN_OPTIONS=verify_asan_link_order=0:verbosity=0\n")));
}

TEST_F(SessionTest, OffRestoresEveryByte) {
  Write(".profile", "umask 022\n# no end", 0640);
  Write(".bash_profile", "# has an end\n", 0600);
  Write(".bash_login", "");
  Write("dotfile", "# kept elsewhere\n");
  fs::create_symlink("dotfile", home() / ".zprofile");
  const auto before = Home();
  ASSERT_EQ(On().exit_status, 0);
  EXPECT_TRUE(fs::is_symlink(home() / ".zprofile"));
  for (const char* name : {".profile", ".bash_profile", ".bash_login", ".zprofile"}) {
    EXPECT_THAT(ReadFile(home() / name, 4096).value(), HasSubstr(snippet().string())) << name;
  }
  const ProcessResult again = Cli({"agent", "session", "on"});
  EXPECT_THAT(again.output, Not(HasSubstr("wrote"))) << "nothing to do";
  const ProcessResult off = Off();
  EXPECT_EQ(off.exit_status, 0) << off.errors;
  EXPECT_EQ(Home(), before);
  EXPECT_FALSE(fs::exists(library().parent_path()));
  EXPECT_EQ(Off().exit_status, 0);
  EXPECT_EQ(Home(), before);
}

TEST_F(SessionTest, AnEmptyHomeIsEmptyAgainAfterwards) {
  ASSERT_EQ(On().exit_status, 0);
  ASSERT_EQ(Off().exit_status, 0);
  EXPECT_THAT(Home(), IsEmpty());
}

TEST_F(SessionTest, DirectoriesThatAreInUseStay) {
  ASSERT_EQ(On().exit_status, 0);
  Write(".config/environment.d/70-mine.conf", "A=1\n");
  ASSERT_EQ(Off().exit_status, 0);
  EXPECT_TRUE(fs::exists(home() / ".config/environment.d/70-mine.conf"));
  EXPECT_FALSE(fs::exists(snippet().parent_path()));
}

TEST_F(SessionTest, SwitchedOffNewShellsAreSilentAndWithoutIt) {
  ASSERT_EQ(On().exit_status, 0);
  ASSERT_EQ(Off().exit_status, 0);
  for (const std::string shell : {"dash", "bash"}) {
    EXPECT_EQ(Login(shell, kHello + "; echo x$LD_PRELOAD$ASAN_OPTIONS"), "without\nx\n");
  }
}

TEST_F(SessionTest, SwitchedOffOldShellsStaySilentToo) {
  ASSERT_EQ(On().exit_status, 0);
  // The shell names the library only in a variable that it has exported.
  testing::BackgroundProcess old_shell(
      {.arguments =
           AtLogin({"bash", "-l", "-c", "echo ready; kill -STOP $$; " + kHello + "; echo ended"})});
  ASSERT_TRUE(old_shell.WaitForLine("ready"));
  const ProcessResult off = Off();
  EXPECT_EQ(off.exit_status, 0) << off.errors;
  EXPECT_THAT(off.output, AllOf(HasSubstr("left     " + library().string()), HasSubstr("bash")));
  EXPECT_THAT(Cli({"agent", "session", "status"}).output, HasSubstr("left"));
  EXPECT_TRUE(fs::exists(library()));
  EXPECT_FALSE(fs::exists(snippet()));
  old_shell.Signal(SIGCONT);
  EXPECT_EQ(old_shell.Wait().output, "ready\nwith\nended\n");
  const ProcessResult status = Cli({"agent", "session", "status"});
  EXPECT_THAT(status.output, HasSubstr("removed  " + library().string()));
  EXPECT_FALSE(fs::exists(library()));
  EXPECT_FALSE(fs::exists(library().parent_path()));
}

TEST_F(SessionTest, TheLibraryStaysWhileAProgramNamesIt) {
  ASSERT_EQ(On().exit_status, 0);
  testing::BackgroundProcess program(
      {.arguments = AtLogin({"sh", "-c", "echo ready; kill -STOP $$; " + kHello},
                            {"LD_PRELOAD=" + library().string()})});
  ASSERT_TRUE(program.WaitForLine("ready"));
  ASSERT_EQ(Off().exit_status, 0);
  EXPECT_TRUE(fs::exists(library()));
  program.Signal(SIGCONT);
  EXPECT_EQ(program.Wait().output, "ready\nwith\n");
  ASSERT_EQ(Off().exit_status, 0);
  EXPECT_FALSE(fs::exists(library()));
}

TEST_F(SessionTest, SwitchedOnAgainTheLeftLibraryIsUsed) {
  ASSERT_EQ(On().exit_status, 0);
  testing::BackgroundProcess old_shell(
      {.arguments = AtLogin({"bash", "-l", "-c", "echo ready; kill -STOP $$"})});
  ASSERT_TRUE(old_shell.WaitForLine("ready"));
  ASSERT_EQ(Off().exit_status, 0);
  ASSERT_EQ(Cli({"agent", "session", "on"}).exit_status, 0);
  EXPECT_EQ(Login("sh", kHello), "with\n");
  EXPECT_THAT(Cli({"agent", "session", "status"}).output, HasSubstr("activation is on"));
  EXPECT_TRUE(fs::exists(library()));
}

TEST_F(SessionTest, WithoutTheLibraryNewShellsAreSilent) {
  ASSERT_EQ(On().exit_status, 0);
  fs::remove(library());
  EXPECT_EQ(Login("bash", kHello), "without\n");
  const ProcessResult status = Cli({"agent", "session", "status"});
  EXPECT_THAT(status.output, HasSubstr("missing  " + library().string()));
  fs::remove(snippet());
  EXPECT_EQ(Login("dash", kHello), "without\n");
  ASSERT_EQ(Cli({"agent", "session", "on"}).exit_status, 0);
  EXPECT_EQ(Login("bash", kHello), "with\n");
}

TEST_F(SessionTest, OnceUninstalledNewShellsAreSilentAndWithoutIt) {
  const fs::path installed = directory_.path() / "installed.so";
  fs::copy_file(kSourceLibrary, installed);
  ASSERT_EQ(Cli({"agent", "local"}).exit_status, 0);
  const ProcessResult on = Run({FIELDCOST_PROGRAM, "agent", "session", "on"},
                               {"FIELDCOST_PRELOAD_LIBRARY=" + installed.string()});
  ASSERT_EQ(on.exit_status, 0) << on.errors;
  EXPECT_EQ(Login("bash", kHello), "with\n");
  fs::remove(installed);
  for (const std::string shell : {"sh", "dash", "bash"})
    EXPECT_EQ(Login(shell, kHello), "without\n");
  EXPECT_TRUE(fs::exists(library())) << "older sessions still name it";
}

TEST_F(SessionTest, TheCopyIsRefreshedByAnotherOn) {
  ASSERT_EQ(On().exit_status, 0);
  const std::string good = ReadFile(library(), 1 << 24).value();
  EXPECT_THAT(Cli({"agent", "session", "status"}).output, Not(HasSubstr("refresh")));
  std::ofstream(library(), std::ios::app) << "of an older package";
  EXPECT_THAT(Cli({"agent", "session", "status"}).output, HasSubstr("to refresh"));
  const ProcessResult on = Cli({"agent", "session", "on"});
  EXPECT_THAT(on.output, HasSubstr("wrote    " + library().string()));
  EXPECT_EQ(ReadFile(library(), 1 << 24).value(), good);
}

TEST_F(SessionTest, AgentOffKeepsTheFilesAndExplainsHowToRemoveThem) {
  ASSERT_EQ(On().exit_status, 0);
  const ProcessResult off = Cli({"agent", "off"});
  EXPECT_THAT(off.output, HasSubstr("fieldcost agent session off"));
  EXPECT_EQ(Login("sh", kHello), "with\n");
  EXPECT_THAT(fs::directory_iterator(testing::RunDirectoryOf(home() / ".local/state/fieldcost")),
              fs::directory_iterator());
  EXPECT_EQ(Off().exit_status, 0);
}

TEST_F(SessionTest, WithoutConsentItIsRefusedAndNothingWritten) {
  const ProcessResult on = Cli({"agent", "session", "on"});
  EXPECT_EQ(on.exit_status, 77);
  EXPECT_THAT(on.errors, HasSubstr("fieldcost agent local|on"));
  EXPECT_THAT(Home(), IsEmpty());
}

TEST_F(SessionTest, RefusesInexpressiblePathsAndNonLibraries) {
  ASSERT_EQ(Cli({"agent", "local"}).exit_status, 0);
  const auto before = Home();
  const auto with = [&](const std::string& variable) {
    return Run({FIELDCOST_PROGRAM, "agent", "session", "on"},
               {std::string("FIELDCOST_PRELOAD_LIBRARY=") + kSourceLibrary, variable});
  };
  for (const std::string& path : {home().string() + "/a b", home().string() + "/a:b"}) {
    ASSERT_EQ(Run({FIELDCOST_PROGRAM, "agent", "local"}, {"FIELDCOST_HOME=" + path}).exit_status,
              0);
    const ProcessResult on = with("FIELDCOST_HOME=" + path);
    EXPECT_EQ(on.exit_status, 64);
    EXPECT_THAT(on.errors, HasSubstr("space or colon"));
    fs::remove_all(path);
  }
  const ProcessResult on = with("FIELDCOST_PRELOAD_LIBRARY=" + kHello);
  EXPECT_EQ(on.exit_status, 64);
  EXPECT_THAT(on.errors, HasSubstr("not a shared library"));
  EXPECT_EQ(Home(), before);
}

TEST_F(SessionTest, DoesNotTouchAnotherUsersHome) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  ASSERT_EQ(Cli({"agent", "local"}).exit_status, 0);
  ASSERT_EQ(::chown(home().c_str(), 65534, 65534), 0);
  const ProcessResult on = Cli({"agent", "session", "on"});
  EXPECT_EQ(on.exit_status, 77);
  EXPECT_THAT(on.errors, HasSubstr("another user's home"));
  EXPECT_THAT(Home(), IsEmpty());
}

TEST_F(SessionTest, AForeignFileIsNotOverwrittenAndTheRestTakenBack) {
  fs::create_directories(environment_file().parent_path());
  Write(".config/environment.d/60-fieldcost.conf", "MINE=1\n");
  Write(".profile", "umask 022");
  const auto before = Home();
  const ProcessResult on = On();
  EXPECT_EQ(on.exit_status, 73);
  EXPECT_THAT(on.errors, HasSubstr(environment_file().string()));
  EXPECT_EQ(Home(), before);
  EXPECT_FALSE(fs::exists(library()));
}

TEST_F(SessionTest, LeavesAProfileThatIsNotAFileAndUndoesTheRest) {
  for (const bool is_link : {false, true}) {
    fs::remove(home() / ".profile");
    if (is_link) {
      fs::create_symlink("nowhere", home() / ".profile");
    } else {
      fs::create_directory(home() / ".profile");
    }
    const auto before = Home();
    const ProcessResult on = On();
    EXPECT_EQ(on.exit_status, 64);
    EXPECT_THAT(on.errors, HasSubstr(".profile is not a file"));
    EXPECT_EQ(Home(), before);
    EXPECT_FALSE(fs::exists(library()));
  }
}

TEST_F(SessionTest, JsonNamesFilesAndHolders) {
  ASSERT_EQ(On().exit_status, 0);
  const ProcessResult status = Cli({"agent", "session", "status", "--json"});
  EXPECT_THAT(status.output,
              AllOf(HasSubstr("\"session_active\":true"), HasSubstr("\"library_present\":true"),
                    HasSubstr("\"missing\":[]"), HasSubstr(snippet().string())));
  EXPECT_THAT(Cli({"--json", "agent", "session", "off"}).output,
              AllOf(HasSubstr("\"session_active\":false"), HasSubstr("\"holders\":[]"),
                    HasSubstr("\"library_present\":false")));
}

}  // namespace
}  // namespace fieldcost::cli
