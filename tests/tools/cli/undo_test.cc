#include <filesystem>
#include <optional>

#include "common/base/file.h"
#include "tests/agent/volunteer/aggregator_stand_in.h"
#include "tests/support/binary_dir.h"
#include "tests/tools/cli/cli_fixture.h"

// log, forget and enrol: the real programs with a server that verifies their requests.

namespace fieldcost::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using testing::ProcessResult;
using ::testing::StartsWith;

constexpr int kNo = 1;
constexpr int kUsage = 64;
constexpr int kNotFound = 66;
constexpr int kUnavailable = 69;

class UndoTest : public CliTest {
 protected:
  UndoTest() {
    std::filesystem::create_directories(home());
    server_.emplace(home());
    WriteConfig(
        "[aggregator]\nurl = \"" + server_->url() + "\"\nca_file = \"" +
        server_->certificates().ca.string() +
        "\"\n[selection]\nselection_probability = 1.0\npicks_per_run = 512\n"
        "max_load_per_core_percent = 10000\nmax_cpu_pressure_percent = 200\nmax_programs = 0\n"
        "[modules]\nbuiltin_modules = false\nextra_modules = [\"libvictim.so.1\"]\n");
    EXPECT_EQ(Cli({"agent", "on"}).exit_status, 0);
  }

  void Measure() {
    const ProcessResult run =
        Shell("\"$fieldcost\" run -- " FIELDCOST_BINARY_DIR "/victims/victim alloc");
    ASSERT_EQ(run.exit_status, 0) << run.errors;
  }

  void Upload() {
    const ProcessResult sent = Shell(FIELDCOST_BINARY_DIR "/bin/fieldcostd --once --flush");
    ASSERT_EQ(sent.exit_status, 0) << sent.errors;
  }

  void SendBatches(int number) {
    for (int i = 0; i < number; ++i) {
      Measure();
      Upload();
    }
    ASSERT_EQ(server_->bodies().size(), static_cast<std::size_t>(number));
  }

  // The same with stdin, stdout and stderr on a terminal, on which `typed` is typed.
  ProcessResult OnTerminal(const std::string& command, const std::string& typed) {
    return Shell("printf '" + typed + "\\n' | script -qec '\"$fieldcost\" " + command +
                 "' /dev/null");
  }

  std::optional<testing::AggregatorStandIn> server_;
};

TEST_F(UndoTest, ListsSentBatchesAndShowsThemByteForByte) {
  SendBatches(2);
  Measure();
  const ProcessResult preview = Cli({"agent", "preview"});
  const ProcessResult log = Cli({"agent", "log"});
  EXPECT_EQ(log.exit_status, 0) << log.errors;
  EXPECT_THAT(log.output,
              MatchesRegex("ID  MADE  +SENT  +STATE  ROWS  BYTES  SHA256  +NOTE\n"
                           " 1  20.* UTC  20.* UTC  sent  .*\n 2  20.* UTC  20.* UTC  sent  .*\n"));
  EXPECT_EQ(Cli({"agent", "log", "1", "--raw"}).output, server_->bodies()[0]);
  EXPECT_EQ(Cli({"agent", "log", "2", "--raw"}).output, server_->bodies()[1]);
  // In the preview's format.
  EXPECT_THAT(preview.output, HasSubstr("libvictim.so.1!victim_allocate  version "));
  const ProcessResult one = Cli({"agent", "log", "1"});
  EXPECT_THAT(one.output,
              AllOf(StartsWith("Batch 1: "), HasSubstr("state          sent\n"),
                    HasSubstr("libvictim.so.1!victim_allocate  version "), HasSubstr("first  n ")));
  EXPECT_THAT(Cli({"agent", "log", "1", "--json"}).output,
              AllOf(StartsWith("{\"batch\":{\"id\":1,\"state\":\"sent\","), HasSubstr("\"rows\":["),
                    HasSubstr("\"sequence\":1,")));
  EXPECT_THAT(Cli({"agent", "log", "--json"}).output, HasSubstr("\"can_withdraw\":true}"));
}

TEST_F(UndoTest, ReportsAnEmptyLogAndUnknownIds) {
  EXPECT_EQ(Cli({"agent", "log"}).output, "no batches yet\n");
  EXPECT_EQ(Cli({"agent", "log", "1"}).exit_status, kNotFound);
  EXPECT_EQ(Cli({"agent", "log", "x"}).exit_status, kUsage);
  EXPECT_EQ(Cli({"agent", "log", "--raw"}).exit_status, kUsage);
}

TEST_F(UndoTest, ForgettingTakesEveryBatchBackAndLogsIt) {
  SendBatches(2);
  Measure();
  const ProcessResult result = Cli({"agent", "forget", "--yes"});
  EXPECT_EQ(result.exit_status, 0) << result.errors;
  EXPECT_THAT(result.output,
              MatchesRegex("2 batches \\([0-9]+ rows\\) subtracted from the service's "
                           "sums\n[0-9]+ rows? deleted that were not in a batch yet\n"));
  EXPECT_EQ(server_->withdrawals(), 2U);
  EXPECT_EQ(server_->bad_requests(), 0U);
  EXPECT_THAT(Cli({"agent", "log"}).output, AllOf(HasSubstr("taken back"), Not(HasSubstr("sent"))));
  EXPECT_THAT(Cli({"agent", "status"}).output, HasSubstr("taken back          2 batches\n"));
  // The local bytes are deleted, too.
  EXPECT_EQ(Cli({"agent", "log", "1", "--raw"}).exit_status, kNotFound);
  EXPECT_THAT(Cli({"agent", "preview"}).output, "nothing to send\n");
  const ProcessResult again = Cli({"agent", "forget", "--yes"});
  EXPECT_EQ(again.exit_status, 0);
  EXPECT_EQ(again.output, "nothing to take back\n");
}

TEST_F(UndoTest, DoesNotDeleteUnsentMeasurementsUnasked) {
  Measure();
  EXPECT_EQ(Cli({"agent", "forget"}).exit_status, kUsage);
  EXPECT_THAT(Cli({"agent", "preview"}).output, StartsWith("The next batch: "));
  EXPECT_THAT(Cli({"agent", "forget", "--yes"}).output,
              HasSubstr("deleted that were not in a batch"));
  EXPECT_EQ(Cli({"agent", "preview"}).output, "nothing to send\n");
  EXPECT_EQ(server_->requests(), 0U);
}

TEST_F(UndoTest, WithoutATerminalForgettingNeedsAYesBeforehand) {
  SendBatches(1);
  const std::uint64_t requests = server_->requests();
  const ProcessResult result = Cli({"agent", "forget"});
  EXPECT_EQ(result.exit_status, kUsage);
  EXPECT_THAT(result.errors, HasSubstr("--yes"));
  EXPECT_EQ(server_->requests(), requests);
}

TEST_F(UndoTest, OnATerminalForgettingAnnouncesWhatItDoesAndAsks) {
  SendBatches(1);
  Measure();
  const std::uint64_t requests = server_->requests();
  const ProcessResult no = OnTerminal("agent forget", "n");
  EXPECT_EQ(no.exit_status, kNo) << no.output;
  EXPECT_THAT(no.output, AllOf(HasSubstr("1 batch ("), HasSubstr("from the sums of https://"),
                               HasSubstr("next sync"), HasSubstr("nothing changed")));
  EXPECT_EQ(server_->requests(), requests);
  const ProcessResult yes = OnTerminal("agent forget", "Yes");
  EXPECT_EQ(yes.exit_status, 0) << yes.output;
  EXPECT_THAT(yes.output,
              AllOf(HasSubstr("batch 1 of 1"), HasSubstr("subtracted from the service's sums")));
  EXPECT_EQ(server_->withdrawals(), 1U);
}

TEST_F(UndoTest, ContinuesAForgetThatTheServerStopped) {
  SendBatches(2);
  server_->Script({.status = 503});
  const ProcessResult stopped = Cli({"agent", "forget", "--yes"});
  EXPECT_EQ(stopped.exit_status, kUnavailable);
  EXPECT_THAT(stopped.output, HasSubstr("2 batches left; run again to continue"));
  EXPECT_THAT(stopped.errors, HasSubstr("503"));
  server_->Script({.status = 503});
  EXPECT_THAT(Cli({"agent", "forget", "--yes", "--json"}).output,
              AllOf(HasSubstr("\"batches_left\":2"), HasSubstr("\"error\":\"unavailable\"")));
  EXPECT_EQ(Cli({"agent", "forget", "--yes"}).exit_status, 0);
  EXPECT_EQ(server_->withdrawals(), 2U);
}

TEST_F(UndoTest, ExitsWithNoIfTheServerRefusesToForget) {
  SendBatches(1);
  server_->Script({.status = 403, .body = "no \x1b[2J"});
  const ProcessResult result = Cli({"agent", "forget", "--yes"});
  EXPECT_EQ(result.exit_status, kNo);
  EXPECT_THAT(result.output,
              AllOf(HasSubstr("1 batch not taken back: status 403"), Not(HasSubstr("\x1b"))));
}

TEST_F(UndoTest, OffStillForgets) {
  SendBatches(1);
  ASSERT_EQ(Cli({"agent", "off"}).exit_status, 0);
  EXPECT_EQ(Cli({"agent", "forget", "--yes"}).exit_status, 0);
  EXPECT_EQ(server_->withdrawals(), 1U);
  EXPECT_THAT(Cli({"agent", "status"}).output, HasSubstr("mode                off"));
}

TEST_F(UndoTest, ReadsTheTokenFromAFileOrStdinAndSendsItToTheServerOnly) {
  server_->RequireToken("token-1");
  Measure();
  std::ofstream(home() / "token") << "token-1\n";
  const ProcessResult kept = Cli({"agent", "enrol", "--token-file", (home() / "token").string()});
  EXPECT_EQ(kept.exit_status, 0) << kept.errors;
  EXPECT_THAT(kept.output, Not(HasSubstr("token-1")));
  Upload();
  EXPECT_EQ(server_->enrolments(), 1U);
  EXPECT_EQ(server_->bodies().size(), 1U);
  EXPECT_EQ(Shell("echo token-2 | \"$fieldcost\" agent enrol --token-file -").exit_status, 0);
  EXPECT_EQ(*ReadFile(home() / "state" / "enrolment_token", 100), "token-2\n");
}

TEST_F(UndoTest, RefusesInvalidTokens) {
  for (const std::string text : {"", "two words", "\\033"}) {
    const ProcessResult result =
        Shell("printf '" + text + "' | \"$fieldcost\" agent enrol --token-file -");
    EXPECT_EQ(result.exit_status, kUsage) << text;
    EXPECT_THAT(result.output, IsEmpty());
  }
  EXPECT_NE(Shell("\"$fieldcost\" agent enrol --token-file - < /dev/zero").exit_status, 0);
  EXPECT_EQ(Cli({"agent", "enrol", "--token-file", "/no/such/file"}).exit_status, kNotFound);
  EXPECT_EQ(Cli({"agent", "enrol"}).exit_status, kUsage);
}

}  // namespace
}  // namespace fieldcost::cli
