// `fieldcost idle show|diff` with recordings created here.
#include <boost/json.hpp>
#include <random>

#include "common/base/file.h"
#include "common/base/units.h"
#include "common/draw/terminal.h"
#include "tests/common/idle/idle_recording.h"
#include "tests/tools/cli/cli_fixture.h"

namespace fieldcost::cli {
namespace {

namespace json = boost::json;

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using testing::IdleRecorder;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::ProcessResult;
using ::testing::StartsWith;

constexpr std::uint64_t kMs = 1'000'000;
constexpr int kUsage = 64;
constexpr int kCorrupt = 65;
constexpr int kNotFound = 66;
constexpr char kLock[] = "app!main;app!Queue::Take();libc.so!pthread_mutex_lock;[lock]";
constexpr char kHold[] = "app!main;app!Queue::Fill();libc.so!nanosleep;[sleep]";
constexpr char kPoll[] = "app!main;app!Serve();libc.so!poll;[events]";
constexpr char kReply[] = "app!main;app!Serve();libc.so!poll;[events]";

class IdleCommandTest : public CliTest {
 protected:
  void SetUp() override { std::filesystem::create_directories(home()); }
  std::string Path(const std::string& name) const { return (home() / name).string(); }

  // Two CPUs, one second: 600 ms lock, 300 ms events, 100 ms unexplained.
  std::string Simple() const {
    IdleRecorder recorder(Path("a.fct"));
    recorder.BeginRun(0);
    recorder.Add(
        {.cpu = 0, .to_ns = 400 * kMs, .to = kLock, .from = kHold, .waker = "[interrupt]"});
    recorder.Add({.cpu = 1, .from_ns = 300 * kMs, .to_ns = 400 * kMs, .to = "[not monitored]"});
    recorder.Add({.cpu = 0,
                  .from_ns = 500 * kMs,
                  .to_ns = 700 * kMs,
                  .to = kLock,
                  .from = kHold,
                  .waker = "[interrupt]"});
    recorder.Add({.cpu = 1,
                  .from_ns = 500 * kMs,
                  .to_ns = 800 * kMs,
                  .to = kPoll,
                  .from = kReply,
                  .waker = "app!main;app!Send()"});
    recorder.AddStat(0, 900 * kMs, 600 * kMs);
    recorder.AddStat(1, 900 * kMs, 410 * kMs);
    recorder.EndRun(1'000 * kMs);
    recorder.Close();
    return Path("a.fct");
  }

  // Runs of one second in which two CPUs are sometimes idle; `has_convoy` adds a lock convoy.
  std::string Convoy(const std::string& name, bool has_convoy, unsigned seed,
                     std::uint64_t runs = 10) const {
    IdleRecorder recorder(Path(name));
    std::mt19937 random(seed);
    const auto about = [&](std::uint64_t ns) { return ns * (95 + random() % 11) / 100; };
    for (std::uint64_t run = 0; run < runs; ++run) {
      const std::uint64_t begin_ns = run * 1'000 * kMs;
      recorder.BeginRun(begin_ns);
      for (std::uint64_t i = 0; i < 100; ++i) {
        const std::uint64_t at = begin_ns + i * 10 * kMs;
        recorder.Add({.cpu = 0,
                      .from_ns = at,
                      .to_ns = at + about(3 * kMs),
                      .to = kPoll,
                      .from = kReply,
                      .waker = "[other process]"});
        recorder.Add({.cpu = 1,
                      .from_ns = at + kMs,
                      .to_ns = at + kMs + about(4 * kMs),
                      .to = "app!main;app!Read();libc.so!read;[I/O]",
                      .from = "app!main;app!Read();libc.so!read;[I/O]",
                      .waker = "[interrupt]"});
        if (!has_convoy) continue;
        recorder.Add({.cpu = 0,
                      .from_ns = at + 4 * kMs,
                      .to_ns = at + 4 * kMs + about(2 * kMs),
                      .to = kLock,
                      .from = kHold,
                      .waker = "[interrupt]"});
      }
      recorder.EndRun(begin_ns + 1'000 * kMs);
    }
    recorder.Close();
    return Path(name);
  }
};

TEST_F(IdleCommandTest, ShowsCpusTreesAndChains) {
  const ProcessResult shown = Cli({"idle", "show", Simple()});
  EXPECT_EQ(shown.exit_status, 0) << shown.errors;
  EXPECT_THAT(shown.errors, IsEmpty());
  EXPECT_EQ(
      shown.output,
      "2 CPUs idle for 1.0 s, 90.0 % of which a stack explains; /proc/stat: 1.0 s\n"
      "Mode bpf, a tick is 2.0 ms: a test\n"
      "\n"
      "CPU    IDLE  /PROC/STAT  EXPLAINED  WHY\n"
      "  0  600 ms      600 ms    100.0 %  lock 100.0 %\n"
      "  1  400 ms      410 ms     75.0 %  events 75.0 %, not monitored 25.0 %\n"
      "all   1.0 s       1.0 s     90.0 %  lock 60.0 %, events 30.0 %, not monitored 10.0 %\n"
      "\n"
      "What left CPUs idle, and why:\n"
      "  SHARE    COST    SELF  FUNCTION\n"
      "100.0 %  900 ms          app!main\n"
      " 66.7 %  600 ms            app!Queue::Take()\n"
      " 66.7 %  600 ms              libc.so!pthread_mutex_lock\n"
      " 66.7 %  600 ms  600 ms        [lock]\n"
      " 33.3 %  300 ms            app!Serve()\n"
      " 33.3 %  300 ms              libc.so!poll\n"
      " 33.3 %  300 ms  300 ms        [events]\n"
      "\n"
      "What ended that, and what it had waited for:\n"
      "  SHARE    COST    SELF  FUNCTION\n"
      "100.0 %  900 ms          app!main\n"
      " 66.7 %  600 ms            app!Queue::Fill()\n"
      " 66.7 %  600 ms              libc.so!nanosleep\n"
      " 66.7 %  600 ms  600 ms        [sleep]\n"
      " 33.3 %  300 ms            app!Serve()\n"
      " 33.3 %  300 ms              libc.so!poll\n"
      " 33.3 %  300 ms  300 ms        [events]\n"
      "\n"
      "Both, with the waker:\n"
      " SHARE    TIME  PERIODS  LENGTHS     CHAIN\n"
      "66.7 %  600 ms        2  ██          idle <- lock: app!Queue::Take() <- sleep: "
      "app!Queue::Fill() <- woken by [interrupt]\n"
      "33.3 %  300 ms        1   █          idle <- events: app!Serve() <- events: app!Serve() <- "
      "woken by app!Send()\n"
      "LENGTHS of periods: from 130 ms to 540 ms; height: how many\n");
}

TEST_F(IdleCommandTest, ASideIsShownAlone) {
  const std::string file = Simple();
  EXPECT_THAT(Cli({"idle", "show", file, "--side", "cpus"}).output, StartsWith("CPU "));
  EXPECT_THAT(Cli({"idle", "show", file, "--side", "from"}).output,
              AllOf(HasSubstr("Fill"), Not(HasSubstr("Take"))));
  EXPECT_THAT(Cli({"idle", "show", file, "--side", "to", "--top", "1"}).output,
              AllOf(HasSubstr("Take"), HasSubstr("33.3 %  300 ms            (1 more)\n"),
                    Not(HasSubstr("Serve"))));
  EXPECT_THAT(Cli({"idle", "show", file, "--side", "pairs", "--top", "1"}).output,
              AllOf(HasSubstr("Take"), Not(HasSubstr("Send")), HasSubstr("(1 of 2 pairs")));
  EXPECT_THAT(Cli({"idle", "show", file, "--side", "pairs", "--top", "0"}).output,
              HasSubstr("Send"));
}

TEST_F(IdleCommandTest, APartOfTheTimeIsShown) {
  const std::string part = Simple() + "@500ms..750ms";
  EXPECT_THAT(Cli({"idle", "show", part, "--side", "cpus"}).output,
              AllOf(HasSubstr("  0  200 ms"), HasSubstr("  1  250 ms")))
      << "of the longer period on CPU 1 what passes then";
  EXPECT_THAT(Cli({"idle", "show", part, "--side", "pairs"}).output,
              AllOf(ContainsRegex("44.4 %  200 ms        1 .*Take"),
                    ContainsRegex("55.6 %  250 ms        0 .*Serve")));
}

TEST_F(IdleCommandTest, SeveralRunsCountTogether) {
  IdleRecorder recorder(Path("runs.fct"));
  for (std::uint64_t run = 0; run < 3; ++run) {
    recorder.BeginRun(run * 100 * kMs);
    recorder.Add({.from_ns = run * 100 * kMs,
                  .to_ns = run * 100 * kMs + 50 * kMs,
                  .to = kLock,
                  .from = kHold});
    recorder.EndRun(run * 100 * kMs + 60 * kMs);
  }
  recorder.Close();
  EXPECT_THAT(Cli({"idle", "show", Path("runs.fct")}).output,
              AllOf(HasSubstr("1 CPU idle for 150 ms"), HasSubstr("100.0 %  150 ms  150 ms"),
                    HasSubstr("100.0 %  150 ms        3  ")));
}

TEST_F(IdleCommandTest, JsonHasEverythingExactly) {
  const json::object shown =
      json::parse(Cli({"idle", "show", Simple(), "--json"}).output).as_object();
  EXPECT_EQ(shown.at("mode"), "bpf");
  EXPECT_EQ(shown.at("tick_ns"), "2000000");
  EXPECT_EQ(shown.at("why"), "a test");
  EXPECT_EQ(shown.at("all").at("idle"), "1000000000");
  EXPECT_EQ(shown.at("all").at("explained"), "900000000");
  EXPECT_EQ(shown.at("all").at("stat_idle"), "1010000000");
  EXPECT_EQ(json::serialize(shown.at("all").at("by_why")),
            R"({"lock":"600000000","events":"300000000","not monitored":"100000000"})");
  EXPECT_EQ(shown.at("cpus").as_array().size(), 2U);
  EXPECT_EQ(shown.at("cpus").at(1).at("cpu"), 1);
  EXPECT_EQ(shown.at("no_cpu"), "0");
  EXPECT_EQ(shown.at("to").at("metric"), "to-idle");
  EXPECT_EQ(shown.at("to").at("nodes").at(0).at("inclusive"), "900000000");
  EXPECT_EQ(shown.at("from").at("metric"), "from-idle");
  const json::value& pair = shown.at("pairs").at(0);
  EXPECT_EQ(pair.at("ns"), "600000000");
  EXPECT_EQ(pair.at("ticks"), "300");
  EXPECT_EQ(pair.at("periods"), "2");
  EXPECT_EQ(json::serialize(pair.at("chain")),
            R"j(["lock: app!Queue::Take()","sleep: app!Queue::Fill()","[interrupt]"])j");
  EXPECT_EQ(json::serialize(pair.at("from")),
            R"j(["app!main","app!Queue::Fill()","libc.so!nanosleep","[sleep]"])j");
  EXPECT_EQ(json::serialize(pair.at("lengths")),
            R"([{"min":"134217728","max":"268435455","count":"1"},)"
            R"({"min":"268435456","max":"536870911","count":"1"}])");
  EXPECT_EQ(shown.at("remarks").as_array().size(), 0U);
}

TEST_F(IdleCommandTest, FoldedAndPprofHaveTheSide) {
  const std::string file = Simple();
  EXPECT_EQ(Cli({"idle", "show", file, "--folded"}).output,
            "app!main;app!Queue::Take();libc.so!pthread_mutex_lock;[lock] 600000000\n"
            "app!main;app!Serve();libc.so!poll;[events] 300000000\n");
  EXPECT_THAT(
      Cli({"idle", "show", file, "--side", "pairs", "--folded"}).output,
      HasSubstr("[lock];[until];app!main;app!Queue::Fill();libc.so!nanosleep;[sleep];[woken "
                "by];[interrupt] 600000000\n"));
  EXPECT_THAT(Cli({"idle", "show", file, "--side", "cpus", "--folded"}).output,
              HasSubstr("[CPU 1];[events] 300000000\n"));
  ASSERT_EQ(Cli({"idle", "show", file, "--side", "from", "--pprof", Path("a.pb.gz")}).exit_status,
            0);
  EXPECT_THAT(Cli({"tree", "show", Path("a.pb.gz")}).output,
              AllOf(HasSubstr("from-idle of 1 run: 900 ms"), HasSubstr("Queue::Fill()")));
}

TEST_F(IdleCommandTest, ReportsFilesThatAreNotIdleRecordings) {
  tree::Dictionary dictionary;
  auto writer = recording::Writer::Create(Path("wall.fct"), dictionary, {}).value();
  const auto metric = writer.AddMetric({.name = "wall"}).value();
  ASSERT_TRUE(writer.AddStream({.name = "all", .metrics = {metric}}));
  ASSERT_TRUE(writer.Close());
  for (const char* const command : {"show", "diff"}) {
    std::vector<std::string> words = {"idle", command, Path("wall.fct")};
    if (words[1] == "diff") words.push_back(Simple());
    const ProcessResult refused = Cli(words);
    EXPECT_EQ(refused.exit_status, kUsage) << command;
    EXPECT_THAT(
        refused.errors,
        HasSubstr("wall.fct is not a recording of idle CPUs: it has wall; see `fieldcost tree "
                  "show`\n"));
  }
  ASSERT_TRUE(WriteFileAtomically(Path("a.folded"), "main;work 5\n", 0600));
  const ProcessResult folded = Cli({"idle", "show", Path("a.folded")});
  EXPECT_EQ(folded.exit_status, kUsage);
  EXPECT_THAT(folded.errors, AllOf(HasSubstr("not a recording"), HasSubstr("tree show")));
  EXPECT_EQ(Cli({"idle", "show", Path("none.fct")}).exit_status, kNotFound);
  EXPECT_EQ(Cli({"idle", "show", Simple(), "--side", "middle"}).exit_status, kUsage);
  EXPECT_EQ(Cli({"idle", "show", Simple(), "--csv"}).exit_status, kUsage);
  EXPECT_EQ(Cli({"idle", "show", Simple(), "--folded", "--json"}).exit_status, kUsage);
  EXPECT_EQ(Cli({"idle", "show", Simple(), "--folded", "--pprof", "-"}).exit_status, kUsage);
  EXPECT_EQ(Cli({"idle", "show", Simple() + "@2s..1s"}).exit_status, kUsage);
}

TEST_F(IdleCommandTest, APageIsWrittenForItsOwner) {
  const std::string file = Simple();
  const ProcessResult page = Cli({"idle", "show", file + "@100ms..", "--html", Path("a.html")});
  EXPECT_EQ(page.exit_status, 0) << page.errors;
  EXPECT_THAT(page.errors, HasSubstr(" bytes in "));
  EXPECT_THAT(ReadFile(Path("a.html"), kMiB).value(),
              AllOf(HasSubstr("a.fct@100ms.."), HasSubstr("id=\"from-tree\""),
                    HasSubstr("<span>100 ms</span><span>")));
  EXPECT_EQ(std::filesystem::status(Path("a.html")).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  for (const char* const other : {"--json", "--folded"}) {
    EXPECT_EQ(Cli({"idle", "show", file, "--html", "-", other}).exit_status, kUsage) << other;
  }
}

TEST_F(IdleCommandTest, OmitsOrNamesWhatWasNotRecorded) {
  tree::Dictionary dictionary;
  auto writer = recording::Writer::Create(Path("a.fct"), dictionary, {}).value();
  const auto metric = writer.AddMetric({.name = idle::kCpuIdle}).value();
  ASSERT_TRUE(writer.AddStream({.kind = recording::StreamKind::kIdle,
                                .name = "mode=literal tick_ns=1 why=",
                                .metrics = {metric}}));
  ASSERT_TRUE(writer.Close());
  EXPECT_THAT(Cli({"idle", "show", Path("a.fct")}).output,
              AllOf(StartsWith("0 CPUs idle for 0 ns"), HasSubstr("Mode literal"),
                    Not(HasSubstr("What left"))));
  EXPECT_THAT(Cli({"idle", "show", Path("a.fct"), "--json"}).output,
              AllOf(HasSubstr(R"("to":null,"from":null,"pairs":[])")));
  EXPECT_EQ(Cli({"idle", "show", Path("a.fct"), "--html", "-"}).exit_status, 0);
  const ProcessResult side = Cli({"idle", "show", Path("a.fct"), "--side", "from"});
  EXPECT_EQ(side.exit_status, kNotFound);
  EXPECT_THAT(side.errors, HasSubstr("from-idle was not measured; available: cpu-idle"));
}

TEST_F(IdleCommandTest, ReportsIfNothingIsExplained) {
  IdleRecorder recorder(Path("a.fct"));
  recorder.Add({.to_ns = 5 * kMs, .to = "[moved away]"});
  recorder.Close();
  EXPECT_THAT(
      Cli({"idle", "show", Path("a.fct")}).output,
      AllOf(HasSubstr("moved away 100.0 %"), HasSubstr("(no idle time is explained by a stack"),
            HasSubstr("(no explained idle period has ended)")));
}

TEST_F(IdleCommandTest, ShowsTheIntactPartOfADamagedFileAndReportsTheDamage) {
  IdleRecorder recorder(Path("a.fct"));
  recorder.Add({.to_ns = 5 * kMs, .to = kLock, .from = kHold});
  ASSERT_TRUE(recorder.writer().Flush());
  const std::uint64_t whole = recorder.writer().size_bytes();
  recorder.Add({.from_ns = 6 * kMs, .to_ns = 8 * kMs, .to = kLock, .from = kHold});
  recorder.Close();
  std::filesystem::resize_file(Path("a.fct"), whole + 11);
  const ProcessResult shown = Cli({"idle", "show", Path("a.fct")});
  EXPECT_EQ(shown.exit_status, 0);
  EXPECT_THAT(shown.output, HasSubstr("1 CPU idle for 5.0 ms"));
  EXPECT_THAT(shown.errors, HasSubstr("is lost"));
  std::filesystem::resize_file(Path("a.fct"), 40);
  EXPECT_EQ(Cli({"idle", "show", Path("a.fct")}).exit_status, kCorrupt);
}

TEST_F(IdleCommandTest, NamesOfOthersCannotSteerTheTerminal) {
  IdleRecorder recorder(Path("a.fct"));
  recorder.Add({.to_ns = kMs,
                .to = "app\x1b[2J!ma\x1b[2Jin;[lock]",
                .from = "x\x1b]0;y!z;[sleep]",
                .waker = "\x1b[31m!u"});
  recorder.Close();
  for (const char* const option : {"--side=to", "--side=pairs", "--json", "--no-pager"}) {
    const ProcessResult shown = Cli({"idle", "show", Path("a.fct"), option});
    EXPECT_EQ(shown.exit_status, 0) << shown.errors;
    EXPECT_THAT(shown.output, Not(HasSubstr("\x1b"))) << option;
  }
}

TEST_F(IdleCommandTest, LinesFitTheTerminal) {
  const std::string long_name(70, 'x');
  IdleRecorder recorder(
      Path("a.fct"),
      {.mode = idle::Mode::kUnprivileged,
       .tick_ns = 2'003'003,
       .why = "kernel.perf_event_paranoid is 2, so that BPF is not allowed to this user here"});
  const std::vector<std::string> reasons = {"[lock]",  "[events]",    "[sleep]",
                                            "[I/O]",   "[child]",     "[signal]",
                                            "[fault]", "[preempted]", "[pressure]"};
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    recorder.Add({.cpu = 255,
                  .from_ns = i * kMs,
                  .to_ns = i * kMs + (1U << (2 * i)),
                  .to = "app!main;app!" + long_name + ";" + reasons[i],
                  .from = kHold + std::string(";app!") + long_name,
                  .waker = "app!Short();app!X()"});
    recorder.Add({.cpu = 0, .from_ns = i * kMs, .to_ns = i * kMs + 77, .to = "[nobody]"});
  }
  recorder.Close();
  for (const std::size_t columns : {80U, 120U}) {
    const ProcessResult shown = testing::RunProcess(
        {.arguments = {"python3", FIELDCOST_CLI_TEST_DIR "/in_terminal.py", "500",
                       std::to_string(columns), FIELDCOST_PROGRAM, "idle", "show", Path("a.fct")},
         .environment = {{"FIELDCOST_HOME", home().string()},
                         {"LC_ALL", "C.UTF-8"},
                         {"TERM", "xterm"},
                         {"PAGER", "cat"}},
         .unset = {"NO_COLOR", "FIELDCOST_PAGER", "LD_PRELOAD"}});
    EXPECT_THAT(shown.output, HasSubstr("  <- woken by app!X()"));
    std::istringstream lines(shown.output);
    for (std::string text; std::getline(lines, text);) {
      EXPECT_LE(draw::PlainWidth(text), columns) << text;
    }
  }
}

TEST_F(IdleCommandTest, OfAConvoyTheDifferenceNamesTheLockAndNothingElse) {
  const std::string without = Convoy("without.fct", false, 1);
  const std::string with = Convoy("with.fct", true, 2);
  const auto changes = [&](const std::string& old_file, const std::string& new_file,
                           const std::string& side) {
    const ProcessResult compared =
        Cli({"idle", "diff", old_file, new_file, "--side", side, "--json"});
    std::string text = std::to_string(compared.exit_status);
    const json::value parsed = json::parse(compared.output);
    for (const json::value& change : parsed.at("comparison").at("changes").as_array()) {
      text += " " + json::serialize(change.at("path"));
    }
    return text;
  };
  EXPECT_EQ(changes(without, with, "to"),
            R"j(1 ["app!main","app!Queue::Take()","libc.so!pthread_mutex_lock","[lock]"])j");
  EXPECT_EQ(changes(without, with, "from"),
            R"j(1 ["app!main","app!Queue::Fill()","libc.so!nanosleep","[sleep]"])j");
  EXPECT_EQ(
      changes(without, with, "pairs"),
      R"j(1 ["app!main","app!Queue::Take()","libc.so!pthread_mutex_lock","[lock]","[until]",)j"
      R"j("app!main","app!Queue::Fill()","libc.so!nanosleep","[sleep]","[woken by]",)j"
      R"j("[interrupt]"])j");
  EXPECT_THAT(changes(with, without, "to"), StartsWith("0 [")) << "what is gone is no harm";
  EXPECT_EQ(changes(with, Convoy("again.fct", true, 3), "to"), "0");
  const ProcessResult shown = Cli({"idle", "diff", without, with});
  EXPECT_THAT(shown.output, AllOf(HasSubstr("1 path"), HasSubstr("[lock]")));
}

TEST_F(IdleCommandTest, OfOneRunASidePartsOfItsTimeAreCompared) {
  const auto record = [&](const std::string& name, bool has_convoy, unsigned seed) {
    return Convoy(name, has_convoy, seed, 1);
  };
  const std::string without = record("without.fct", false, 1);
  const std::string with = record("with.fct", true, 2);
  EXPECT_EQ(Cli({"idle", "diff", without, with}).exit_status, 2);
  const ProcessResult compared = Cli({"idle", "diff", without, with, "--parts", "10"});
  EXPECT_EQ(compared.exit_status, 1) << compared.errors;
  EXPECT_THAT(compared.errors, HasSubstr("10 parts of each run are treated as runs"));
  EXPECT_THAT(compared.output, AllOf(HasSubstr("1 path"), HasSubstr("[lock]")));
  const json::value sums =
      json::parse(Cli({"idle", "diff", without, with, "--parts", "7", "--json"}).output);
  const json::value whole = json::parse(Cli({"idle", "diff", without, with, "--json"}).output);
  EXPECT_EQ(sums.at("denominator"), 7);
  EXPECT_EQ(sums.at("nodes").at(0).at("inclusive"), whole.at("nodes").at(0).at("inclusive"))
      << "nothing is lost between parts";
  for (const char* const wrong : {"0", "1001", "x"}) {
    EXPECT_EQ(Cli({"idle", "diff", without, with, "--parts", wrong}).exit_status, kUsage) << wrong;
  }
}

TEST_F(IdleCommandTest, PartsOfOneRecordingAreCompared) {
  const std::string file = Simple();
  const ProcessResult compared =
      Cli({"idle", "diff", file + "@..450ms", file + "@450ms..", "--all"});
  EXPECT_EQ(compared.exit_status, 2) << "one run a side is too little to be certain";
  EXPECT_THAT(compared.output, AllOf(HasSubstr("400 ms  200 ms  -200 ms"), HasSubstr("new"),
                                     Not(HasSubstr("[CPU"))));
}

}  // namespace
}  // namespace fieldcost::cli
