#include "agent/settings/system_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/settings/consent.h"
#include "common/base/file.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::settings {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class SystemPolicyTest : public ::testing::Test {
 protected:
  void Write(const std::string& text) { ASSERT_TRUE(WriteFileAtomically(file(), text, 0644)); }
  std::filesystem::path file() const { return directory_.path() / "system.toml"; }

  const testing::TempDir directory_;
};

TEST_F(SystemPolicyTest, NoFileAndNoKeyPermit) {
  EXPECT_TRUE(LoadSystemPolicy(file())->permit);
  EXPECT_TRUE(CheckPermitted(file()));
  Write("");
  EXPECT_TRUE(CheckPermitted(file()));
  Write("[consent]\npermit = true\n");
  EXPECT_TRUE(CheckPermitted(file()));
}

TEST_F(SystemPolicyTest, ShippedFilePermits) {
  const auto shipped = LoadSystemPolicy(FIELDCOST_SOURCE_DIR "/deploy/config/system.toml");
  ASSERT_TRUE(shipped) << shipped.error().message;
  EXPECT_EQ(shipped->permit, SystemPolicy{}.permit);
}

TEST_F(SystemPolicyTest, ForbiddenNamesTheFileAndWhoCanChangeIt) {
  Write("[consent]\npermit = false\n");
  const Status status = CheckPermitted(file());
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kPermissionDenied);
  EXPECT_THAT(status.error().message, AllOf(HasSubstr(file().string()), HasSubstr("permit = false"),
                                            HasSubstr("administrator")));
}

TEST_F(SystemPolicyTest, ForbidsIfTheFileIsUnreadableOrInvalid) {
  for (const char* text : {"[consent\n", "[consent]\npermit = 1\n", "[consent]\npermits = true\n",
                           "permit = true\n", "consent = true\n", "[consent]\npermit = \"no\"\n"}) {
    Write(text);
    EXPECT_FALSE(LoadSystemPolicy(file())) << text;
    const Status status = CheckPermitted(file());
    ASSERT_FALSE(status) << text;
    EXPECT_EQ(status.error().code, ErrorCode::kPermissionDenied);
    EXPECT_THAT(status.error().message, HasSubstr(file().string()));
  }
  std::filesystem::remove(file());
  std::filesystem::create_directory(file());  // cannot be read as a file, even by root
  EXPECT_FALSE(CheckPermitted(file()));
}

TEST_F(SystemPolicyTest, ALinkThatLeadsNowhereForbids) {
  const std::filesystem::path elsewhere = directory_.path() / "elsewhere";
  std::filesystem::create_symlink(elsewhere / "system.toml", file());
  EXPECT_FALSE(CheckPermitted(file()));
  std::filesystem::create_directory(elsewhere);
  EXPECT_FALSE(CheckPermitted(file()));
  ASSERT_TRUE(WriteFileAtomically(elsewhere / "system.toml", "[consent]\npermit = true\n", 0644));
  EXPECT_TRUE(CheckPermitted(file()));
  const std::filesystem::path folder = directory_.path() / "fieldcost";
  std::filesystem::create_symlink(directory_.path() / "not_mounted", folder);
  EXPECT_FALSE(CheckPermitted(folder / "system.toml"));
}

TEST_F(SystemPolicyTest, CanOnlyForbidAndLeavesTheUsersFileAlone) {
  AgentPaths paths;
  paths.state_dir = directory_.path();
  paths.system_file = file();
  const Consent decision{.mode = Mode::kOn, .since = WallTime(std::chrono::microseconds(5))};
  ASSERT_TRUE(SaveConsent(paths.consent_file(), decision));
  const auto bytes = ReadFile(paths.consent_file(), 1000);
  struct Row {
    const char* text;
    Mode mode;
  };
  for (const Row& row : {Row{"[consent]\npermit = true\n", Mode::kOn},
                         Row{"[consent]\npermit = false\n", Mode::kOff},
                         Row{"[consent]\npermit = yes\n", Mode::kOff}, Row{"", Mode::kOn}}) {
    Write(row.text);
    const auto consent = EffectiveConsent(paths);
    ASSERT_TRUE(consent) << row.text;
    EXPECT_EQ(consent->mode, row.mode) << row.text;
    EXPECT_EQ(consent->since, decision.since);
  }
  EXPECT_EQ(*ReadFile(paths.consent_file(), 1000), *bytes);
  std::filesystem::remove(paths.consent_file());
  Write("[consent]\npermit = true\n");
  EXPECT_EQ(EffectiveConsent(paths)->mode, Mode::kOff) << "permitted is not opted in";
  ASSERT_TRUE(WriteFileAtomically(paths.consent_file(), "perhaps\n", 0600));
  EXPECT_FALSE(EffectiveConsent(paths));
}

}  // namespace
}  // namespace fieldcost::settings
