#include "agent/symbols/name_helper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "agent/symbols/function_names.h"
#include "agent/symbols/name_messages.h"
#include "common/base/file.h"
#include "tests/support/binary_dir.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::symbols {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const fs::path kLibrary = fs::path(FIELDCOST_BINARY_DIR) / "victims" / "libnames5-2.1.so.3";
constexpr std::uint64_t kStep = 16;
constexpr std::uint64_t kEnd = 0x4000;

std::vector<std::vector<SourceFrame>> AllFrames(DwarfModule& module) {
  std::vector<std::vector<SourceFrame>> all;
  for (std::uint64_t address = 0; address < kEnd; address += kStep) {
    all.push_back(module.FramesAt(address));
  }
  return all;
}

std::size_t Named(const std::vector<std::vector<SourceFrame>>& all) {
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [](const auto& frames) { return !frames.empty(); }));
}

// The kernel's status of each helper.
std::vector<std::string> Helpers() {
  std::vector<std::string> found;
  std::ifstream children("/proc/self/task/" + std::to_string(::getpid()) + "/children");
  for (pid_t pid = 0; children >> pid;) {
    std::ifstream status("/proc/" + std::to_string(pid) + "/status");
    std::stringstream text;
    text << status.rdbuf();
    found.push_back(text.str());
  }
  return found;
}

class NameHelperTest : public ::testing::Test {
 protected:
  fs::path Copy(const char* name) const {
    fs::copy_file(kLibrary, directory_.path() / name);
    return directory_.path() / name;
  }
  testing::TempDir directory_;
};

TEST_F(NameHelperTest, ReadsTheSameNamesAsThisProcess) {
  const auto here = DwarfModule::Open({.path = kLibrary});
  const auto there = OpenModule({.path = kLibrary});
  ASSERT_TRUE(here && there) << there.error().message;
  EXPECT_EQ((*there)->soname(), (*here)->soname());
  EXPECT_EQ((*there)->build_id(), (*here)->build_id());
  const auto names = AllFrames(**here);
  EXPECT_GT(Named(names), 10U);
  EXPECT_EQ(AllFrames(**there), names);
  EXPECT_EQ(NamesOfFunctions(kLibrary).value(), FunctionNames(kLibrary).value());
  EXPECT_EQ(OpenModule({.path = "/etc/passwd"}).error().code,
            DwarfModule::Open({.path = "/etc/passwd"}).error().code);
  EXPECT_EQ(OpenModule({.path = "/nowhere"}).error().code, ErrorCode::kNotFound);
}

TEST_F(NameHelperTest, ATruncatedFileEndsTheHelperAndNotThisProcess) {
  const fs::path cut = Copy("cut.so");
  EXPECT_EXIT(
      {
        const auto module = DwarfModule::Open({.path = cut});
        fs::resize_file(cut, 0);
        (*module)->FramesAt(kEnd / 4);
        AllFrames(**module);
        ::_exit(0);
      },
      ::testing::KilledBySignal(SIGBUS), "");
  fs::remove(cut);
  Copy("cut.so");
  const auto sound = OpenModule({.path = kLibrary});
  const auto module = OpenModule({.path = cut});
  ASSERT_TRUE(sound && module);
  const auto names = AllFrames(**sound);
  fs::resize_file(cut, 0);
  EXPECT_EQ(Named(AllFrames(**module)), 0U);
  EXPECT_EQ(AllFrames(**sound), names) << "of another file, in a new helper";
}

TEST_F(NameHelperTest, RunsWithoutRightsOfItsOwn) {
  const auto module = OpenModule({.path = kLibrary});
  ASSERT_TRUE(module);
  const std::vector<std::string> helpers = Helpers();
  ASSERT_FALSE(helpers.empty());
  for (const std::string& status : helpers) {
    EXPECT_THAT(status, HasSubstr("\nNoNewPrivs:\t1\n"));
    EXPECT_THAT(status, HasSubstr("\nSeccomp:\t2\n"));
  }
}

TEST_F(NameHelperTest, ReadsAFileOfAnotherUserWithThatUsersRights) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  constexpr uid_t kOther = 54'321;
  const fs::path others = Copy("others.so");
  ASSERT_EQ(::chown(others.c_str(), kOther, kOther), 0);
  ASSERT_EQ(::chmod(others.c_str(), 0700), 0);
  const auto module = OpenModule({.path = others});
  ASSERT_TRUE(module) << module.error().message;
  EXPECT_GT(Named(AllFrames(**module)), 10U);
  EXPECT_THAT(Helpers(), ::testing::Contains(HasSubstr("\nUid:\t54321\t54321\t54321\t54321\n")));
  const fs::path roots = Copy("roots.so");
  ASSERT_EQ(::chmod(roots.c_str(), 0755), 0);
  const auto public_one = OpenModule({.path = roots});
  EXPECT_TRUE(public_one);
  EXPECT_THAT(Helpers(), ::testing::Contains(HasSubstr("\nUid:\t65534\t65534\t65534\t65534\n")));
  const fs::path secret = Copy("secret.so");
  ASSERT_EQ(::chmod(secret.c_str(), 0600), 0);
  EXPECT_TRUE(OpenModule({.path = secret})) << "root's own, closed to others";
}

TEST(NameMessageTest, RefusesTruncatedMessages) {
  MessageWriter writer;
  writer.Number(7).Text("seven");
  for (std::size_t size = 0; size <= writer.bytes().size(); ++size) {
    MessageReader reader(std::string_view(writer.bytes()).substr(0, size));
    reader.Number();
    reader.Text(5);
    EXPECT_EQ(reader.IsAtEnd(), size == writer.bytes().size()) << size;
  }
  MessageReader reader(writer.bytes());
  reader.Number();
  EXPECT_THAT(reader.Text(4), IsEmpty());
  EXPECT_FALSE(reader.ok()) << "longer than allowed";
}

}  // namespace
}  // namespace fieldcost::symbols

int main(int argc, char** argv) {
  if (const auto served = fieldcost::symbols::ServeNamesIfAsked(argc, argv)) return *served;
  fieldcost::symbols::ReadNamesInHelpers();
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
