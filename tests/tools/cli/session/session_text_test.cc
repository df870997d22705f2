#include "tools/cli/session/session_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fieldcost::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kSnippet[] = "/home/u/.config/fieldcost/session.sh";

TEST(SessionLineTest, AddedAndRemovedTheProfileIsTheSameByteForByte) {
  for (const std::string profile :
       {"", "\n", "umask 022\n", "umask 022", "umask 022\n\n\n", "a\r\nb\r\n", "a\r\nb", "\n\nx",
        "if [ -r '/other' ]; then . '/other'; fi\n"}) {
    const std::string added = AddSessionLine(profile, kSnippet);
    EXPECT_THAT(added, StartsWith(profile));
    EXPECT_THAT(added, EndsWith("\n"));
    EXPECT_TRUE(HasSessionLine(added, kSnippet));
    EXPECT_EQ(RemoveSessionLine(added), profile);
  }
}

TEST(SessionLineTest, RemovesAFileCreatedForTheLine) {
  const std::string made = AddSessionLine(std::nullopt, kSnippet);
  EXPECT_EQ(RemoveSessionLine(made), std::nullopt);
  EXPECT_EQ(RemoveSessionLine(made + "umask 022\n"), "umask 022\n");
}

TEST(SessionLineTest, KeepsWhatTheUserAddedLater) {
  EXPECT_EQ(RemoveSessionLine(AddSessionLine("a\n", kSnippet) + "b\n"), "a\nb\n");
  EXPECT_EQ(RemoveSessionLine(AddSessionLine("a", kSnippet) + "b\n"), "a\nb\n");
  EXPECT_EQ(RemoveSessionLine(AddSessionLine("a\n", kSnippet) + "b"), "a\nb");
}

TEST(SessionLineTest, SeveralLinesAreAllRemoved) {
  const std::string twice = AddSessionLine(AddSessionLine("a\n", "/one/session.sh"), kSnippet);
  EXPECT_TRUE(HasSessionLine(twice));
  EXPECT_EQ(RemoveSessionLine(twice), "a\n");
}

TEST(SessionLineTest, AnotherSnippetsLineIsNotThisOnes) {
  const std::string other = AddSessionLine("", "/home/u/.config/fieldcost/session.sh2");
  EXPECT_TRUE(HasSessionLine(other));
  EXPECT_FALSE(HasSessionLine(other, kSnippet));
}

TEST(SessionTextTest, TheNumberOfDirectoriesMadeCanBeReadBack) {
  const SessionTextOptions options{
      .library = "/s/libfieldcost_preload.so", .state_dir = "/s", .directories_made = 3};
  EXPECT_EQ(DirectoriesMade(SnippetText(options)), 3U);
  EXPECT_EQ(DirectoriesMade(EnvironmentFileText(options)), 3U);
  EXPECT_EQ(DirectoriesMade("LD_PRELOAD=/x\n"), std::nullopt);
  EXPECT_EQ(DirectoriesMade(""), std::nullopt);
  std::string edited = SnippetText(options);
  edited.replace(edited.find(": 3") + 2, 1, "99999999999999999999");
  EXPECT_EQ(DirectoriesMade(edited), 0U);
}

TEST(SessionTextTest, PathsThatNoFormatCanHoldAreRefused) {
  EXPECT_TRUE(CheckSessionPath("/home/j\xc3\xbcrgen/.local/state/fieldcost_1+2@x"));
  for (const char* path : {"relative", "", "/a b", "/a:b", "/a'b", "/a\"b", "/a$b", "/a`b", "/a\\b",
                           "/a\nb", "/a;b", "/a#b", "/a*b"}) {
    const Status status = CheckSessionPath(path);
    ASSERT_FALSE(status) << path;
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace fieldcost::cli
