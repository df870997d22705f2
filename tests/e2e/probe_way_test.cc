// The path of probe points: program, rings, this machine's database, the team's server.
#include <fcntl.h>
#include <sys/inotify.h>

#include <set>

#include "tests/e2e/probe_way.h"

namespace fieldcost::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(ProbeWayTest, ServerShowsColdAndWarmStartsNextToEachOther) {
  Start();
  LogIn();
  MustDo({"probe", "on"});
  Record({"--tag", "warm", "--runs", "10"}, {kEditor, "--work", "8"});
  Record({"--tag", "cold", "--runs", "10", "--stacks"},
         {kEditor, "--work", "8", "--cold", "--scanner-delay-ms", "100"});
  Record({"--tag", "warm"}, {kEditor, "--work", "8", "--scanner-delay-ms", "8000"});
  MustDo({"probe", "flush"});
  EXPECT_EQ(Status().at("queued_batches").as_int64(), 0);
  EXPECT_EQ(Hits(database()), Hits(spool()));
  EXPECT_EQ(Number(database(), "SELECT count(*) FROM event WHERE label = 'index_open'"), 21U);
  EXPECT_EQ(Number(database(), "SELECT count(*) FROM event WHERE end_ns = 0 OR flags != 4"), 0U);

  const std::string token = Enrol();
  const http::Response listed =
      MustSend({.method = "GET",
                .target = "/v1/events?label=index_open&tag=warm&aside=show&limit=100",
                .headers = {{"Authorization", "Bearer " + token}}});
  ASSERT_EQ(listed.status, 200) << listed.body;
  EXPECT_THAT(listed.body, HasSubstr("times the median"));  // why the slow one is set aside
  const ProcessResult local = Fieldcost({"probe", "list", "--label", "index_open", "--all"});
  EXPECT_THAT(local.output, HasSubstr("times the median"));

  const ProcessResult slower = Fieldcost(
      {"probe", "compare", "tag:warm", "tag:cold", "--label", "index_open", "--fail-above", "10%"});
  EXPECT_EQ(slower.exit_status, 1) << slower.output << slower.errors;
  const ProcessResult shown = Fieldcost({"probe", "show", "last", "--stacks"});
  EXPECT_EQ(shown.exit_status, 0);
  EXPECT_GT(Number(database(),
                   "SELECT count(*) FROM frame WHERE function = 'open_index' AND file "
                   "LIKE '%probe_editor.cc' AND line > 0"),
            0U);
}

TEST_F(ProbeWayTest, RecordsNothingWithoutConsentAndSendsNothingLocal) {
  Start();
  const ProcessResult refused = Fieldcost({"probe", "run", "--", kProbed, "scopes"});
  EXPECT_NE(refused.exit_status, 0);
  EXPECT_THAT(refused.errors, HasSubstr("fieldcost probe on"));
  EXPECT_EQ(Hits(spool()), 0U);
  EXPECT_NE(Fieldcost({"probe", "on"}).exit_status, 0) << "nobody has logged in";
  Record({"--local"}, {kProbed, "scopes"});
  const std::uint64_t local = Hits(spool());
  EXPECT_GT(local, 0U);
  LogIn();
  MustDo({"probe", "on"});
  Record({"--local"}, {kProbed, "scopes"});
  MustDo({"probe", "flush"});
  EXPECT_EQ(Hits(database()), 0U);
  EXPECT_EQ(Hits(spool()), 2 * local);
  Record({}, {kProbed, "scopes"});
  MustDo({"probe", "flush"});
  EXPECT_EQ(Hits(database()), local);
}

TEST_F(ProbeWayTest, SwitchingOffDeletesTheQueue) {
  Start();
  LogIn();
  MustDo({"probe", "on"});
  Stop();
  Record({}, {kProbed, "scopes"});
  const ProcessResult failed = Fieldcost({"probe", "flush"});
  EXPECT_NE(failed.exit_status, 0);
  EXPECT_EQ(Status().at("queued_batches").as_int64(), 1);
  MustDo({"probe", "off"});
  EXPECT_EQ(Status().at("queued_batches").as_int64(), 0);
  Start();
  MustDo({"probe", "on"});
  MustDo({"probe", "flush"});
  EXPECT_EQ(Hits(database()), 0U);
}

TEST_F(ProbeWayTest, ServerThatIsKilledHasEachPointOnce) {
  Start();
  LogIn();
  MustDo({"probe", "on"});
  for (int round = 0; round < 3; ++round) {
    Record({}, {kProbed, "threads", "4", "50"});
    MustDo({"probe", "flush"});
    Kill();
    Record({}, {kProbed, "scopes"});
    EXPECT_NE(Fieldcost({"probe", "flush"}).exit_status, 0);
    Start();
    // The server has a new port. Queued events are for the same server, so the device logs in
    // again.
    std::ifstream in(user_.path() / "state" / "probe_login");
    std::string text((std::istreambuf_iterator<char>(in)), {});
    text.replace(0, text.find('\n'), url_);
    in.close();
    std::ofstream(user_.path() / "state" / "probe_login") << text;
    MustDo({"probe", "flush"});
    EXPECT_EQ(Hits(database()), Hits(spool()));
  }
}

TEST_F(ProbeWayTest, KilledRecorderLosesNothingOfARunningProgram) {
  constexpr int kHalf = 3000;
  const std::filesystem::path pipe = user_.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  BackgroundProcess recorder(Options({"probe", "run", "--local", "--", kProbed, "in_two_halves",
                                      std::to_string(kHalf), pipe.string()}));
  ASSERT_TRUE(recorder.WaitForLine("half"));
  recorder.Signal(SIGKILL);
  EXPECT_EQ(recorder.Wait().signal, SIGKILL);
  std::ofstream(pipe) << "go on\n";
  EXPECT_TRUE(WaitUntil([&] {
    EXPECT_EQ(Fieldcost({"probe", "flush"}).exit_status, 0);
    return Number(spool(), "SELECT count(*) FROM event WHERE end_ns > 0") > 0;
  }));
  EXPECT_EQ(Number(spool(),
                   "SELECT count(*) FROM hit JOIN site ON site.row = site WHERE label = "
                   "'half'"),
            2U * kHalf);
  EXPECT_EQ(Number(spool(), "SELECT count(*) FROM event WHERE flags & 1"), 0U) << "incomplete";
}

// As on a full disk.
TEST_F(ProbeWayTest, ProgramRunsWithoutStorageAndItsEventsAreStoredLater) {
  Record({"--local"}, {kProbed, "scopes"});
  const std::uint64_t before = Hits(spool());
  const auto execute = [&](const char* sql) {
    auto database = sqlite::Database::Open(spool(), sqlite::Database::Access::kWrite);
    ASSERT_TRUE(database.has_value());
    ASSERT_TRUE(database->Execute(sql).has_value());
  };
  execute("CREATE TRIGGER full BEFORE INSERT ON ring BEGIN SELECT RAISE(ABORT, 'full'); END");
  const ProcessResult run = Fieldcost({"probe", "run", "--local", "--", kProbed, "many", "10"});
  EXPECT_EQ(run.output, "went on\n");
  EXPECT_NE(run.exit_status, 0);
  EXPECT_THAT(run.errors, HasSubstr("full"));
  EXPECT_EQ(Hits(spool()), before);
  execute("DROP TRIGGER full");
  MustDo({"probe", "flush"});
  EXPECT_EQ(Number(spool(),
                   "SELECT count(*) FROM hit JOIN site ON site.row = site WHERE label = "
                   "'one'"),
            10U);
}

TEST_F(ProbeWayTest, MemoryOfTheProgramIsNeverKeptNorSent) {
  Start();
  LogIn();
  MustDo({"probe", "on"});
  Record({"--stacks"}, {kProbed, "canary", "2b5f"});
  MustDo({"probe", "flush"});
  EXPECT_GT(Number(database(), "SELECT count(*) FROM hit WHERE stack IS NOT NULL"), 0U);
  Stop();
  int files = 0;
  for (const std::filesystem::path& directory : {user_.path(), home()}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
      if (!entry.is_regular_file()) continue;
      const auto bytes = ReadFile(entry.path(), 64 * kMiB);
      ASSERT_TRUE(bytes.has_value()) << entry.path();
      ++files;
      EXPECT_THAT(*bytes, Not(HasSubstr("canary_in_a_local"))) << entry.path();
    }
  }
  EXPECT_GT(files, 4);
}

// Whether a file of this user in memory contains the text. Reads only pages that were written.
bool IsOnMemory(const std::filesystem::path& user, const std::string& text) {
  std::error_code none;
  for (const std::filesystem::path& root : MemoryRoots()) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(root / user.relative_path(), none)) {
      const UniqueFd fd(::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC));
      if (!entry.is_regular_file(none) || !fd.valid()) continue;
      const auto size = static_cast<off_t>(entry.file_size(none));
      for (off_t at = ::lseek(fd.get(), 0, SEEK_DATA); at >= 0 && at < size;) {
        const off_t end = ::lseek(fd.get(), at, SEEK_HOLE);
        std::string bytes(static_cast<std::size_t>(end - at), '\0');
        EXPECT_EQ(::pread(fd.get(), bytes.data(), bytes.size(), at), end - at);
        if (bytes.find(text) != std::string::npos) return true;
        at = ::lseek(fd.get(), end, SEEK_DATA);
      }
    }
  }
  return false;
}

TEST_F(ProbeWayTest, NextCommandWipesMemoryOfAProgramThatWasKilledWithItsRecorder) {
  const std::string helper = FIELDCOST_BINARY_DIR "/bin/fieldcost-probe";
  const std::vector<std::string> commands[] = {{kFieldcost, "probe", "list"},
                                               {kFieldcost, "probe", "status"},
                                               {kFieldcost, "agent", "status"},
                                               {kFieldcost, "run", "--", "true"},
                                               {helper, "wipe"}};
  const std::filesystem::path pipe = user_.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::vector<std::string>& command : commands) {
    {
      BackgroundProcess recorder(Options({"probe", "run", "--local", "--stacks", "--", kProbed,
                                          "canary_killed", "2b5f", pipe.string()}));
      ASSERT_TRUE(recorder.WaitForLine("recorded"));
      recorder.Signal(SIGKILL);  // also reaped, but not its output, which the program still holds
    }
    ProcessOptions next = Options({});
    next.arguments = command;
    RunProcess(next);
    EXPECT_TRUE(IsOnMemory(user_.path(), "canary_in_a_local"))
        << command[1] << ": the program still runs, and its stacks wait for `probe flush`";
    std::ofstream(pipe) << "end\n";
    ASSERT_TRUE(WaitUntil([&] {
      RunProcess(next);
      return !IsOnMemory(user_.path(), "canary_in_a_local");
    })) << command[1];
  }
  MustDo({"probe", "flush"});
  EXPECT_EQ(Number(spool(),
                   "SELECT count(*) FROM hit JOIN site ON site.row = site WHERE label = "
                   "'next to a secret'"),
            3U * std::size(commands))
      << "points are kept, without stacks";
}

// The names of files in the state directory that were opened.
std::set<std::string> Opened(int inotify) {
  std::set<std::string> names;
  alignas(inotify_event) char buffer[16 * 1024];
  for (ssize_t got = 0; (got = ::read(inotify, buffer, sizeof buffer)) > 0;) {
    for (ssize_t at = 0; at < got;) {
      const auto* const event = reinterpret_cast<const inotify_event*>(buffer + at);
      if (event->len > 0) names.insert(event->name);
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
  }
  return names;
}

TEST_F(ProbeWayTest, AnonymousRoadNeverLooksAtTheOtherOneNorThisAtThat) {
  Record({"--local"}, {kProbed, "scopes"});
  MustDo({"agent", "local"});
  const int inotify = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  ASSERT_GE(inotify, 0);
  ASSERT_GE(::inotify_add_watch(inotify, (user_.path() / "state").c_str(), IN_OPEN), 0);
  const ProcessResult once =
      RunProcess({.arguments = {kFieldcostd, "--once"},
                  .environment = {{"FIELDCOST_HOME", user_.path().string()}}});
  EXPECT_EQ(once.exit_status, 0) << once.errors;
  const std::set<std::string> anonymous = Opened(inotify);
  EXPECT_THAT(anonymous, ::testing::Contains("agent.db"));
  EXPECT_THAT(anonymous, ::testing::Each(Not(::testing::StartsWith("probe"))));
  Record({"--local"}, {kProbed, "scopes"});
  MustDo({"probe", "flush"});
  const std::set<std::string> probes = Opened(inotify);
  EXPECT_THAT(probes, ::testing::Contains("probe.db"));
  for (const std::string& name : probes) EXPECT_THAT(name, ::testing::StartsWith("probe")) << name;
  ::close(inotify);
}

}  // namespace
}  // namespace fieldcost::testing
