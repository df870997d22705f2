#include "tools/cli/agent/status_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fieldcost::cli {
namespace {

using reach::ProcessReach;
using reach::Reach;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<ProcessReach> Processes(const std::vector<std::pair<std::string, Reach>>& list) {
  std::vector<ProcessReach> processes;
  for (const auto& [name, reach] : list) processes.push_back({1, name, {reach, "", ""}});
  return processes;
}

TEST(ProgramsTextTest, PrintsEachReasonWithItsCount) {
  const auto processes = Processes({{"a", Reach::kStatic},
                                    {"b", Reach::kMeasuring},
                                    {"c", Reach::kStatic},
                                    {"d", Reach::kNotAsked}});
  EXPECT_EQ(
      ProgramsText(processes, {}),
      "programs            4 running now\n"
      "                 1  being measured now\n"
      "                 1  started without fieldcost (before or outside an activated session)\n"
      "                 2  linked statically, so nothing can be loaded into it\n");
  EXPECT_THAT(ProgramsText(processes, {.names = true}),
              HasSubstr("into it\n" + std::string(22, ' ') + "a, c\n"));
}

TEST(ProgramsTextTest, TheMostFrequentNamesComeFirstAndTheRestIsCounted) {
  std::vector<std::pair<std::string, Reach>> list = {{"often", Reach::kAble},
                                                     {"often", Reach::kAble}};
  for (const char c : std::string("abcdefghij")) list.emplace_back(std::string(1, c), Reach::kAble);
  EXPECT_EQ(NamesText(Processes(list)), "often (2), a, b, c, d, e, f, g and 3 more");
  EXPECT_EQ(NamesText({}), "");
}

TEST(ProgramsTextTest, NamesCannotSteerTheTerminal) {
  const auto processes = Processes({{"evil\x1b[2J\n", Reach::kAble}});
  EXPECT_EQ(NamesText(processes), "evil\\x1b[2J\\x0a");
  EXPECT_THAT(ReasonText({Reach::kSanitizer, "lib\x1b.so", ""}), Not(HasSubstr("\x1b")));
}

TEST(StatusTextTest, ReportsCostsAndSkippedRuns) {
  volunteer::AgentStatus status;
  status.measuring.overhead_ns = 3'400'000;
  status.measuring.timed_calls = 1234;
  status.measuring.untimed_calls = 5'000'000;
  status.measuring.dropped_picks = 2;
  status.measuring.lost_calls = 3;
  status.measuring.refused_files = 4;
  status.measuring.refused_cells = 5;
  status.measuring.skips = {{"damaged", 7}, {"no\x1b room", 1}};
  const std::string text = StatusText(status, {}, {}, {});
  EXPECT_THAT(text, HasSubstr("measuring overhead 3.4 ms: 1,234 calls timed, 5,000,000 "
                              "only counted\n"));
  EXPECT_THAT(text, HasSubstr("3 calls not recorded, 4 run files and 5 impossible sums refused"));
  EXPECT_THAT(text, HasSubstr("stopped             2 functions"));
  EXPECT_THAT(text, HasSubstr("runs not measured   7 damaged\n" + std::string(20, ' ') +
                              "1 no\\x1b room\n"));
}

TEST(StatusTextTest, ReportsWhyRunsWereNotSelected) {
  volunteer::AgentStatus status;
  status.measuring.runs = {.drawn = 1, .not_drawn = 30, .asked = 100};
  status.measuring.skips = {{"the system was under load", 8, shm::Skip::kSystemLoaded},
                            {"enough other programs", 2, shm::Skip::kNoLease},
                            {"out of memory", 1, shm::Skip::kNoMemory}};
  settings::AgentConfig config;
  config.max_load_per_core_percent = 80;
  config.max_cpu_pressure_percent = 0;
  const std::string text = StatusText(status, {}, config, {});
  EXPECT_THAT(
      text,
      HasSubstr("runs                131 in all: 1 for the field (selected at random), 100 for"));
  EXPECT_THAT(text,
              HasSubstr("not selected        130: 8 would have been, but load was above 80 %\n" +
                        std::string(20, ' ') + "2 would have been, but enough other programs\n"));
  EXPECT_THAT(text, HasSubstr("runs not measured   1 out of memory\n" + std::string(20, ' ') +
                              "30 not selected at random (one run in 16 is)\n"));
}

TEST(StatusTextTest, StatesWhichRunsHaveNoCount) {
  volunteer::AgentStatus status;
  EXPECT_THAT(StatusText(status, {}, {}, {}), Not(HasSubstr("not counted")));
  status.consent.mode = settings::Mode::kLocal;
  EXPECT_THAT(StatusText(status, {}, {}, {}),
              HasSubstr("runs not measured   not counted: runs while off or paused"));
  status.measuring.runs.not_drawn = 1'000;
  settings::AgentConfig config;
  for (const auto& [probability, selected] :
       {std::pair(1.0, "100 % of runs are"), std::pair(0.3, "30 % of runs are"),
        std::pair(0.0, "0 % of runs are"), std::pair(3277.0 / 65536, "one run in 20 is")}) {
    config.selection_probability = probability;
    EXPECT_THAT(StatusText(status, {}, config, {}),
                HasSubstr(std::string("runs not measured   1,000 not selected at random (") +
                          selected + ")\n"));
  }
}

TEST(StatusTextTest, ShowsTheServiceOrTheOneThatIsSuggested) {
  settings::AgentConfig config;
  EXPECT_THAT(StatusText({}, {}, config, {}), HasSubstr("server              none\n"));
  config.suggested.url = "https://suggested\x1b.example";
  EXPECT_THAT(StatusText({}, {}, config, {}),
              HasSubstr("server              none; suggested: https://suggested\\x1b.example\n"));
  config.url = "https://joined.example";
  EXPECT_THAT(StatusText({}, {}, config, {}),
              HasSubstr("server              https://joined.example\n"));
}

TEST(StatusTextTest, OmitsStatesThatDoNotApply) {
  const std::string text = StatusText({}, {}, {}, {});
  for (const char* absent :
       {"NOT PERMITTED", "waiting for", "next upload", "failed uploads", "taken back",
        "dropped unsent", "service's policy", "policy problem", "stopped", "problem"}) {
    EXPECT_THAT(text, Not(HasSubstr(absent)));
  }
}

TEST(StatusTextTest, ReportsUploadsAndTheServicesPolicy) {
  volunteer::AgentStatus status;
  status.forbidden = true;
  status.outbox.withdrawn_batches = 2;
  status.outbox.dropped_batches = 3;
  status.outbox.dropped_rows = 400;
  status.upload.waiting_for = "mains power";
  status.upload.next_upload = WallTime{std::chrono::seconds(1'700'000'000)};
  status.upload.failed_uploads = 5;
  status.upload.upload_problem = "no\x1b route";
  status.field_policy.version = 7;
  status.field_policy.expires = WallTime{std::chrono::seconds(1'700'000'000)};
  status.field_policy.problem = "expired";
  const std::string text = StatusText(status, {}, {}, {});
  for (const char* line :
       {"NOT PERMITTED by the administrator", "see /etc/fieldcost/system.toml\n",
        "waiting for         mains power\n", "next upload         2023-11-14 22:13 UTC\n",
        "failed uploads      5 in a row: no\\x1b route\n", "taken back          2 batches\n",
        "dropped unsent      3 batches, 400 rows\n",
        "service's policy    version 7, until 2023-11-14 22:13 UTC\n",
        "policy problem      expired\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

}  // namespace
}  // namespace fieldcost::cli
