// From a new service to measured costs in editors, with one line typed on the server and one on
// each volunteer's machine. Everything else is done by the processes that units, timers and logins
// start, with their own clock.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <boost/json.hpp>
#include <fstream>
#include <sstream>

#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/catalog/catalog.h"
#include "tests/support/binary_dir.h"
#include "tests/support/fake_time.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_until.h"
#include "tests/tools/lsp/lsp_client.h"

namespace fieldcost::testing {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

constexpr char kBin[] = FIELDCOST_BINARY_DIR "/bin/";
// Every agent is on probation for its first three batches and a day, and rows of fewer than five
// agents are withheld: the service's defaults.
constexpr int kVolunteers = 5;
constexpr int kProbationBatches = 3;
constexpr int kCalls = 40;  // by each run; there is one per batch
constexpr int kAllCalls = kVolunteers * kProbationBatches * kCalls;
constexpr int kMostRefreshes = 12;
const std::string kProgram =
    FIELDCOST_BINARY_DIR "/victims/zlib_calls compress2 " + std::to_string(kCalls) + " 100";

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from << " is not in " << text;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// The commands of the document's first block, with continued lines joined.
Words DocumentedCommands() {
  const std::string text =
      ReadFile(FIELDCOST_SOURCE_DIR "/deploy/JOINING.md", 1 << 20).value_or("");
  const std::size_t begin = text.find("```sh\n");
  std::istringstream block(text.substr(begin + 6, text.find("```\n", begin + 6) - begin - 6));
  Words commands;
  bool is_continued = false;
  for (std::string line; std::getline(block, line);) {
    line.erase(0, line.find_first_not_of(' '));
    const bool continues = line.ends_with('\\');
    if (continues) line.pop_back();
    is_continued ? commands.back() += line : commands.emplace_back(line);
    is_continued = continues;
  }
  return commands;
}

// "2026-11-26 12:52 UTC", whose seconds are cut off: the next minute.
WallTime AfterMinute(const json::value& text) {
  std::tm parts{};
  const std::string written(text.as_string());
  EXPECT_NE(::strptime(written.c_str(), "%Y-%m-%d %H:%M UTC", &parts), nullptr) << written;
  return WallTime(seconds(::timegm(&parts))) + minutes(1);
}

class OneLineEachTest : public ::testing::Test {
 protected:
  struct Volunteer {
    fs::path home;
    int sent = 0;
    WallTime next{};
  };

  OneLineEachTest() {
    RemoveMemoryOfEndedClocks();
    // The beginning of a past week. All days below are in that week, and thus in one quarter.
    // Programs ask the kernel for the time, so by their clocks they run after that week.
    SetClock(WallTime(std::chrono::days(7) * (WeekOf(SystemClock().Now()) - 1)) + hours(1));
    for (int i = 0; i < kVolunteers; ++i) {
      volunteers_.push_back({.home = directory_.path() / ("home" + std::to_string(i))});
      fs::create_directories(volunteers_.back().home / ".config/fieldcost");
      // Every run is measured, no machine counts as busy, and it is never on its battery.
      std::ofstream(volunteers_.back().home / ".config/fieldcost/agent.toml")
          << "[selection]\nselection_probability = 1.0\npicks_per_run = 512\n"
             "max_load_per_core_percent = 10000\nmax_cpu_pressure_percent = 200\n"
             "max_programs = 0\noverhead_percent = 0\nio_probability = 0\n"
             "[modules]\nbuiltin_modules = false\nextra_modules = [\"libz.so.1\"]\n"
             "[upload]\non_battery = true\non_metered = true\n";
    }
  }

  ~OneLineEachTest() override {
    server_.reset();
    RemoveMemoryOfEndedClocks();
  }

  void SetClock(WallTime time) {
    now_ = time;
    SetOffset(clock_file(), Offset());
  }
  std::string Offset() const {
    const auto ahead = std::chrono::ceil<seconds>(now_ - SystemClock().Now());
    return (ahead.count() < 0 ? "" : "+") + std::to_string(ahead.count()) + "s";
  }
  fs::path clock_file() const { return directory_.path() / "clock"; }
  fs::path service() const { return directory_.path() / "service"; }

  // The environment of a login of this user.
  Words Environment(const fs::path& home) const {
    Words variables = {
        "PATH=" + std::string(kBin) + ":/usr/bin:/bin", "HOME=" + home.string(),
        "XDG_RUNTIME_DIR=" + home.string(),  // without a service manager of this user
        "LC_ALL=C.UTF-8",
        "FIELDCOST_PRELOAD_LIBRARY=" FIELDCOST_BINARY_DIR "/lib/libfieldcost_preload.so"};
    for (const auto& [name, value] : AtOffset({}, Offset()).environment) {
      variables.push_back(name + "=" + value);
    }
    return variables;
  }
  ProcessOptions At(const fs::path& home, const Words& words) const {
    ProcessOptions options{.arguments = {"/usr/bin/env", "-i"}, .directory = service()};
    for (const Words& part : {Environment(home), words}) {
      options.arguments.insert(options.arguments.end(), part.begin(), part.end());
    }
    return options;
  }
  std::string MustRun(const fs::path& home, const Words& words) const {
    const ProcessResult result = RunProcess(At(home, words));
    EXPECT_EQ(result.exit_status, 0) << ::testing::PrintToString(words) << "\n"
                                     << result.errors << result.output;
    return result.output;
  }
  json::value Status(const Volunteer& volunteer) const {
    return json::parse(MustRun(volunteer.home, {"fieldcost", "agent", "status", "--json"}));
  }

  void InitialiseServer(std::string documented);
  void StartServer();
  void Join(const std::string& documented);
  void WorkForAMoment(Volunteer& volunteer, const std::string& awaited, bool runs_a_program);
  void LiveUntilAllAreTrusted();
  void RefreshFirst();
  void ExpectAllCalls() const;
  void LookInAnEditor();

  const TempDir directory_;
  WallTime now_{};
  std::vector<Volunteer> volunteers_;
  std::string line_;  // for volunteers, as printed by init
  std::unique_ptr<BackgroundProcess> server_;
};

// Runs the documented line, without the service manager.
void OneLineEachTest::InitialiseServer(std::string documented) {
  documented = Replaced(documented, "sudo ", "");
  documented = Replaced(documented, "/srv/fieldcost", service().string());
  documented = Replaced(documented, "fieldcost.example.org", "localhost");
  documented = Replaced(documented, " --start ", " --port 0 --admin-port 0 ");
  fs::create_directory(service());
  const std::string output = MustRun(directory_.path(), {"/bin/sh", "-c", documented});
  const std::size_t at = output.find("  fieldcost agent join ");
  ASSERT_NE(at, std::string::npos) << output;
  line_ = output.substr(at + 2, output.find('\n', at) - at - 2);
}

// Starts it as its unit does: with the program and settings of the unit's drop-in.
void OneLineEachTest::StartServer() {
  // The steady clock cannot be put forward, so an hour between two publications is a second.
  std::ofstream(service() / "aggregator.toml", std::ios::app)
      << "[publish]\ninterval_seconds = 1\n";
  const std::string unit = ReadFile(service() / "fieldcost-aggregator.conf", 1 << 16).value_or("");
  const std::string mark = "\nExecStart=/";
  const std::size_t at = unit.find(mark) + mark.size() - 1;
  const std::string command = "exec " + unit.substr(at, unit.find('\n', at) - at);
  server_ = std::make_unique<BackgroundProcess>(
      AtOffsetIn({.arguments = {"/bin/sh", "-c", command}}, clock_file()));
  ASSERT_TRUE(server_->WaitForLine("listening on "));
}

void OneLineEachTest::Join(const std::string& documented) {
  // The document shows the same line, for a server with a known port.
  EXPECT_EQ(line_, Replaced(documented, "'https://fieldcost.example.org:8443'",
                            "\"$(cat " + service().string() + "/address)\""));
  for (const Volunteer& volunteer : volunteers_) {
    EXPECT_THAT(MustRun(volunteer.home, {"/bin/sh", "-c", line_ + " --yes"}),
                HasSubstr("\njoined\n"));
  }
}

// From login to logout: the unit starts the daemon, and the user runs a program.
void OneLineEachTest::WorkForAMoment(Volunteer& volunteer, const std::string& awaited,
                                     bool runs_a_program) {
  BackgroundProcess daemon(At(volunteer.home, {"fieldcostd"}));
  ASSERT_TRUE(awaited.empty() || daemon.WaitForLine(awaited)) << daemon.Wait().output;
  if (runs_a_program) {
    MustRun(volunteer.home, {"/bin/sh", "-l", "-c", kProgram});
    ASSERT_TRUE(daemon.WaitForLine("harvested ")) << daemon.Wait().output;
  }
  daemon.Signal(SIGTERM);
  EXPECT_EQ(daemon.Wait().exit_status, 0);
  if (runs_a_program) volunteer.next = AfterMinute(Status(volunteer).at("next_upload"));
}

// Lets each agent send its batches at the moments that it has chosen.
void OneLineEachTest::LiveUntilAllAreTrusted() {
  for (Volunteer& volunteer : volunteers_) {
    ASSERT_NO_FATAL_FAILURE(WorkForAMoment(volunteer, "", true));
  }
  for (int i = 0; i < kVolunteers * kProbationBatches; ++i) {
    Volunteer* first = nullptr;
    for (Volunteer& volunteer : volunteers_) {
      if (volunteer.sent == kProbationBatches) continue;
      if (first == nullptr || volunteer.next < first->next) first = &volunteer;
    }
    SetClock(std::max(now_, first->next));
    ++first->sent;
    ASSERT_NO_FATAL_FAILURE(
        WorkForAMoment(*first, "sent 1 batch", first->sent < kProbationBatches));
  }
}

// Runs what the timer fieldcost-sync.timer starts, whenever the first volunteer's catalogue is due.
void OneLineEachTest::RefreshFirst() {
  const Volunteer& volunteer = volunteers_.front();
  for (int i = 0; i < kMostRefreshes; ++i) {
    const json::value status = Status(volunteer);
    SetClock(std::max(now_, AfterMinute(status.at("refresh").at("next"))));
    MustRun(volunteer.home, {"fieldcost", "sync", "--if-due"});
    if (RunProcess(At(volunteer.home, {"fieldcost", "show", "compress2"})).exit_status == 0) return;
  }
  FAIL() << "the catalogue has no costs yet: " << json::serialize(Status(volunteer));
}

// The sums of the catalogue are those of every batch.
void OneLineEachTest::ExpectAllCalls() const {
  const auto catalogue =
      catalog::Catalog::Open(volunteers_.front().home / ".local/share/fieldcost/catalog.db");
  ASSERT_TRUE(catalogue) << catalogue.error().message;
  const auto rows = catalogue->Find("compress2", "libz.so.1");
  ASSERT_TRUE(rows) << rows.error().message;
  std::uint64_t calls = 0;
  for (const stats::StatRow& row : *rows) {
    const bool is_of_all = row.key.hardware == stats::HardwareClass{};
    if (is_of_all && row.key.metric == stats::Metric::kWallTime) {
      calls += row.histogram.Totals().count;
    }
  }
  EXPECT_EQ(calls, std::uint64_t{kAllCalls});
}

void OneLineEachTest::LookInAnEditor() {
  const ProcessResult installed =
      RunProcess({.arguments = {"dpkg-query", "-W", "-f", "${Version}", "zlib1g"}});
  ASSERT_EQ(installed.exit_status, 0) << installed.errors;
  lsp::LspClient editor(Environment(volunteers_.front().home));
  editor.Start();
  constexpr char kUri[] = "file:///w/pack.c";
  editor.Open(kUri, "c",
              "#include <zlib.h>\nint Pack() { return compress2(to, &size, from, 9, 1); }\n");
  const json::value hover =
      editor.Result("textDocument/hover",
                    json::object{{"textDocument", json::object{{"uri", kUri}}},
                                 {"position", json::object{{"line", 1}, {"character", 22}}}});
  const std::string text(hover.at("contents").at("value").as_string());
  EXPECT_THAT(text, StartsWith("compress2: typically "));
  // n counts the first batch of each contribution (aggregator/publish/BOUNDS.md).
  const std::string calls = std::to_string(kVolunteers * kCalls);
  const std::string contributions = std::to_string(kVolunteers) + " contributions";
  EXPECT_THAT(text, HasSubstr("n = " + calls + " calls in " + contributions + "; "));
  EXPECT_THAT(text, HasSubstr("libz.so.1 " + installed.output + ", installed here\n"));
  EXPECT_THAT(text, HasSubstr(" 1 of 1 fragments current\n"));
  const std::string mark = "\nDetails: file://";
  ASSERT_THAT(text, HasSubstr(mark));
  const std::size_t at = text.find(mark) + mark.size();
  const fs::path page = text.substr(at, text.find('\n', at) - at);
  ASSERT_TRUE(WaitUntil([&] { return fs::exists(page); })) << page;
  EXPECT_THAT(ReadFile(page, 1 << 20).value_or(""), HasSubstr(calls + " calls, " + contributions));
  EXPECT_TRUE(editor.Result("shutdown", nullptr).is_null());
  editor.Notify("exit", nullptr);
  EXPECT_EQ(editor.ExitStatus(), 0);
}

TEST_F(OneLineEachTest, LeadsFromInitToTheCostInAnEditor) {
  FIELDCOST_SKIP_WITHOUT_FAKE_TIME();
  const Words documented = DocumentedCommands();
  ASSERT_EQ(documented.size(), 2U) << "one line on the server, and one on each volunteer's machine";
  ASSERT_NO_FATAL_FAILURE(InitialiseServer(documented[0]));
  ASSERT_NO_FATAL_FAILURE(StartServer());
  ASSERT_NO_FATAL_FAILURE(Join(documented[1]));
  ASSERT_NO_FATAL_FAILURE(LiveUntilAllAreTrusted());
  std::string published;
  do {
    ASSERT_TRUE(server_->WaitForLine("published snapshot ", &published));
  } while (published.find(" rows=0 ") != std::string::npos);
  ASSERT_NO_FATAL_FAILURE(RefreshFirst());
  ExpectAllCalls();
  LookInAnEditor();
  for (const Volunteer& volunteer : volunteers_) {
    MustRun(volunteer.home, {"fieldcost", "agent", "leave"});
  }
  server_->Signal(SIGTERM);
  EXPECT_EQ(server_->Wait().exit_status, 0);
}

}  // namespace
}  // namespace fieldcost::testing
