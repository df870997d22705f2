// `fieldcost check` on a machine of the synthetic fleet with known regressions: real store,
// publication, server, sync and program.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/demo_catalog.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ProcessResult;

constexpr int kWorse = 1;

// Prints planted regressions that are not flagged, and flagged APIs without a planted regression.
constexpr char kUnlikePlanted[] = R"(
import json, sys
planted = {one["api"] for one in json.load(open(sys.argv[1]))["profile"]}
checked = json.load(sys.stdin)
worse = {api["api"] for api in checked["apis"] if api["verdict"] == "more"}
print(*sorted(planted ^ worse), end="")
assert planted and checked["freshness"]["synthetic"]
assert {api["compared_with"] for api in checked["apis"]} == {"same_class"}
)";

TEST(CheckPlantedTest, ThePlantedAilmentsAreFoundAndNothingElse) {
  const testing::TempDir directory;
  // 120 machines have the same class as this one.
  const testing::DemoCatalog demo(directory.path(), {.agents = 480});
  ASSERT_THAT(demo.error(), IsEmpty());
  const std::string profile = demo.profile().string();
  const ProcessResult result = demo.Fieldcost({"check", profile, "--json"});
  EXPECT_EQ(result.exit_status, kWorse) << result.errors;
  const ProcessResult unlike =
      testing::RunProcess({.arguments = {"python3", "-c", kUnlikePlanted, demo.planted().string()},
                           .input = result.output});
  EXPECT_EQ(unlike.exit_status, 0) << unlike.errors;
  EXPECT_THAT(unlike.output, IsEmpty());
  EXPECT_THAT(demo.Fieldcost({"check", profile}).output,
              AllOf(HasSubstr("! worse than the field: 2\n"), HasSubstr("SYNTHETIC")));
}

}  // namespace
}  // namespace fieldcost::cli
