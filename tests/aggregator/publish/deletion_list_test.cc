#include "aggregator/publish/deletion_list.h"

#include <gtest/gtest.h>

#include "common/base/file.h"

namespace fieldcost::publish {
namespace {

const std::string kHash(64, 'a');

DeletionList Example() {
  return {{"v1/fragment/" + kHash, 1'764'513'600},
          {"v1/policy", 1'764'520'000},
          {"v1/snapshot/" + kHash, 0}};
}

TEST(DeletionListTest, TheWorkedExampleIsReadAndWritten) {
  const std::string golden =
      ReadFile(std::filesystem::path(FIELDCOST_PUBLISH_TEST_DIR) / "golden/deletions", 4096)
          .value();
  EXPECT_EQ(EncodeDeletions(Example()), golden);
  EXPECT_EQ(ParseDeletions(golden).value(), Example());
  EXPECT_EQ(ParseDeletions("").value(), DeletionList());
}

TEST(DeletionListTest, RefusesEverythingElse) {
  const std::string line = "5 v1/policy\n";
  for (const std::string& text :
       {std::string("\n"), std::string("5 v1/policy"), std::string("5  v1/policy\n"),
        std::string("05 v1/policy\n"), std::string("-5 v1/policy\n"), std::string("v1/policy\n"),
        std::string("5 /v1/policy\n"), std::string("5 v1/../policy\n"), std::string("5 keys\n"),
        std::string("5 \n"), line + line, line + "5 v1/fragment/" + kHash + "\n", line + "\n",
        std::string("18446744073709551616 v1/policy\n"), std::string("5 v1/policy \n")}) {
    const auto parsed = ParseDeletions(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::kCorrupt);
  }
}

}  // namespace
}  // namespace fieldcost::publish
