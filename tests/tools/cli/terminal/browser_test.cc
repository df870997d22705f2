#include "tools/cli/terminal/browser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fieldcost::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(BrowserCommandTest, TheUsersBrowserComesFirstThenTheDesktops) {
  const std::string url = "file:///a%20b.html";
  EXPECT_THAT(BrowserCommand({.untrusted_browser = "firefox", .has_display = true}, url),
              ElementsAre("firefox", url));
  EXPECT_THAT(BrowserCommand({.untrusted_browser = "w3m -o x=1  %s:lynx"}, url),
              ElementsAre("w3m", "-o", "x=1", url));
  EXPECT_THAT(BrowserCommand({.untrusted_browser = "open --to=%s now"}, url),
              ElementsAre("open", "--to=" + url, "now"));
  EXPECT_THAT(BrowserCommand({.untrusted_browser = "", .has_display = true}, url),
              ElementsAre("xdg-open", url));
  EXPECT_THAT(BrowserCommand({.untrusted_browser = " :lynx", .has_display = true}, url),
              ElementsAre("xdg-open", url));
}

TEST(BrowserCommandTest, WithoutADisplayThereIsNone) {
  EXPECT_THAT(BrowserCommand({}, "file:///a.html"), IsEmpty());
}

TEST(BrowserCommandTest, NoShellReadsTheVariable) {
  EXPECT_THAT(BrowserCommand({.untrusted_browser = "a;rm $HOME `x`"}, "u"),
              ElementsAre("a;rm", "$HOME", "`x`", "u"));
}

}  // namespace
}  // namespace fieldcost::cli
