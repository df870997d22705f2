#include "tests/common/catalog/mirror_server.h"
#include "tests/tools/cli/catalog_fixture.h"

namespace fieldcost::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ProcessResult;
using ::testing::StartsWith;

class SyncCommandTest : public CatalogCliTest {
 protected:
  std::string StatusText() { return Cli({"sync", "--status"}).output; }
  // The machine of the test may run on a battery.
  void PermitAnyPower() {
    std::ofstream(home() / "agent.toml", std::ios::app)
        << "[upload]\non_battery = true\non_metered = true\n";
  }
};

TEST_F(SyncCommandTest, AutomaticRefreshingIsOffUntilSwitchedOn) {
  PublishAndSync(rows_);
  PermitAnyPower();
  EXPECT_EQ(StatusText(), "up to date; automatic refreshing is off (fieldcost sync --auto on)\n");
  publisher_.TakeRequests();
  EXPECT_EQ(Cli({"sync", "--if-due"}).output, "");
  const ProcessResult on = Cli({"sync", "--auto", "on"});
  EXPECT_EQ(on.exit_status, 0) << on.errors;
  EXPECT_THAT(on.output,
              AllOf(HasSubstr("fieldcost sync --if-due"), HasSubstr("up to date; next check in ")));
  EXPECT_EQ(Cli({"sync", "--if-due"}).output, "") << "not due";
  EXPECT_THAT(publisher_.TakeRequests(), IsEmpty());

  std::filesystem::remove(home() / "catalog.db");
  EXPECT_EQ(StatusText(), "not fetched yet; next check now\n");
  const ProcessResult due = Cli({"sync", "--if-due"});
  EXPECT_EQ(due.exit_status, 0) << due.errors;
  EXPECT_THAT(due.output, StartsWith("fetched "));
  EXPECT_EQ(Json(Cli({"sync", "--status", "--json"}).output, "d['refresh']['automatic']"),
            "True\n");

  ASSERT_EQ(Cli({"sync", "--auto", "off"}).exit_status, 0);
  std::filesystem::remove(home() / "catalog.db");
  publisher_.TakeRequests();
  EXPECT_EQ(Cli({"sync", "--if-due"}).output, "");
  EXPECT_THAT(publisher_.TakeRequests(), IsEmpty());
}

TEST_F(SyncCommandTest, StatusNamesTheProblemAndTheMissingPart) {
  PublishAndSync(rows_);
  PermitAnyPower();
  ASSERT_EQ(Cli({"sync", "--auto", "on"}).exit_status, 0);
  std::filesystem::remove(home() / "catalog.db");
  publisher_.FailAfterFragments(0);
  const ProcessResult failed = Cli({"sync", "--if-due"});
  EXPECT_NE(failed.exit_status, 0);
  EXPECT_THAT(StatusText(), AllOf(StartsWith("incomplete: 0 of 4 fragments; last attempt failed ("),
                                  HasSubstr("; next try in ")));
  EXPECT_THAT(Cli({"agent", "status"}).output,
              HasSubstr("catalogue           incomplete: 0 of 4 fragments; last attempt failed"));
  EXPECT_EQ(Json(Cli({"sync", "--status", "--json"}).output, "d['refresh']['failures']"), "1\n");
  publisher_.TakeRequests();
  EXPECT_EQ(Cli({"sync", "--if-due"}).exit_status, 0) << "backs off";
  EXPECT_THAT(publisher_.TakeRequests(), IsEmpty());
}

TEST_F(SyncCommandTest, AnIncompleteCatalogueHasNoOrderByTotal) {
  PublishAndSyncPartly(rows_);
  const ProcessResult top = Cli({"top"});
  EXPECT_EQ(top.exit_status, 69);
  EXPECT_THAT(top.errors,
              HasSubstr("the catalogue is incomplete, 3 of 4 fragments: fieldcost sync"));
  EXPECT_EQ(top.output, "");
  // No form of any command shows an order by total or a share.
  const std::string page = (home() / "report.html").string();
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"top"},
        {"top", "--json"},
        {"top", "--csv"},
        {"top", "--sort", "calls"},
        {"top", "--limit", "0"},
        {"report", "vendor", "--library", "liba.so.1"},
        {"report", "vendor", "--library", "liba.so.1", "--json"},
        {"report", "vendor", "--library", "liba.so.1", "--csv"},
        {"report", "vendor", "--library", "lib*", "--by", "module"},
        {"report", "vendor", "--library", "liba.so.1", "--html", page}}) {
    const ProcessResult refused = Cli(command);
    EXPECT_EQ(refused.exit_status, 69) << command.front() << refused.output << refused.errors;
    EXPECT_THAT(refused.output + refused.errors,
                HasSubstr("the catalogue is incomplete, 3 of 4 fragments"));
    // With --json, the error is a document.
    EXPECT_THAT(refused.output, ::testing::AnyOf("", StartsWith("{\"error\":\"unavailable\"")));
  }
  EXPECT_FALSE(std::filesystem::exists(page));
  const ProcessResult shown = Cli({"show", "twin"});
  EXPECT_THAT(shown.errors, HasSubstr("the catalogue is incomplete, 3 of 4 fragments"));
  EXPECT_THAT(shown.output, ::testing::Not(HasSubstr("SHARE")));
  const ProcessResult found = Cli({"search", "*"});
  EXPECT_THAT(found.errors, HasSubstr("incomplete, 3 of 4"));
  ASSERT_EQ(Cli({"sync"}).exit_status, 0) << "completes it";
  EXPECT_EQ(Cli({"top"}).exit_status, 0);
  EXPECT_THAT(Cli({"report", "vendor", "--library", "liba.so.1"}).output, HasSubstr("SHARE"));
}

TEST_F(SyncCommandTest, FetchesFromMirrorsAndReportsThoseThatFail) {
  publisher_.Publish(rows_, 2, SystemClock().Now());
  testing::MirrorServer good(publisher_, "/pub/fieldcost");
  testing::MirrorServer broken(publisher_, "/gone", [](const auto&, http::Response& response) {
    response = {.status = 503};
  });
  WriteConfig("[catalog]\nurls = [\"" + broken.Address().url + "\", \"" + good.Address().url +
              "\"]\nca_file = \"" + publisher_.certificates().ca.string() + "\"\n");
  std::filesystem::copy_file(publisher_.Client(home()).root_file, home() / "catalog_root");
  // The order is drawn each time.
  bool was_skipped = false;
  for (int i = 0; i < 40 && !was_skipped; ++i) {
    const ProcessResult synced = Cli({"sync", "--full"});
    ASSERT_EQ(synced.exit_status, 0) << synced.errors;
    was_skipped = synced.output.find("skipped " + broken.Address().url) != std::string::npos;
    EXPECT_EQ(was_skipped, synced.output.find("503") != std::string::npos) << synced.output;
  }
  EXPECT_TRUE(was_skipped);
  EXPECT_THAT(publisher_.TakeRequests(), IsEmpty()) << "the service";
  EXPECT_THAT(Cli({"sync", "--full", "--json"}).output, HasSubstr("\"skipped_mirrors\":["));
}

TEST_F(SyncCommandTest, FetchesFromADirectoryWithoutAService) {
  publisher_.Publish(rows_, 2, SystemClock().Now());
  WriteConfig("");
  std::filesystem::copy_file(publisher_.Client(home()).root_file, home() / "catalog_root");
  std::vector<std::string> paths = {wire::kTimestampPath,
                                    wire::SnapshotPath(publisher_.timestamp.snapshot_sha256)};
  for (const auto& reference : publisher_.snapshot.fragments) {
    paths.push_back(wire::FragmentPath(reference.sha256));
  }
  const std::filesystem::path tree = home() / "tree";
  for (const std::string& path : paths) {
    const std::filesystem::path file = tree / path.substr(1);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << publisher_.Get(path);
  }
  EXPECT_EQ(Cli({"sync"}).exit_status, 64);
  const ProcessResult synced = Cli({"sync", "--from", tree.string()});
  EXPECT_EQ(synced.exit_status, 0) << synced.errors;
  EXPECT_THAT(synced.output, HasSubstr("4 of 4 fragments current"));
  EXPECT_EQ(Cli({"top"}).exit_status, 0);
  EXPECT_THAT(publisher_.TakeRequests(), IsEmpty());
  EXPECT_EQ(Cli({"sync", "--from", tree.string(), "--auto", "on"}).exit_status, 64);
}

TEST_F(SyncCommandTest, WithoutAServiceItCannotBeSwitchedOn) {
  WriteConfig("");
  const ProcessResult on = Cli({"sync", "--auto", "on"});
  EXPECT_EQ(on.exit_status, 64);
  EXPECT_THAT(on.errors, HasSubstr("no service is joined; join one"));
  EXPECT_FALSE(std::filesystem::exists(home() / "state"));
}

}  // namespace
}  // namespace fieldcost::cli
