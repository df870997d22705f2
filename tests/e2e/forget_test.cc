#include <signal.h>

#include <fstream>

#include "common/catalog/catalog.h"
#include "tests/e2e/house.h"

// Withdrawn data is removed to the last bit: the published rows equal those of a history without
// this volunteer.

namespace fieldcost::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

class ForgetTest : public HouseTest {
 protected:
  // Runs a command as another user of the same service; the house's own user is the one who
  // forgets.
  ProcessResult OtherUser(std::vector<std::string> arguments,
                          const std::string& name = "other") const {
    ProcessOptions options = Options(std::move(arguments));
    options.environment = {{"FIELDCOST_HOME", (home().parent_path() / name).string()}};
    return RunProcess(options);
  }

  // Opts in and measures; the measurements stay unsent.
  void OtherUserMeasures() const {
    const std::filesystem::path place = home().parent_path() / "other";
    std::filesystem::create_directories(place);
    for (const char* file : {"agent.toml", "catalog_root"}) {
      std::filesystem::copy_file(home() / file, place / file,
                                 std::filesystem::copy_options::overwrite_existing);
    }
    ASSERT_EQ(OtherUser({kFieldcost, "agent", "on"}).exit_status, 0);
    for (const char* scenario : {"alloc", "calls"}) {
      ASSERT_EQ(OtherUser({kFieldcost, "run", "--", kVictim, scenario}).exit_status, 0);
    }
    ASSERT_EQ(OtherUser({kFieldcostd, "--once"}).exit_status, 0);
  }

  void OtherUserUploads(const std::string& name = "other") const {
    for (const char* file : {"agent.toml", "catalog_root"}) {
      std::filesystem::copy_file(home() / file, home().parent_path() / name / file,
                                 std::filesystem::copy_options::overwrite_existing);
    }
    const ProcessResult uploaded = OtherUser({kFieldcostd, "--once", "--flush"}, name);
    ASSERT_EQ(uploaded.exit_status, 0) << uploaded.errors;
  }

  void MeasureAndUpload(const std::string& scenario) const {
    ASSERT_EQ(RunVictim(scenario).exit_status, 0);
    const ProcessResult uploaded = Upload();
    ASSERT_EQ(uploaded.exit_status, 0) << uploaded.errors;
  }

  // The published rows, as seen by a user who fetches the catalogue for the first time.
  std::vector<stats::StatRow> PublishedRows() {
    Publish();
    std::filesystem::remove(home() / "catalog.db");
    SyncAll();
    const auto catalog = catalog::Catalog::Open(home() / "catalog.db");
    EXPECT_TRUE(catalog) << catalog.error().message;
    auto rows = catalog->AllRows();
    EXPECT_TRUE(rows) << rows.error().message;
    return std::move(*rows);
  }

  void ExpectVerified() const {
    const ProcessResult verified = RunProcess(
        {.arguments = {kAggregator, "verify", "--config", aggregator_config().string()}});
    EXPECT_EQ(verified.exit_status, 0) << verified.output;
  }
};

TEST_F(ForgetTest, ThePublishedNumbersAreThoseOfAHistoryWithoutTheAgent) {
  StartAggregator();
  ASSERT_NO_FATAL_FAILURE(OtherUserMeasures());
  // The other user's data goes to two services; only the first receives data of the house's user.
  std::filesystem::copy(home().parent_path() / "other", home().parent_path() / "twin",
                        std::filesystem::copy_options::recursive);
  ASSERT_EQ(Fieldcost({"agent", "on"}).exit_status, 0);
  ASSERT_NO_FATAL_FAILURE(MeasureAndUpload("alloc"));
  ASSERT_NO_FATAL_FAILURE(OtherUserUploads());
  ASSERT_NO_FATAL_FAILURE(MeasureAndUpload("calls"));
  ASSERT_NO_FATAL_FAILURE(MeasureAndUpload("alloc"));
  const std::vector<stats::StatRow> with_both = PublishedRows();

  const ProcessResult forgotten = Fieldcost({"agent", "forget", "--yes"});
  ASSERT_EQ(forgotten.exit_status, 0) << forgotten.errors;
  const std::vector<stats::StatRow> after = PublishedRows();
  StopAggregator();
  ExpectVerified();

  std::filesystem::remove_all(server() / "data");
  StartAggregator();
  ASSERT_NO_FATAL_FAILURE(OtherUserUploads("twin"));
  const std::vector<stats::StatRow> without = PublishedRows();
  StopAggregator();

  EXPECT_THAT(without, Not(IsEmpty()));
  EXPECT_NE(with_both, without);
  EXPECT_TRUE(after == without);
}

TEST_F(ForgetTest, KillsOnEitherSideDoNotChangeTheResult) {
  StartAggregator();
  ASSERT_NO_FATAL_FAILURE(OtherUserMeasures());
  ASSERT_NO_FATAL_FAILURE(OtherUserUploads());
  const std::vector<stats::StatRow> before = PublishedRows();
  ASSERT_EQ(Fieldcost({"agent", "on"}).exit_status, 0);
  for (int i = 0; i < 4; ++i)
    ASSERT_NO_FATAL_FAILURE(MeasureAndUpload(i % 2 == 0 ? "alloc" : "calls"));

  for (int round = 0; round < 6; ++round) {
    BackgroundProcess forget(Options({kFieldcost, "agent", "forget", "--yes"}));
    for (int i = 0; i < round * 3; ++i) RunProcess({.arguments = {"true"}});  // a while, not timed
    if (round % 2 == 0) {
      forget.Signal(SIGKILL);
    } else {
      KillAggregator();
    }
    forget.Wait();
    if (round % 2 == 1) StartAggregator();
  }
  const ProcessResult rest = Fieldcost({"agent", "forget", "--yes"});
  EXPECT_EQ(rest.exit_status, 0) << rest.errors;
  EXPECT_TRUE(PublishedRows() == before);
  StopAggregator();
  ExpectVerified();
}

TEST_F(ForgetTest, MayContributeAgainAfterForgetting) {
  StartAggregator();
  ASSERT_EQ(Fieldcost({"agent", "on"}).exit_status, 0);
  ASSERT_NO_FATAL_FAILURE(MeasureAndUpload("alloc"));
  ASSERT_EQ(Fieldcost({"agent", "forget", "--yes"}).exit_status, 0);
  EXPECT_THAT(PublishedRows(), IsEmpty());
  ASSERT_NO_FATAL_FAILURE(MeasureAndUpload("alloc"));
  Publish();
  SyncAll();
  const boost::json::object metrics = Published("victim_allocate");
  ASSERT_TRUE(metrics.contains("wall_time"));
  EXPECT_EQ(metrics.at("wall_time").at("count").to_number<std::int64_t>(), 3000);
  EXPECT_EQ(metrics.at("wall_time").at("contributions").to_number<std::int64_t>(), 1);
  StopAggregator();
}

}  // namespace
}  // namespace fieldcost::testing
