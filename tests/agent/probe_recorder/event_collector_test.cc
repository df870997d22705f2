#include "agent/probe_recorder/event_collector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/probe/login.h"
#include "agent/runs/tsc_calibration.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/probe/event_batch.h"
#include "common/probe/set_aside.h"
#include "tests/support/binary_dir.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::probe {
namespace {

namespace fs = std::filesystem;

const std::string kProbed = FIELDCOST_BINARY_DIR "/victims/probed";

class CollectorTest : public ::testing::Test {
 protected:
  CollectorTest() {
    paths_.state_dir = directory_.path() / "state";
    paths_.system_file = directory_.path() / "system.toml";
    paths_.memory_roots = {memory_.path() / "root"};
    fs::create_directories(paths_.state_dir);
    auto session = Session::Make(paths_);
    EXPECT_TRUE(session.has_value()) << session.error().message;
    session_.emplace(*std::move(session));
    auto spool = Spool::Open(SpoolFile(paths_));
    EXPECT_TRUE(spool.has_value()) << spool.error().message;
    spool_.emplace(*std::move(spool));
  }

  void RunProgram(const std::vector<std::string>& arguments, bool local = true) {
    std::vector<std::string> command = {kProbed};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const auto now = SystemClock().Now().time_since_epoch();
    const auto variables = WritePlan(
        session_->directory(), {.library = FIELDCOST_BINARY_DIR "/lib/libfieldcost_probe.so",
                                .points = {.automatic = 0},
                                .session = session_->id(),
                                .tsc_to_ns_multiplier = runs::CalibrateTsc(),
                                .start_unix_ns = static_cast<std::uint64_t>(now.count()) * 1000,
                                .local = local,
                                .build = "1.2",
                                .tags = {"b", "a", "b"}});
    ASSERT_TRUE(variables.has_value()) << variables.error().message;
    const auto result = testing::RunProcess({.arguments = command, .environment = *variables});
    ASSERT_EQ(result.exit_status, 0) << result.errors;
  }

  Collector::Report Look(Collector::Options options = {}) {
    Collector collector(paths_, *session_, *spool_, namer_, options);
    const auto report = collector.Look(true);
    EXPECT_TRUE(report.has_value()) << report.error().message;
    return report.value_or(Collector::Report{});
  }

  std::uint64_t Count(const std::string& table) {
    return spool_->database().QueryInt("SELECT count(*) FROM " + table).value_or(0);
  }

  const testing::TempDir directory_;
  const testing::TempDir memory_{testing::kMemory};
  settings::AgentPaths paths_;
  std::optional<Session> session_;
  std::optional<Spool> spool_;
  StackNamer namer_;
};

TEST_F(CollectorTest, KeepsAProgramsHitsAndRemovesItsFile) {
  RunProgram({"scopes"});
  const Collector::Report report = Look();
  EXPECT_EQ(report.runs, 1U);
  EXPECT_FALSE(report.has_programs);
  EXPECT_EQ(Count("hit"), report.hits);
  EXPECT_GT(report.hits, 4U);
  EXPECT_TRUE(session_->Files().empty());
  const auto events = spool_->events().List({.label = "outer"}, {}, 10);
  ASSERT_EQ(events->events.size(), 1U);
  EXPECT_EQ(events->events[0].build, "1.2");
  EXPECT_THAT(events->events[0].tags, ::testing::ElementsAre("a", "b"));
  EXPECT_EQ(events->events[0].program, "probed");
  EXPECT_GT(events->events[0].end_ns, events->events[0].begin_ns);
  EXPECT_EQ(spool_->events().List({.label = "probed"}, {}, 10)->events.size(), 1U);
}

// Simulates a collector that was killed after storing the hits and before releasing them.
TEST_F(CollectorTest, KeepsNothingTwiceIfKilledBeforeReleasingIt) {
  RunProgram({"threads", "4", "100"});
  ASSERT_TRUE(
      spool_->database()
          .Execute("CREATE TRIGGER killed BEFORE DELETE ON ring BEGIN SELECT RAISE(IGNORE); END")
          .has_value());
  const fs::path file = session_->Files().at(0);
  const fs::path copy = directory_.path() / "copy";
  fs::copy_file(file, copy);
  const Collector::Report first = Look({.batch_bytes = 1000});
  EXPECT_EQ(Count("hit"), first.hits);
  fs::copy_file(copy, file);
  EXPECT_EQ(Look({.batch_bytes = 1000}).hits, 0U);
  EXPECT_EQ(Count("hit"), first.hits);
  EXPECT_EQ(Count("outgoing"), 0U);
}

TEST_F(CollectorTest, BatchesRespectTheirSizeAndHoldEachHitOnce) {
  ASSERT_TRUE(SaveProbeConsent(paths_, settings::Mode::kOn, WallTime()).has_value());
  RunProgram({"threads", "4", "200"}, false);
  constexpr std::size_t kBytes = 4000;
  const Collector::Report report = Look({.batch_bytes = kBytes});
  std::uint64_t hits = 0;
  std::uint64_t last = 0;
  while (const auto batch = *spool_->FirstOutgoing()) {
    EXPECT_GT(batch->sequence, last);
    last = batch->sequence;
    EXPECT_LT(batch->body.size(), 3 * kBytes);
    const auto decoded = DecodeBatch(batch->body);
    ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
    EXPECT_EQ(decoded->sequence, batch->sequence);
    hits += decoded->hits.size();
    ASSERT_TRUE(spool_->MarkSent(batch->sequence).has_value());
  }
  EXPECT_GT(last, 4U);
  EXPECT_EQ(hits, report.hits);
  EXPECT_EQ(Count("hit"), report.hits);
  EXPECT_EQ(spool_->Count()->sent, last);
}

TEST_F(CollectorTest, QueuesNothingThatBeganWithoutConsent) {
  RunProgram({"scopes"}, false);
  Look();
  ASSERT_TRUE(
      SaveProbeConsent(paths_, settings::Mode::kOn, SystemClock().Now() + std::chrono::hours(1))
          .has_value());
  RunProgram({"scopes"}, false);
  Look();
  ASSERT_TRUE(SaveProbeConsent(paths_, settings::Mode::kOn, WallTime()).has_value());
  ASSERT_TRUE(SaveProbeConsent(paths_, settings::Mode::kOff, SystemClock().Now()).has_value());
  RunProgram({"scopes"}, false);
  Look();
  EXPECT_EQ(Count("outgoing"), 0U);
  EXPECT_EQ(Count("run"), 3U);
}

TEST_F(CollectorTest, LocalRunsAreNeverQueued) {
  ASSERT_TRUE(SaveProbeConsent(paths_, settings::Mode::kOn, WallTime()).has_value());
  RunProgram({"scopes"});
  Look();
  EXPECT_GT(Count("hit"), 0U);
  EXPECT_EQ(Count("outgoing"), 0U);
}

TEST_F(CollectorTest, QueuesNothingThatTheAdministratorForbids) {
  ASSERT_TRUE(SaveProbeConsent(paths_, settings::Mode::kOn, WallTime()).has_value());
  ASSERT_TRUE(
      WriteFileAtomically(paths_.system_file, "[probe]\npermit = false\n", 0644).has_value());
  RunProgram({"scopes"}, false);
  Look();
  EXPECT_EQ(Count("outgoing"), 0U);
  EXPECT_EQ(CheckMaySendProbes(paths_).error().code, ErrorCode::kPermissionDenied);
  EXPECT_THAT(CheckProbesPermitted(paths_).error().message, ::testing::HasSubstr("permit = false"));
}

TEST_F(CollectorTest, EventsThatLostPointsAreIncompleteAndNoOthers) {
  RunProgram({"scopes"});
  RunProgram({"many", "300000"});  // more than a ring and its area hold; none is read
  const Collector::Report report = Look();
  EXPECT_GT(report.lost, 0U);
  EXPECT_EQ(Count("event WHERE flags & 1"), 1U);
  const auto events = spool_->events().List({}, {}, 100);
  for (const EventRow& event : events->events) {
    EXPECT_EQ(event.is_incomplete, event.hits > 1000);
    // Stored with the run, because an event that lost everything cannot record it.
    if (event.is_incomplete) {
      EXPECT_EQ(event.lost_hits, report.lost);
      EXPECT_EQ(event.end_ns, 0U);  // its end was lost, too
      EXPECT_EQ(Judge(std::span(&event, 1)).front().why, Why::kIncomplete);
    }
  }
  // The other program lost nothing.
  EXPECT_EQ(spool_->database().QueryInt("SELECT count(*) FROM run WHERE lost_hits = 0").value_or(9),
            1U);
}

TEST_F(CollectorTest, DamagedFilesAreRemovedAndTheOthersRead) {
  RunProgram({"scopes"});
  ASSERT_TRUE(
      WriteFileAtomically(session_->directory() / "7-7.probe", "not rings", 0600).has_value());
  const Collector::Report report = Look();
  EXPECT_EQ(report.refused, 1U);
  EXPECT_GT(Count("hit"), 0U);
  EXPECT_TRUE(session_->Files().empty());
}

TEST_F(CollectorTest, ASessionHasOneCollector) {
  const auto second = Session::Take(session_->directory());
  ASSERT_TRUE(second.has_value());
  EXPECT_FALSE(second->has_value());
  EXPECT_THAT(SessionDirectories(paths_), ::testing::ElementsAre(session_->directory()));
}

}  // namespace
}  // namespace fieldcost::probe
