#pragma once

#include <string>
#include <vector>

#include "common/base/clock.h"
#include "tests/common/catalog/publisher.h"
#include "tests/tools/cli/cli_fixture.h"

namespace fieldcost::cli {

// Runs the program with a published catalogue that it fetches itself.
class CatalogCliTest : public CliTest {
 protected:
  void PublishAndSync(const std::vector<stats::StatRow>& rows) {
    const WallTime now = SystemClock().Now();
    publisher_.Publish(rows, 2, now);
    const catalog::SyncOptions client = publisher_.Client(home());
    WriteConfig("[aggregator]\nurl = \"" + client.server.url + "\"\nca_file = \"" +
                client.server.ca_file.string() + "\"\n");
    std::filesystem::copy_file(client.root_file, home() / "catalog_root",
                               std::filesystem::copy_options::overwrite_existing);
    const testing::ProcessResult result = Cli({"sync", "--full"});
    ASSERT_EQ(result.exit_status, 0) << result.errors;
    EXPECT_THAT(result.output, ::testing::AllOf(::testing::StartsWith("fetched 4 fragments"),
                                                ::testing::HasSubstr("4 of 4 fragments current")));
  }

  // Fetches another catalogue of `rows`, whose sync fails when all but one of 4 fragments are
  // there.
  void PublishAndSyncPartly(const std::vector<stats::StatRow>& rows) {
    PublishAndSync(rows);
    std::filesystem::remove(home() / "catalog.db");
    publisher_.FailAfterFragments(3);
    EXPECT_NE(Cli({"sync"}).exit_status, 0);
    publisher_.FailAfterFragments(-1);
  }

  // A value of a JSON document, selected by a Python expression.
  std::string Json(const std::string& document, const std::string& expression) {
    const testing::ProcessResult result = testing::RunProcess(
        {.arguments = {"python3", "-c",
                       "import json,sys; d=json.load(sys.stdin); print(" + expression + ")"},
         .input = document});
    EXPECT_EQ(result.exit_status, 0) << result.errors << document;
    return result.output;
  }

  testing::Publisher publisher_{SystemClock().Now()};
  const std::vector<stats::StatRow> rows_ = {
      testing::MakeRow("liba.so.1", "open_it", 300, 1500),
      testing::MakeRow("liba.so.1", "open_it", 300, 4096, stats::Metric::kAllocInclusive),
      testing::MakeRow("liba.so.1", "twin", 5, 7),
      testing::MakeRow("libb.so.2", "twin", 5, 7'000'000)};
};

}  // namespace fieldcost::cli
