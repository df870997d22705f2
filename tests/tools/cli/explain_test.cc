#include <unistd.h>

#include "common/base/file.h"
#include "tests/support/binary_dir.h"
#include "tests/tools/cli/cli_fixture.h"

namespace fieldcost::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::ProcessResult;

const std::string kHello = FIELDCOST_BINARY_DIR "/victims/hello";
const std::string kVictim = FIELDCOST_BINARY_DIR "/victims/victim";

TEST_F(CliTest, ExplainAnswersWithAReasonAndAnExitStatus) {
  ProcessResult result = Cli({"agent", "explain", kHello});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_THAT(result.output, HasSubstr(kHello + ": can be measured\nbut fieldcost is off"));
  result = Cli({"agent", "explain", kHello + "_static"});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_EQ(result.output,
            kHello + "_static: linked statically, so nothing can be loaded into it\n");
  result = Cli({"agent", "explain", kHello + "_asan", "--json"});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.output, HasSubstr("\"reach\":\"sanitizer\""));
  EXPECT_FALSE(std::filesystem::exists(home()));
}

TEST_F(CliTest, ExplainLooksIntoPathAndThroughScripts) {
  const ProcessResult found = Cli({"agent", "explain", "env"});
  EXPECT_THAT(found.output, HasSubstr("/env: can be measured"));
  testing::TempDir directory;
  const std::string script = (directory.path() / "script").string();
  ASSERT_TRUE(WriteFileAtomically(script, "#!" + kHello + "_static\n", 0755));
  EXPECT_THAT(Cli({"agent", "explain", script}).output,
              HasSubstr(script + ", run by " + kHello + "_static: linked statically"));
  const ProcessResult missing = Cli({"agent", "explain", "no-such-program"});
  EXPECT_EQ(missing.exit_status, 66);
}

TEST_F(CliTest, ExplainNamesTheLibrariesOfAFunction) {
  ASSERT_EQ(Cli({"run", "--pick", "victim_allocate", "--", kVictim, "alloc"}).exit_status, 0);
  ProcessResult result = Cli({"agent", "explain", "victim_allocate"});
  EXPECT_EQ(result.exit_status, 0) << result.errors;
  EXPECT_THAT(result.output, AllOf(HasSubstr("libvictim.so.1!victim_allocate: can be measured"),
                                   HasSubstr("measured here\n"),
                                   HasSubstr("fieldcost run --pick victim_allocate -- PROGRAM")));
  EXPECT_THAT(Cli({"agent", "explain", "libvictim.so.1!victim_allocate", "--json"}).output,
              HasSubstr("\"here\":true"));
  result = Cli({"agent", "explain", "victim_alocate"});
  EXPECT_EQ(result.exit_status, 66);
  EXPECT_THAT(result.errors, HasSubstr("did you mean libvictim.so.1!victim_allocate?"));
}

TEST_F(CliTest, SuggestsSimilarNamesForAPickThatNothingCalls) {
  ASSERT_EQ(Cli({"run", "--pick", "victim_allocate", "--", kVictim, "alloc"}).exit_status, 0);
  EXPECT_THAT(Cli({"run", "--pick", "victim_alocate", "--", kVictim, "alloc"}).errors,
              HasSubstr("did you mean libvictim.so.1!victim_allocate?"));
}

TEST_F(CliTest, ExplainsARunningProcess) {
  const ProcessResult result = Shell("$fieldcost agent explain $$; echo $?");
  EXPECT_THAT(result.output, AllOf(HasSubstr("(sh): started without fieldcost"), HasSubstr("\n1")));
  EXPECT_EQ(Cli({"agent", "explain", "2147483647"}).exit_status, 66);
}

// When inspected, sed is waiting for a second line, which it reads by getdelim(), inside libc.
TEST_F(CliTest, ExplainNamesFunctionsWhoseBytesAreNotMeasuredAndWhy) {
  const auto explain = [this](const std::string& option) {
    return Shell(
        "mkdir -p \"$FIELDCOST_HOME\" && cd \"$FIELDCOST_HOME\" && rm -f in out && mkfifo in out "
        "&& "
        "\"$fieldcost\" agent local > /dev/null && "
        "{ \"$fieldcost\" run --metrics time,io --pick 'libc.so.6!*getdelim,libacl.so.1!*' -- sh "
        "-c 'echo $$ > pid; exec "
        "sed -u p' "
        "< in > out & } && exec 7> in 8< out && echo line >&7 && read line <&8 && "
        "\"$fieldcost\" agent explain " +
        option + " $(cat pid); echo status $?; exec 7>&- ; cat <&8 > /dev/null; wait");
  };
  const std::string reason =
      "libc reads or writes files by itself here (stdio, user database), without a call";
  const ProcessResult text = explain("");
  EXPECT_THAT(text.output, AllOf(HasSubstr("(sed): being measured now\n"),
                                 HasSubstr("not measured of libc.so.6!__getdelim: "),
                                 HasSubstr("disk_read, disk_written: " + reason + "\n"),
                                 HasSubstr("status 0\n"), Not(HasSubstr("libacl"))))
      << text.errors;
  const ProcessResult json = explain("--json");
  EXPECT_THAT(json.output,
              AllOf(HasSubstr("\"symbol\":\"__getdelim\""),
                    HasSubstr("{\"metric\":\"disk_read\",\"in_some_runs\":false,\"reason\":\"" +
                              reason + "\"}")))
      << json.errors;
  EXPECT_THAT(Cli({"agent", "explain", kHello, "--json"}).output, Not(HasSubstr("\"functions\"")));
}

TEST_F(CliTest, ReportsMissingMemoryForRunFilesAndRunsThePrograms) {
  const ProcessResult result = Shell(
      "mkdir -p \"$FIELDCOST_HOME/disk\"; exec unshare --mount /bin/sh -c '"
      "mount --bind \"$FIELDCOST_HOME/disk\" /dev/shm && unset XDG_RUNTIME_DIR || exit 3; "
      "\"$fieldcost\" agent local; \"$fieldcost\" agent status | grep ^problem; "
      "\"$fieldcost\" agent explain " +
      kHello + "; \"$fieldcost\" run -- " + kHello + "; echo $?; ls /dev/shm'");
  if (result.errors.find("unshare") != std::string::npos || result.exit_status == 3) {
    GTEST_SKIP() << "needs the privilege to make a mount namespace: " << result.errors;
  }
  const std::string why = "nothing can be measured: no tmpfs for run files: ";
  EXPECT_THAT(result.errors, HasSubstr(why));
  EXPECT_THAT(result.output, AllOf(HasSubstr("problem             " + why),
                                   HasSubstr("can be measured\nbut " + why),
                                   HasSubstr("/dev/shm is not on tmpfs\n")));
  // The library is loaded, does nothing, and leaves no files.
  EXPECT_TRUE(result.output.ends_with("\nwith\n0\n")) << result.output;
}

TEST_F(CliTest, StatusCountsProgramsByReason) {
  const ProcessResult plain = Cli({"agent", "status"});
  EXPECT_THAT(plain.output,
              AllOf(HasSubstr("running now"), HasSubstr("started without fieldcost"),
                    HasSubstr("session activation  off"), HasSubstr("measuring overhead")));
  const std::string own_name = "cli_test";
  EXPECT_THAT(plain.output, Not(HasSubstr(own_name)));
  EXPECT_THAT(Cli({"agent", "status", "--json"}).output,
              AllOf(HasSubstr("\"name\":\"" + own_name + "\""), HasSubstr("\"skips\":["),
                    HasSubstr("\"overhead_ns\":0"), HasSubstr("\"dropped_picks\":0")));
}

TEST_F(CliTest, StatusCountsRunsThatWereNotMeasured) {
  WriteConfig("[selection]\nselection_probability = 0.0\n");
  ASSERT_EQ(Cli({"agent", "local"}).exit_status, 0);
  const auto run_as_in_a_session = [this] {
    EXPECT_EQ(Start({kHello}, {{"LD_PRELOAD", FIELDCOST_BINARY_DIR "/lib/libfieldcost_preload.so"},
                               {"FIELDCOST_STATE_DIR", (home() / "state").string()}})
                  .exit_status,
              0);
  };
  for (int i = 0; i < 3; ++i) run_as_in_a_session();
  const std::string counted = "runs not measured   3 not selected at random (0 % of runs are)\n";
  EXPECT_THAT(Cli({"agent", "status"}).output,
              AllOf(HasSubstr(counted), HasSubstr("not counted: runs while off or paused")));
  // A pause leaves no trace in programs, so its runs have no count.
  ASSERT_EQ(Cli({"agent", "pause"}).exit_status, 0);
  run_as_in_a_session();
  EXPECT_THAT(Cli({"agent", "status"}).output, HasSubstr(counted));
  EXPECT_THAT(Cli({"agent", "status", "--json"}).output,
              AllOf(HasSubstr("\"runs_not_drawn\":3"), HasSubstr("\"selection_probability\":0,"),
                    HasSubstr("{\"reason\":\"off or paused\",\"runs\":null"),
                    HasSubstr("{\"reason\":\"linked statically, so nothing can be loaded into it\","
                              "\"runs\":null,\"running_now\":")));
}

TEST_F(CliTest, RunLeavesUnmeasurableProgramsAloneAndReportsWhy) {
  ASSERT_EQ(Cli({"agent", "local"}).exit_status, 0);
  for (const auto& [program, reason] : std::vector<std::pair<std::string, std::string>>{
           {kHello + "_static", "linked statically, so nothing can be loaded into it"},
           {kHello + "_asan", "built with a sanitizer, whose runtime wants to be loaded first"}}) {
    ProcessResult result = Cli({"run", "--", program});
    EXPECT_EQ(result.exit_status, 0);
    EXPECT_EQ(result.output, "without\n");
    EXPECT_EQ(result.errors, "fieldcost: nothing is measured: " + program + ": " + reason + "\n");
    result = Cli({"run", "--pick", "libc.so.6!*", "--", program}, {{"FIELDCOST_QUIET", "1"}});
    EXPECT_EQ(result.output, "without\n");
    EXPECT_THAT(result.errors, IsEmpty());
  }
  const ProcessResult result = Cli({"run", "--", kHello});
  EXPECT_EQ(result.output, "with\n");
  EXPECT_THAT(result.errors, IsEmpty());
}

}  // namespace
}  // namespace fieldcost::cli
