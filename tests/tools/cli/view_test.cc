#include <sys/stat.h>

#include "tests/support/binary_dir.h"
#include "tests/tools/cli/cli_fixture.h"

namespace fieldcost::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::ProcessResult;
using ::testing::StartsWith;

constexpr int kNotFound = 66;

class ViewTest : public CliTest {
 protected:
  std::string Read(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

TEST_F(ViewTest, ThePageIsForTheUserOnlyAndItsUrlIsPrinted) {
  ASSERT_EQ(Cli({"agent", "local"}).exit_status, 0);
  const ProcessResult result = Cli({"agent", "view"});
  ASSERT_EQ(result.exit_status, 0) << result.errors;
  const std::filesystem::path page = home() / "state" / "view.html";
  EXPECT_EQ(result.output, "file://" + page.string() + "\n");
  struct stat facts {};
  ASSERT_EQ(::stat(page.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0600U);
  EXPECT_THAT(Read(page), AllOf(StartsWith("<!doctype html>"), HasSubstr("<dd>local since ")));
}

TEST_F(ViewTest, MeasuredCostsAreOnThePage) {
  ASSERT_EQ(Cli({"agent", "local"}).exit_status, 0);
  const std::string victim = FIELDCOST_BINARY_DIR "/victims/victim";
  const ProcessResult run =
      Shell("\"$fieldcost\" run --pick 'libvictim.so.1!victim_allocate' -- " + victim + " alloc");
  ASSERT_EQ(run.exit_status, 0) << run.errors;
  const ProcessResult result = Cli({"agent", "view", "--output", "-"});
  EXPECT_EQ(result.exit_status, 0) << result.errors;
  EXPECT_THAT(result.output, AllOf(HasSubstr("libvictim.so.1!victim_allocate"), HasSubstr("<svg"),
                                   HasSubstr("Measured</dt><dd>in the week from 20")));
}

TEST_F(ViewTest, ABrowserIsOnlyStartedWhenAskedForAndGetsAUrl) {
  ASSERT_EQ(Cli({"agent", "local"}).exit_status, 0);
  const std::filesystem::path page = home() / "my costs.html";
  // The stand-in for the browser reports its argument through a FIFO.
  const ProcessResult result = Shell(
      "cd \"$FIELDCOST_HOME\" && mkdir bin && mkfifo opened && printf '#!/bin/sh\\necho \"$1\" > "
      "\"$FIELDCOST_HOME/opened\"' > bin/xdg-open && chmod +x bin/xdg-open && "
      "export DISPLAY=:0 && PATH=$PWD/bin:$PATH && \"$fieldcost\" agent view --output 'my "
      "costs.html' && "
      "\"$fieldcost\" agent view --output 'my costs.html' --open && cat opened");
  const std::string url = "file://" + home().string() + "/my%20costs.html\n";
  EXPECT_EQ(result.output, url + url + url) << result.errors;
  EXPECT_TRUE(std::filesystem::exists(page));
}

TEST_F(ViewTest, AnUntouchedProfileHasNothingToViewAndStaysUntouched) {
  const ProcessResult result = Cli({"agent", "view"});
  EXPECT_EQ(result.exit_status, kNotFound);
  EXPECT_THAT(result.errors, HasSubstr("nothing has been measured yet"));
  EXPECT_FALSE(std::filesystem::exists(home()));
}

TEST_F(ViewTest, AFileThatCannotBeWrittenIsNamed) {
  ASSERT_EQ(Cli({"agent", "local"}).exit_status, 0);
  const ProcessResult result = Cli({"agent", "view", "--output", "/no/such/place/x.html"});
  EXPECT_NE(result.exit_status, 0);
  EXPECT_THAT(result.errors, HasSubstr("/no/such/place"));
}

}  // namespace
}  // namespace fieldcost::cli
