#include "tools/report/lab/coverage_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fieldcost::report {
namespace {

using analysis::Coverage;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Coverage Zlib() {
  return {.libraries = {{.library = "libz.so.1",
                         .called = {"deflate", "zlibVersion"},
                         .uncalled = {"inflate", "crc32"},
                         .not_measured = {"gzopen"}}}};
}

TEST(CoverageTextTest, CountsWhatCanBeMeasured) {
  EXPECT_EQ(CoverageText(Zlib(), false, {}),
            "2 of 4 functions of libz.so.1 were called; 1 cannot be measured\n");
  EXPECT_EQ(CoverageText(Zlib(), true, {}),
            "2 of 4 functions of libz.so.1 were called; 1 cannot be measured\n"
            "  not called: crc32, inflate\n"
            "  cannot be measured: gzopen\n");
  EXPECT_THAT(CoverageText({}, true, {}), IsEmpty());
}

TEST(CoverageTextTest, AdmitsWhatIsNotKnown) {
  Coverage coverage = Zlib();
  coverage.is_incomplete = true;
  coverage.unreadable = {"libgone.so"};
  EXPECT_THAT(CoverageText(coverage, false, {}),
              AllOf(HasSubstr("at least 2 of 4 functions of libz.so.1 were called;"),
                    HasSubstr("cannot be read as a library: libgone.so\n")));
  EXPECT_THAT(CoverageHtml(coverage), HasSubstr("Some calls may have been missed"));
}

TEST(CoverageTextTest, HostileNamesAreEscaped) {
  Coverage coverage = {.libraries = {{.library = "<b>\x1b[1m",
                                      .called = {},
                                      .uncalled = {"<script>\x1b"},
                                      .not_measured = {}}}};
  EXPECT_THAT(CoverageText(coverage, true, {}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(CoverageHtml(coverage), AllOf(Not(HasSubstr("<b>")), Not(HasSubstr("<script>"))));
  EXPECT_THAT(CoverageHtml({}), IsEmpty());
}

TEST(CoverageTest, CallsOfEitherScenarioCount) {
  const Coverage other = {.libraries = {{.library = "liba.so", .called = {"a"}},
                                        {.library = "libz.so.1",
                                         .called = {"inflate", "gzopen"},
                                         .uncalled = {"deflate", "zlibVersion"},
                                         .not_measured = {"crc32"}}}};
  Coverage both = Zlib();
  Merge(other, both);
  Coverage reversed = other;
  Merge(Zlib(), reversed);
  for (const Coverage& merged : {both, reversed}) {
    ASSERT_EQ(merged.libraries.size(), 2U);
    EXPECT_EQ(merged.libraries[0].library, "liba.so");
    EXPECT_THAT(merged.libraries[1].called,
                ElementsAre("deflate", "gzopen", "inflate", "zlibVersion"));
    EXPECT_THAT(merged.libraries[1].uncalled, IsEmpty());
    EXPECT_THAT(merged.libraries[1].not_measured, ElementsAre("crc32"));
  }
}

}  // namespace
}  // namespace fieldcost::report
