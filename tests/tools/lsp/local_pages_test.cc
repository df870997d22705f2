// Pages on this machine: the link of a hover and the command that opens one, with the real program
// and a synced catalogue.
#include "tools/lsp/local_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/file.h"
#include "tests/tools/lsp/server_fixture.h"

namespace fieldcost::lsp {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kText[] = "void f(void) {\n  slow_call(1);\n}\n";
constexpr int kMaxRequests = 100'000;

class LocalPagesTest : public LspServerTest {
 protected:
  std::filesystem::path page() const { return home() / "cache/pages/libslow.so.1/slow_call.html"; }
  std::string url() const { return "file://" + page().string(); }
  std::string Html() const { return ReadFile(page(), 1 << 20).value_or(""); }
};

TEST_F(LocalPagesTest, AHoverLinksToAPageThatIsWritten) {
  PublishAndSync(Rows());
  Begin();
  client_->Open(kUri, "c", kText);
  EXPECT_THAT(HoverAt(1, 4), HasSubstr("\n[Details](" + url() + ")\n"));
  // Another thread writes it.
  for (int i = 0; i < kMaxRequests && !std::filesystem::exists(page()); ++i) HoverAt(1, 4);
  EXPECT_THAT(Html(), AllOf(StartsWith("<!doctype html>"), HasSubstr("slow_call"),
                            Not(HasSubstr("<script"))));
}

TEST_F(LocalPagesTest, TheCommandWritesThePageAndShowsIt) {
  PublishAndSync(Rows());
  Begin();
  client_->Open(kUri, "c", kText);
  const json::value actions = client_->Result("textDocument/codeAction", In(kUri, 1, 2));
  ASSERT_EQ(actions.as_array().size(), 1u);
  EXPECT_TRUE(client_
                  ->Result("workspace/executeCommand",
                           json::object{{"command", "fieldcost.openDetails"},
                                        {"arguments", actions.at(0).at("arguments")}})
                  .is_null());
  EXPECT_EQ(client_->Await("window/showDocument").at("params").at("uri").as_string(), url());
  EXPECT_THAT(Html(), StartsWith("<!doctype html>"));
}

TEST_F(LocalPagesTest, ClientsThatRunOurLinksGetTheCommandAndNoFileUntilTheyDo) {
  PublishAndSync(Rows());
  Begin("{}", R"({"experimental": {"fieldcostCommandLinks": true},
                  "textDocument": {"hover": {"contentFormat": ["markdown"]}}})");
  client_->Open(kUri, "c", kText);
  EXPECT_THAT(HoverAt(1, 4),
              HasSubstr("[Details](command:fieldcost.openDetails?%5B%7B%22api%22%3A%22"
                        "libslow.so.1%21slow_call%22%7D%5D)"));
  client_->Result("workspace/executeCommand", Json(R"({"command": "fieldcost.openDetails",
                           "arguments": [{"api": "libslow.so.1!slow_call"}]})"));
  // Without window/showDocument, the address is a message.
  EXPECT_EQ(client_->Await("window/showMessage").at("params").at("message").as_string(),
            "fieldcost: " + url());
}

TEST_F(LocalPagesTest, APageThatCannotBeWrittenIsAnError) {
  PublishAndSync(Rows());
  ASSERT_TRUE(WriteFileAtomically(home() / "cache", "a file, not a directory", 0600));
  Begin();
  const json::value answer = client_->Answer(
      client_->Request("workspace/executeCommand", Json(R"({"command": "fieldcost.openDetails",
                                           "arguments": [{"api": "libslow.so.1!slow_call"}]})")));
  EXPECT_THAT(json::serialize(answer.at("error")), HasSubstr((home() / "cache").string()));
}

TEST_F(LocalPagesTest, APageIsWrittenAgainOnlyAfterTheCatalogueHasChanged) {
  PublishAndSync(Rows());
  const std::filesystem::path catalog = home() / "catalog.db";
  const PageWish wish{.api = {.soname = "libslow.so.1", .symbol = "slow_call"}, .installed = ""};
  const auto write = [&] { WriteWishedPage(wish, catalog, home() / "cache", SystemClock().Now()); };
  write();
  EXPECT_THAT(Html(), StartsWith("<!doctype html>"));
  ASSERT_TRUE(WriteFileAtomically(page(), "old", 0600));
  std::filesystem::last_write_time(
      page(), std::filesystem::last_write_time(catalog) + std::chrono::seconds(1));
  write();
  EXPECT_EQ(Html(), "old");
  std::filesystem::last_write_time(
      page(), std::filesystem::last_write_time(catalog) - std::chrono::seconds(1));
  write();
  EXPECT_THAT(Html(), StartsWith("<!doctype html>"));
}

}  // namespace
}  // namespace fieldcost::lsp
