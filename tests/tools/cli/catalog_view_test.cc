#include <signal.h>

#include "common/catalog/catalog.h"
#include "tests/common/stats/published_row.h"
#include "tests/support/fake_clock.h"
#include "tests/tools/cli/catalog_fixture.h"

namespace fieldcost::cli {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ProcessResult;
using ::testing::StartsWith;

using CatalogViewTest = CatalogCliTest;

TEST_F(CatalogViewTest, TopPrintsTheCostTable) {
  PublishAndSync(rows_);
  const ProcessResult result = Cli({"top"});
  EXPECT_EQ(result.exit_status, 0) << result.errors;
  EXPECT_THAT(
      result.output,
      StartsWith(
          "   TOTAL   SHARE  API      LIBRARY      N          P50     P95     P99         MEAN"
          "  CALLS  CONTRIB  ALLOC/CALL  VERSION  SPECTRUM\n"
          " ≥ 35 ms    99 %  twin     libb.so.2    5       7.0 ms       -       -       7.0 ms"
          "      5        1           -  1.2-3             █\n"
          "≥ 450 µs   1.3 %  open_it  liba.so.1  300       1.5 µs  1.5 µs  1.5 µs       1.5 µs"
          "    300        1     4.0 KiB  1.2-3       █\n"
          " ≥ 35 ns  <0.1 %  twin     liba.so.1    5  under 16 ns       -       -  under 16 ns"
          "      5        1           -  1.2-3    █\n"
          "cheap under 16 ns ███┃████┃█ 8.4 ms expensive; ┃ = 1 µs, 1 ms; height: how many\n"
          "(P50 to P99: the typical machine's, in runs started under low load; "
          "TOTAL ≥: of measured runs only)\n"
          "catalogue: snapshot 1, published "));
}

TEST_F(CatalogViewTest, TopFiltersSortsAndLimits) {
  PublishAndSync(rows_);
  const ProcessResult calls = Cli({"top", "--sort", "calls", "--limit", "1"});
  EXPECT_THAT(calls.output, AllOf(HasSubstr("open_it"), Not(HasSubstr("twin")),
                                  HasSubstr("(1 of 3 APIs; more: --limit)")));
  const ProcessResult library = Cli({"top", "--library", "libb*"});
  EXPECT_THAT(library.output, AllOf(HasSubstr("twin"), Not(HasSubstr("liba"))));
}

TEST_F(CatalogViewTest, ListsWaitingFunctionsSeparately) {
  std::vector<stats::StatRow> rows = rows_;
  rows.push_back(testing::MakeRow("libc.so.6", "poll", 10, 900'000'000));
  rows.push_back(testing::MakeRow("libc.so.6", "read", 10, 1500));
  rows.push_back(testing::MakeRow("libmine.so.1", "poll", 10, 1500));
  PublishAndSync(rows);
  for (const char* key : {"total", "p50"}) {  // from the index, and from all rows
    const std::string top = Cli({"top", "--sort", key}).output;
    EXPECT_THAT(top, AllOf(HasSubstr("read  "), HasSubstr("libmine.so.1"),
                           HasSubstr("(waiting: 1 function set apart, since waiting is not a cost: "
                                     "poll; --waiting lists them)\n"),
                           Not(HasSubstr("900 ms"))))
        << key;
    EXPECT_THAT(Cli({"top", "--sort", key, "--waiting"}).output,
                AllOf(HasSubstr("900 ms"), Not(HasSubstr("set apart"))))
        << key;
  }
  EXPECT_EQ(Json(Cli({"top", "--json"}).output, "len(d['rows'])"), "5\n");
  EXPECT_EQ(Json(Cli({"top", "--json", "--waiting"}).output, "len(d['rows'])"), "6\n");
}

TEST_F(CatalogViewTest, ListsWaitingFunctionsSeparatelyInRankings) {
  PublishAndSync({testing::MakeRow("libc.so.6", "poll", 10, 900'000'000),
                  testing::MakeRow("libc.so.6", "pollute", 10, 1500),
                  testing::MakeRow("libc.so.6", "ppoll", 10, 800'000'000)});
  const auto is_set_apart =
      AllOf(HasSubstr("pollute"), Not(HasSubstr("900 ms")),
            HasSubstr("(waiting: 2 functions set apart, since waiting is not a cost: poll, ppoll; "
                      "--waiting lists them)\n"));
  EXPECT_THAT(Cli({"search", "poll"}).output, is_set_apart);
  EXPECT_THAT(Cli({"search", "poll", "--limit", "1"}).output, HasSubstr("pollute"));
  const std::string spectrum = Cli({"spectrum", "--library", "libc.so.6"}).output;
  EXPECT_THAT(spectrum, AllOf(HasSubstr("pollute"), HasSubstr("(waiting: 2 functions set apart")));
  EXPECT_EQ(Json(Cli({"search", "poll", "--json"}).output, "len(d['rows'])"), "1\n");
}

TEST_F(CatalogViewTest, ShowsWaitingFunctionsOnRequest) {
  PublishAndSync({testing::MakeRow("libc.so.6", "poll", 10, 900'000'000),
                  testing::MakeRow("libc.so.6", "pollute", 10, 1500)});
  const auto is_shown = AllOf(HasSubstr("900 ms"), Not(HasSubstr("set apart")));
  EXPECT_THAT(Cli({"search", "poll", "--waiting"}).output, is_shown);
  EXPECT_THAT(Cli({"search", "poll", "--sort", "name"}).output, is_shown);
  EXPECT_THAT(Cli({"search", "poll*", "--library", "libc*"}).output, HasSubstr("set apart"));
  EXPECT_THAT(Cli({"search", "libc!*oll"}).output, is_shown) << "nothing else matches";
  for (const std::vector<std::string>& asked :
       std::vector<std::vector<std::string>>{{"poll"}, {"--library", "libc.so.6", "--waiting"}}) {
    std::vector<std::string> words = {"spectrum"};
    words.insert(words.end(), asked.begin(), asked.end());
    EXPECT_THAT(Cli(words).output, AllOf(HasSubstr("poll  "), Not(HasSubstr("set apart"))));
  }
}

TEST_F(CatalogViewTest, TopReportsIfAllFunctionsWait) {
  PublishAndSync({testing::MakeRow("libc.so.6", "poll", 10, 900'000'000)});
  EXPECT_THAT(Cli({"top"}).output, StartsWith("(waiting: 1 function set apart"));
}

TEST_F(CatalogViewTest, ShowIsBriefUnlessAskedForAll) {
  std::vector<stats::StatRow> rows = rows_;
  rows.push_back(testing::MakeRow("liba.so.1", "open_it", 300, 0, stats::Metric::kDiskRead));
  rows.push_back(
      testing::MakeRow("liba.so.1", "open_it", 300, 4096, stats::Metric::kAllocExclusive));
  rows.push_back(testing::MakeRow("liba.so.1", "open_it", 3, 7, stats::Metric::kCallsPerRun));
  PublishAndSync(rows);
  const std::string brief = Cli({"show", "open_it"}).output;
  EXPECT_THAT(brief, AllOf(HasSubstr("\n  wall_time"), HasSubstr("\n  alloc_inclusive"),
                           HasSubstr("\n  alloc_exclusive  the same as alloc_inclusive\n"),
                           HasSubstr("\n  calls_per_run    p50 7 calls, p99 -, mean 7 calls; "
                                     "3 runs, 21 calls measured\n"),
                           HasSubstr("\n  always 0         disk_read\n")));
  EXPECT_THAT(Cli({"show", "open_it", "--all"}).output,
              AllOf(HasSubstr("\n  disk_read  "), HasSubstr("\n  calls_per_run  "),
                    Not(HasSubstr("the same as"))));
  EXPECT_THAT(Cli({"show", "open_it", "--metric", "calls_per_run"}).output,
              HasSubstr("\n  calls_per_run  "));
}

TEST_F(CatalogViewTest, NeverShowsUnmeasuredValuesAsZero) {
  std::vector<stats::StatRow> rows = rows_;
  rows.push_back(testing::MakeRow("liba.so.1", "open_it", 300, 0, stats::Metric::kNetSent));
  rows.push_back(testing::MakeRow("liba.so.1", "open_it", 3, shm::kDiskInsideLibc,
                                  stats::Metric::kNotMeasured));
  PublishAndSync(rows);
  const std::string brief = Cli({"show", "open_it"}).output;
  EXPECT_THAT(brief, AllOf(ContainsRegex("\n  always 0 +net_sent\n"),
                           ContainsRegex("\n  not measured +disk_read, disk_written: libc")));
  EXPECT_THAT(Cli({"hist", "open_it", "--metric", "disk_read"}).output,
              HasSubstr("not measured  disk_read, disk_written: libc"));
  EXPECT_EQ(Json(Cli({"show", "open_it", "--json"}).output,
                 "[(m['metric'], m['in_some_runs']) for m in d['rows'][0]['not_measured']], "
                 "'disk_read' in d['rows'][0]['metrics']"),
            "[('disk_read', False), ('disk_written', False)] False\n");
}

TEST_F(CatalogViewTest, AnApiIsOneLineForAllItsVersions) {
  std::vector<stats::StatRow> rows = rows_;
  rows.push_back(testing::MakeRow("liba.so.1", "open_it", 100, 3000));
  rows.back().key.api.package_version = "1.10-1";  // the newest: 10 > 2
  PublishAndSync(rows);
  const std::string top = Cli({"top", "--library", "a.so"}).output;
  // 300 x 1.5 us and 100 x 3 us are 750 us of 750.035.
  EXPECT_THAT(top, AllOf(HasSubstr("≥ 750 µs   100 %  open_it  liba.so.1  100       3.0 µs"),
                         HasSubstr("    400        1  1.10-1 (+1)"), HasSubstr("--versions"),
                         Not(HasSubstr("1.5 µs"))));
  const std::string versions = Cli({"top", "--versions"}).output;
  EXPECT_THAT(versions, AllOf(HasSubstr("1.5 µs"), HasSubstr("3.0 µs"), Not(HasSubstr("(+1)"))));
  EXPECT_THAT(Cli({"search", "open"}).output, HasSubstr("1.10-1 (+1)"));
  EXPECT_EQ(Json(Cli({"top", "--json"}).output, "len(d['rows'])"), "4\n");
  const std::string show = Cli({"show", "open_it"}).output;
  EXPECT_THAT(
      show,
      AllOf(HasSubstr("version 1.10-1"), Not(HasSubstr("version 1.2-3")),
            HasSubstr(
                "1.10-1 is the newest version; other versions (--all, or --of-version): 1.2-3\n")));
  EXPECT_THAT(Cli({"show", "open_it", "--all"}).output,
              AllOf(HasSubstr("version 1.10-1"), HasSubstr("version 1.2-3")));
}

TEST_F(CatalogViewTest, NamesOfCxxAreThoseOfItsSource) {
  constexpr char kRead[] = "_ZN1a6Reader4readEi";
  constexpr char kReadAll[] = "_ZN1a6Reader4readEv";
  constexpr char kOther[] = "_ZN1b6Writer4readEv";
  PublishAndSync({testing::MakeRow("liba.so.1", kRead, 300, 1500),
                  testing::MakeRow("liba.so.1", kReadAll, 300, 1500),
                  testing::MakeRow("liba.so.1", kOther, 300, 1500)});
  EXPECT_THAT(Cli({"top"}).output,
              AllOf(HasSubstr("  a::Reader::read(int)  "), HasSubstr("  a::Reader::read()  "),
                    HasSubstr("  b::Writer::read  "), Not(HasSubstr("_ZN"))));
  for (const char* name : {"a::Reader::read", "Reader::read", "liba.so.1!a::Reader::read"}) {
    EXPECT_THAT(Cli({"show", name}).output,
                AllOf(HasSubstr("liba.so.1!a::Reader::read"), HasSubstr("  a::Reader::read(int)\n"),
                      HasSubstr("  a::Reader::read()\n"), Not(HasSubstr(kRead))))
        << name;
  }
  const std::string one = Cli({"show", "a::Reader::read(int)", "--all"}).output;
  EXPECT_THAT(one, AllOf(HasSubstr(kRead), Not(HasSubstr(kReadAll))));
  EXPECT_THAT(Cli({"show", "read"}).errors,
              HasSubstr("read is the name of several functions; choose one: "
                        "liba.so.1!a::Reader::read, liba.so.1!b::Writer::read"));
  EXPECT_THAT(Cli({"show", "a::Reader::raed"}).errors,
              HasSubstr("did you mean liba.so.1!a::Reader::read?"));
  EXPECT_THAT(Cli({"search", "reader::"}).output,
              AllOf(HasSubstr("a::Reader::read(int)"), Not(HasSubstr("Writer"))));
  EXPECT_THAT(Cli({"spectrum", "Writer::read"}).output, HasSubstr("b::Writer::read"));
  EXPECT_EQ(Json(Cli({"show", "Writer::read", "--json"}).output, "d['rows'][0]['name']"),
            "b::Writer::read()\n");
}

TEST_F(CatalogViewTest, LibrariesAreNamedAlikeEverywhere) {
  PublishAndSync(rows_);
  using Command = std::vector<std::string>;
  for (const Command& command : {Command{"top", "--library"}, Command{"search", "t", "--library"},
                                 Command{"spectrum", "--library"}}) {
    const auto with = [&](const char* name) {
      Command line = command;
      line.emplace_back(name);
      return Cli(line);
    };
    for (const char* name : {"liba", "liba.so.1", "liba*"}) {
      const ProcessResult found = with(name);
      EXPECT_EQ(found.exit_status, 0) << command[0] << found.errors;
      EXPECT_THAT(found.output, AllOf(HasSubstr("liba.so.1"), Not(HasSubstr("libb"))))
          << command[0];
    }
    const ProcessResult missing = with("nothing");
    EXPECT_EQ(missing.exit_status, 66) << command[0];
    EXPECT_THAT(missing.errors,
                HasSubstr("no library named nothing; available: liba.so.1, libb.so.2"));
    EXPECT_THAT(with("alib").errors, HasSubstr("did you mean liba.so.1?"));
  }
  EXPECT_THAT(Cli({"diff", "alib"}).errors, HasSubstr("did you mean liba.so.1?"));
}

TEST_F(CatalogViewTest, JsonHoldsExactSums) {
  PublishAndSync(rows_);
  const std::string top = Cli({"--json", "top", "--sort", "calls"}).output;
  EXPECT_EQ(Json(top, "len(d['rows'])"), "3\n");
  EXPECT_EQ(Json(top, "d['rows'][0]['metrics']['wall_time']['sum']"), "450000\n");
  EXPECT_EQ(Json(top, "d['rows'][0]['metrics']['wall_time']['all_calls']['sum_of_squares']"),
            "675000000\n");
  EXPECT_EQ(Json(top, "d['freshness']['snapshot_version']"), "1\n");
  const std::string show = Cli({"show", "open_it", "--json"}).output;
  EXPECT_EQ(Json(show, "d['rows'][0]['metrics']['alloc_inclusive']['buckets'][0]['min']"),
            "4096\n");
  const ProcessResult missing = Cli({"show", "nothing", "--json"});
  EXPECT_EQ(Json(missing.output, "d['error']"), "not_found\n");
  EXPECT_EQ(missing.exit_status, 66);
}

TEST_F(CatalogViewTest, DistinguishesTheTypicalMachineFromTheTypicalCall) {
  std::vector<stats::CostHistogram> contributions(4, testing::Calls(1, 10));
  contributions.push_back(testing::Calls(20, 40));
  stats::StatRow unknown = rows_[3];
  unknown.weights = {};
  unknown.bounded = {};
  PublishAndSync({testing::PublishedRow(rows_[0].key, contributions), unknown});
  const std::string show = Cli({"show", "open_it"}).output;
  EXPECT_THAT(show, HasSubstr("typical machine: each of 5 contributions counts the same\n"
                              "    p50  under 16 ns  (guaranteed under 16 ns)\n"));
  EXPECT_THAT(show, HasSubstr("all calls: each of 24 counts the same\n    p50     40 ns"));
  const std::string top = Cli({"--json", "top", "--sort", "p50"}).output;
  const std::string time = "d['rows'][0]['metrics']['wall_time']";
  EXPECT_EQ(Json(top, time + "['p50']['estimate']"), "10\n");
  EXPECT_EQ(Json(top, time + "['machines']"), "5\n");
  EXPECT_EQ(Json(top, time + "['contributions']"), "5\n");
  EXPECT_EQ(Json(top, time + "['all_calls']['p50']['estimate']"), "40\n");
  EXPECT_EQ(Json(top, time + "['few_machines']"), "False\n");
  EXPECT_EQ(Json(top,
                 "[d['rows'][1]['metrics']['wall_time'][k] for k in ('machines', 'p50', "
                 "'mean', 'count', 'all_calls')]"),
            "[None, None, None, None, None]\n");
  EXPECT_THAT(Cli({"top"}).output, HasSubstr("; -: unknown)\n"));
}

// Mutant order_by_all_calls: ordered by the total of all calls, it would come first.
TEST_F(CatalogViewTest, OneContributionNeitherRanksFirstNorIsShown) {
  stats::StatRow liar = testing::RowWithOneLiar(rows_[0].key);
  liar.key.api.symbol = "lied_about";
  PublishAndSync({rows_[0], rows_[3], liar});
  const auto first = [this](const std::vector<std::string>& command) {
    const std::string table = Cli(command).output;
    const std::size_t library = table.find("  lib", table.find('\n'));
    const std::size_t name = table.rfind("  ", table.find_last_not_of(' ', library)) + 2;
    return table.substr(name, table.find(' ', name) - name);
  };
  EXPECT_EQ(first({"top"}), "twin");
  EXPECT_EQ(first({"top", "--limit", "0"}), "twin");
  EXPECT_EQ(first({"search", "i"}), "twin");
  for (const char* key : {"p50", "p95", "p99", "calls", "mean", "total"}) {
    const std::string top = Cli({"top", "--sort", key, "--csv"}).output;
    EXPECT_THAT(top, Not(HasSubstr("10995116277"))) << key << "\n" << top;
    EXPECT_THAT(top, HasSubstr("lied_about"));
  }
  EXPECT_NE(first({"top", "--sort", "p50"}), "lied_about");
  // 52 honest calls, and the liar's, bounded to 255.
  EXPECT_THAT(Cli({"top"}).output, ::testing::ContainsRegex("lied_about +liba.so.1 .* 307 +6 "));
  const std::string show = Cli({"show", "lied_about"}).output;
  EXPECT_THAT(show, HasSubstr("all calls: left out, a few machines made most of these calls\n"));
  EXPECT_THAT(show, HasSubstr("p50     50 ns"));
  for (const char* format : {"--json", "--csv"}) {
    for (const char* command : {"show", "hist", "spectrum"}) {
      const std::string answer = Cli({command, "lied_about", format}).output;
      EXPECT_THAT(answer, AllOf(HasSubstr("few_machines"), Not(HasSubstr("10995116277"))));
    }
  }
}

TEST_F(CatalogViewTest, ShowPrintsNumbersIntervalsHistogramAndFreshness) {
  PublishAndSync(rows_);
  const ProcessResult result = Cli({"show", "liba.so.1!open_it"});
  EXPECT_EQ(result.exit_status, 0) << result.errors;
  EXPECT_THAT(
      result.output,
      AllOf(HasSubstr("liba.so.1!open_it  version 1.2-3"), HasSubstr("n 300, 1 contribution"),
            HasSubstr("guaranteed between"), HasSubstr("1.0 µs – 2.0 µs  100.0 % |@@@"),
            HasSubstr("catalogue: snapshot 1")));
}

TEST_F(CatalogViewTest, ShowAsksBackWhenANameIsAmbiguousOrUnknown) {
  PublishAndSync(rows_);
  const ProcessResult twin = Cli({"show", "twin"});
  EXPECT_EQ(twin.exit_status, 64);
  EXPECT_THAT(twin.errors, HasSubstr("choose one: liba.so.1!twin, libb.so.2!twin"));
  EXPECT_EQ(Cli({"show", "libb.so.2!twin"}).exit_status, 0);
  const ProcessResult typo = Cli({"show", "opn_it"});
  EXPECT_EQ(typo.exit_status, 66);
  EXPECT_THAT(typo.errors, HasSubstr("did you mean liba.so.1!open_it?"));
}

TEST_F(CatalogViewTest, WordsInAnotherOrderAreUnderstoodEnoughToHelp) {
  PublishAndSync(rows_);
  EXPECT_THAT(Cli({"open_it", "show"}).errors,
              HasSubstr("the command comes first: fieldcost show open_it;"));
  for (const char* command : {"show", "hist"}) {
    const ProcessResult both = Cli({command, "liba", "open_it"});
    EXPECT_EQ(both.exit_status, 64);
    EXPECT_THAT(both.errors, HasSubstr("takes one API; SONAME!SYMBOL names its library, too;"));
  }
  const ProcessResult library = Cli({"show", "liba"});
  EXPECT_EQ(library.exit_status, 66);
  EXPECT_THAT(library.errors, HasSubstr("fieldcost top --library liba.so.1"));
}

TEST_F(CatalogViewTest, AFilterThatLeavesNothingIsNamedWithWhatThereIs) {
  PublishAndSync(rows_);
  for (const char* command : {"show", "hist", "spectrum"}) {
    const ProcessResult version = Cli({command, "open_it", "--of-version", "9"});
    EXPECT_EQ(version.exit_status, 66);
    EXPECT_EQ(version.errors, "fieldcost: no version 9 of open_it; available: 1.2-3\n");
    EXPECT_THAT(Cli({command, "open_it", "--class", "*arm*"}).errors,
                HasSubstr("no class *arm* of open_it"));
    EXPECT_THAT(Cli({command, "open_it", "--week", "2020-01-02"}).errors,
                HasSubstr("no week 2020-01-02 of open_it"));
    const ProcessResult metric = Cli({command, "open_it", "--metric", "disk_read", "--json"});
    EXPECT_EQ(metric.exit_status, 66);
    EXPECT_THAT(Json(metric.output, "d['message']"),
                HasSubstr("available: alloc_inclusive, wall_time"));
  }
  const ProcessResult library = Cli({"spectrum", "--library", "liba", "--of-version", "9"});
  EXPECT_EQ(library.exit_status, 66);
  EXPECT_THAT(library.errors, HasSubstr("no version 9 of liba; available: 1.2-3"));
}

TEST_F(CatalogViewTest, SyntheticDataIsLabelled) {
  publisher_.snapshot.synthetic = true;
  PublishAndSync(rows_);
  EXPECT_THAT(Cli({"top"}).output, HasSubstr("SYNTHETIC"));
  EXPECT_THAT(Cli({"show", "open_it"}).output, HasSubstr("SYNTHETIC"));
}

TEST_F(CatalogViewTest, ColourIsOnlyThereWhenAskedFor) {
  PublishAndSync(rows_);
  EXPECT_THAT(Cli({"top"}).output, Not(HasSubstr("\x1b")));
  EXPECT_THAT(Cli({"top", "--color", "always"}).output, HasSubstr("\x1b["));
  EXPECT_THAT(Cli({"top", "--color", "never"}).output, Not(HasSubstr("\x1b")));
  EXPECT_THAT(Cli({"top"}, {{"NO_COLOR", "1"}, {"TERM", "xterm"}}).output, Not(HasSubstr("\x1b")));
  EXPECT_THAT(Cli({"top"}, {{"LC_ALL", "C"}}).output, AllOf(HasSubstr("@"), Not(HasSubstr("█"))));
}

TEST_F(CatalogViewTest, ClosedPipeIsNotAnError) {
  PublishAndSync(testing::MakeRows(2000, 1000));
  const ProcessResult result =
      Shell("{ \"$fieldcost\" top --limit 0; echo \"status $?\" >&2; } | head -n 1");
  EXPECT_THAT(result.output, HasSubstr("SHARE  API "));
  EXPECT_EQ(result.errors, "status 0\n");
}

TEST_F(CatalogViewTest, ReportsASecondSyncOnTheSameDay) {
  PublishAndSync(rows_);
  const ProcessResult result = Cli({"sync"});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_THAT(result.output, StartsWith("today's share was already fetched"));
}

TEST_F(CatalogViewTest, SyncGoesThroughTheProxyOfTheConfigurationOrTheEnvironment) {
  PublishAndSync(rows_);
  testing::BackgroundProcess proxy(
      {.arguments = {"python3", FIELDCOST_SUPPORT_DIR "/connect_proxy.py"}});
  std::string port;
  ASSERT_TRUE(proxy.WaitForLine("port ", &port));
  const std::string proxy_url = "http://127.0.0.1:" + port.substr(5);
  const ProcessResult by_variable = Cli({"sync", "--full"}, {{"HTTPS_PROXY", proxy_url}});
  EXPECT_EQ(by_variable.exit_status, 0) << by_variable.errors;
  const std::string url = publisher_.Client(home()).server.url;
  EXPECT_TRUE(proxy.WaitForLine("tunnel to " + url.substr(std::string("https://").size())));
  // Nothing listens there any more: commands that do not use the proxy still work, others fail.
  proxy.Signal(SIGKILL);
  proxy.Wait();
  EXPECT_EQ(Cli({"sync", "--full"}, {{"HTTPS_PROXY", proxy_url}}).exit_status, 69);
  EXPECT_EQ(
      Cli({"sync", "--full"}, {{"HTTPS_PROXY", proxy_url}, {"NO_PROXY", "127.0.0.1,localhost"}})
          .exit_status,
      0);
  std::ofstream(home() / "agent.toml", std::ios::app) << "proxy = \"" << proxy_url << "\"\n";
  EXPECT_EQ(Cli({"sync", "--full"}).exit_status, 69);
}

TEST_F(CatalogViewTest, AWrongCaIsOneClearMessage) {
  PublishAndSync(rows_);
  const testing::Publisher other(SystemClock().Now());
  WriteConfig("[aggregator]\nurl = \"" + publisher_.Client(home()).server.url + "\"\nca_file = \"" +
              other.Client(home()).server.ca_file.string() + "\"\n");
  const ProcessResult result = Cli({"sync", "--full"});
  EXPECT_EQ(result.exit_status, 76);
  EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
  EXPECT_EQ(Cli({"top"}).exit_status, 0);
}

}  // namespace
}  // namespace fieldcost::cli
