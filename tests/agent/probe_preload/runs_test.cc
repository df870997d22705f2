#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "common/base/file.h"
#include "tests/agent/probe_preload/probe_fixture.h"

// Which programs have a run, and what remains of it however they end.

namespace fieldcost::probe {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class ProbeRunsTest : public ProbeTest {
 protected:
  // A victim whose output is a pipe that another process reads at its own pace.
  pid_t Start(const char* mode, const Variables& variables, UniqueFd& output) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::close(ends[0]);
      ::close(ends[1]);
      for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
      ::execl(kProbed.c_str(), "probed", mode, nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    output = UniqueFd(ends[0]);
    return pid;
  }
};

TEST_F(ProbeRunsTest, RunHasItsSessionAndProgram) {
  const SeenRun run = OnlyRun({kProbed, "scopes"}, Nothing());
  EXPECT_EQ(run.facts.session, 77U);
  EXPECT_NE(run.facts.run, 0U);
  EXPECT_THAT(run.facts.program, ::testing::EndsWith("victims/probed"));
  EXPECT_TRUE(run.facts.attached);
  EXPECT_TRUE(run.facts.ended);
  EXPECT_FALSE(run.is_living);
}

TEST_F(ProbeRunsTest, PlansThatAnotherUserCouldHaveWrittenAreIgnored) {
  const auto variables = Prepared(Nothing());
  const std::string plan = directory_.path() / shm::kProbePlanName;
  const auto runs_with = [&] {
    const auto result =
        testing::RunProcess({.arguments = {kProbed, "scopes"}, .environment = variables});
    EXPECT_EQ(result.exit_status, 0);
    return Runs().size();
  };
  for (const ::mode_t mode : {0644U, 0604U, 0620U, 0602U}) {
    ASSERT_EQ(::chmod(plan.c_str(), mode), 0);
    EXPECT_EQ(runs_with(), 0U) << std::oct << mode;
  }
  ASSERT_EQ(::chmod(plan.c_str(), 0600), 0);
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(plan.c_str(), 65534, 65534), 0);
    EXPECT_EQ(runs_with(), 0U) << "of another user";
    ASSERT_EQ(::chown(plan.c_str(), 0, 0), 0);
  }
  EXPECT_EQ(runs_with(), 1U);
}

// The program prints each point that it has passed to a pipe that is too small for a full ring of
// points.
TEST_F(ProbeRunsTest, SigkillLosesNoFinishedHit) {
  const Variables variables = Prepared(Nothing());
  for (std::uint64_t round = 0; round < 20; ++round) {
    UniqueFd output;
    const pid_t pid = Start("counted", variables, output);
    std::uint64_t said = 0;
    for (std::uint64_t i = 0; i < round * 300 + 1; ++i) {
      ASSERT_EQ(::read(output.get(), &said, sizeof said), static_cast<ssize_t>(sizeof said));
    }
    ASSERT_EQ(::kill(pid, SIGKILL), 0);
    ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
    for (std::uint64_t more = 0; ::read(output.get(), &more, sizeof more) == sizeof more;) {
      said = more;
    }
    std::vector<SeenRun> runs = Runs();
    ASSERT_THAT(runs, SizeIs(1));
    EXPECT_FALSE(runs[0].is_living);
    EXPECT_FALSE(runs[0].facts.ended);
    const std::vector<std::uint64_t> values = runs[0].ValuesOf("counted");
    // There may be one more, which it could no longer print.
    ASSERT_THAT(values.size(), AnyOf(said, said + 1));
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], i + 1);
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
      if (entry.path().extension() == shm::kProbeFileSuffix) std::filesystem::remove(entry);
    }
  }
}

TEST_F(ProbeRunsTest, AReaderGivesSpaceBackWhileTheProgramRuns) {
  UniqueFd output;
  const pid_t pid = Start("counted", Prepared(Nothing()), output);
  std::uint64_t said = 0;
  ASSERT_EQ(::read(output.get(), &said, sizeof said), static_cast<ssize_t>(sizeof said));
  std::filesystem::path path;
  for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
    if (entry.path().extension() == shm::kProbeFileSuffix) path = entry.path();
  }
  auto file = RingFile::Open(path);
  ASSERT_TRUE(file) << file.error().message;
  // No other reader can open it meanwhile.
  EXPECT_EQ(RingFile::Open(path).error().code, ErrorCode::kUnavailable);
  std::uint64_t seen = 0;
  std::uint64_t position = file->tail(0);
  while (seen < 60000) {  // several times the capacity of the ring
    // The pipe limits the program: it is never more than 8,192 hits ahead.
    while (said < seen + 2000) {
      ASSERT_EQ(::read(output.get(), &said, sizeof said), static_cast<ssize_t>(sizeof said));
    }
    EXPECT_TRUE(file->IsBeingWritten());
    ASSERT_TRUE(file->Refresh());
    const auto progress = file->Read(0, position, 1 << 20, [&](const RingHit& hit) {
      if (hit.value) {
        ASSERT_EQ(*hit.value, ++seen);
      }
    });
    ASSERT_TRUE(progress) << progress.error().message;
    position = progress->position;
    ASSERT_TRUE(file->Release(0, position));
  }
  EXPECT_EQ(file->facts().dropped, 0U);
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  EXPECT_FALSE(file->IsBeingWritten());
}

TEST_F(ProbeRunsTest, AChildOfForkHasARunOfItsOwnOnceItPassesAPoint) {
  const std::vector<SeenRun> runs = Probed({kProbed, "forks"}, Everything());
  ASSERT_THAT(runs, SizeIs(2));
  EXPECT_NE(runs[0].facts.run, runs[1].facts.run);
  EXPECT_EQ(runs[1].facts.parent_pid, runs[0].facts.pid);
  EXPECT_THAT(runs[0].LabelsOf({runs[0].facts.run, 0}),
              ElementsAre("process", "loaded", "main", "before", "after", "exit"));
  EXPECT_THAT(runs[1].LabelsOf({runs[1].facts.run, 0}),
              ElementsAre("process", "after", "exit", "child's thread"));
  EXPECT_EQ(runs[1].Find("after")->site.line, runs[0].Find("after")->site.line);
  EXPECT_TRUE(runs[1].facts.ended);
}

TEST_F(ProbeRunsTest, ExecBeginsAnotherRunOfTheSameProcess) {
  const std::vector<SeenRun> runs = Probed({kProbed, "execs", "probed", "scopes"}, Everything());
  ASSERT_THAT(runs, SizeIs(2));
  EXPECT_EQ(runs[0].facts.pid, runs[1].facts.pid);
  EXPECT_THAT(runs[0].Labels(), ElementsAre("process", "loaded", "main", "before", "exec"));
  EXPECT_FALSE(runs[0].facts.ended);
  EXPECT_FALSE(runs[0].is_living);
  EXPECT_TRUE(runs[1].facts.ended);
}

TEST_F(ProbeRunsTest, EventsContinueInAnotherProcess) {
  const std::vector<SeenRun> runs = Probed({kProbed, "says_traceparent"}, Everything());
  ASSERT_THAT(runs, SizeIs(2));
  const SeenHit* const request = runs[0].Find("request");
  ASSERT_NE(request, nullptr);
  const shm::ProbeEventId& event = request->hit.event;
  ASSERT_FALSE(runs[1].hits.empty());
  const SeenHit& join = runs[1].hits[0];
  EXPECT_EQ(join.hit.kind, shm::kProbeJoin);
  EXPECT_EQ(join.hit.parent, runs[0].facts.run);
  EXPECT_THAT(runs[1].LabelsOf(event),
              ElementsAre("process", "loaded", "main", "in the process", "exit"));
  for (const SeenHit& hit : runs[1].hits) {
    if (hit.site.label == "exit") {
      EXPECT_EQ(hit.hit.kind, shm::kProbePoint);  // the process's part ends, not the event
    }
  }
}

TEST_F(ProbeRunsTest, JoinsWhatIsATraceparentOnly) {
  const std::string ids = "0123456789abcdef0000000000000007-00000000000000ff";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"00-" + ids + "-01", "1\n"},
      {"00-" + ids + "-00", "1\n"},
      {"cc-" + ids + "-01-more", "1\n"},
      {"00-" + ids + "-01-more", "0\n"},
      {"ff-" + ids + "-01", "0\n"},
      {"00-" + ids + "-0", "0\n"},
      {"00-" + ids + "-011", "0\n"},
      {"", "0\n"},
      {"00-", "0\n"},
      {"00_" + ids + "-01", "0\n"},
      {"00-0123456789ABCDEF0000000000000007-00000000000000ff-01", "0\n"},
      {"00-0123456789abcdef0000000000000007-0000000000000000-01", "0\n"},
      {"00-00000000000000000000000000000000-00000000000000ff-01", "0\n"},
      {"00-0123456789abcdef0000000000000007", "0\n"},
  };
  const Variables variables = Prepared(Nothing());
  for (const auto& [text, said] : cases) {
    const auto run =
        testing::RunProcess({.arguments = {kProbed, "joins", text}, .environment = variables});
    EXPECT_EQ(run.output, said) << text;
  }
}

TEST_F(ProbeRunsTest, StopsRecordingProgramsThatEnterASandbox) {
  const SeenRun run = OnlyRun({kProbed, "sandbox"}, Everything());
  EXPECT_FALSE(run.facts.attached);
  EXPECT_THAT(run.Labels(), ElementsAre("process", "loaded", "main", "before"));
}

TEST_F(ProbeRunsTest, DoesNotRecordProgramsWithASanitizer) {
  Variables variables = Prepared(Everything());
  for (const char* const runtime : {"libvictim_msan.so", "libvictim_rtsan.so"}) {
    variables[0].second = kProbeLibrary + ":" + kVictims + runtime;
    const auto run =
        testing::RunProcess({.arguments = {kProbed, "prints"}, .environment = variables});
    EXPECT_EQ(run.output, "first\nsecond\n");
    EXPECT_THAT(Runs(), IsEmpty()) << runtime;
  }
}

TEST_F(ProbeRunsTest, WithoutAPlanNothingIsDone) {
  Variables variables = Prepared(Everything());
  std::filesystem::remove(directory_.path() / shm::kProbePlanName);
  const auto run =
      testing::RunProcess({.arguments = {kProbed, "scopes"}, .environment = variables});
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_EQ(run.errors, "");
  EXPECT_THAT(Runs(), IsEmpty());
}

TEST_F(ProbeRunsTest, IgnoresPlansOfAnotherVersion) {
  const Variables variables = Prepared(Everything());
  const auto path = directory_.path() / shm::kProbePlanName;
  auto bytes = ReadFile(path, 1 << 20);
  ASSERT_TRUE(bytes);
  for (const std::size_t at :
       {std::size_t{0}, offsetof(shm::ProbePlan, version), offsetof(shm::ProbePlan, size_bytes),
        offsetof(shm::ProbePlan, point_count)}) {
    std::string changed = *bytes;
    ++changed[at];
    ASSERT_TRUE(WriteFileAtomically(path, changed, 0600));
    testing::RunProcess({.arguments = {kProbed, "scopes"}, .environment = variables});
    EXPECT_THAT(Runs(), IsEmpty()) << at;
  }
}

// Limits of file size, memory and descriptors, each too low for recording.
TEST_F(ProbeRunsTest, AProgramWithNarrowLimitsRunsAsWithoutUs) {
  const Variables variables = Prepared(Everything());
  for (const std::string limit : {"-f 1000", "-v 100000", "-n 4"}) {
    // The fourth descriptor is free, regardless of inherited descriptors.
    const std::string limited = "exec 3>&-; ulimit " + limit + "; exec \"$0\" prints";
    const auto run = testing::RunProcess(
        {.arguments = {"/bin/sh", "-c", limited, kProbed}, .environment = variables});
    EXPECT_EQ(run.exit_status, 0) << limit << run.errors;
    EXPECT_EQ(run.output, "first\nsecond\n") << limit;
  }
}

TEST_F(ProbeRunsTest, ProgramsAtAFixedAddressHavePointsToo) {
  const SeenRun run = OnlyRun({kVictims + "probed_fixed", "scopes"}, Everything());
  EXPECT_THAT(run.Labels(), Contains("in inner"));
  EXPECT_THAT(run.Labels(), Contains("main"));
}

TEST_F(ProbeRunsTest, AStaticProgramRunsAsWithoutUs) {
  EXPECT_THAT(Probed({kVictims + "probed_static", "scopes"}, Everything()), IsEmpty());
}

TEST_F(ProbeRunsTest, TheLibraryNeedsLibcAloneAndExportsWhatProgramsCall) {
  const auto said = [](std::vector<std::string> command) {
    command.push_back(kProbeLibrary);
    return testing::RunProcess({.arguments = std::move(command)}).output;
  };
  const std::string dynamic = said({"readelf", "--dynamic", "--wide"});
  const std::size_t needed = dynamic.find("(NEEDED)");
  EXPECT_THAT(dynamic, HasSubstr("[libc.so.6]"));
  EXPECT_EQ(dynamic.find("(NEEDED)", needed + 1), std::string::npos);
  EXPECT_EQ(said({"nm", "--dynamic", "--defined-only", "--format=just-symbols"}),
            "fieldcost_probe_begin\nfieldcost_probe_current\nfieldcost_probe_end\n"
            "fieldcost_probe_hit\nfieldcost_probe_hit_in\nfieldcost_probe_hit_value\n"
            "fieldcost_probe_join\nfieldcost_probe_make_site\nfieldcost_probe_traceparent\n");
  EXPECT_THAT(said({"nm", "--dynamic", "--undefined-only"}), Not(HasSubstr("_chk")));
}

}  // namespace
}  // namespace fieldcost::probe
