// The names that the log gives to agents, and for how long they can be resolved.
#include "aggregator/ingest/abuse_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <set>

#include "common/base/file.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::ingest {
namespace {

using std::chrono::days;
using std::chrono::hours;

constexpr WallTime kStart{days(20'000)};

class AbuseNamesTest : public ::testing::Test {
 protected:
  AbuseNames Load(WallTime now) {
    auto names = AbuseNames::LoadOrCreate(file_, now);
    EXPECT_TRUE(names.has_value()) << names.error().message;
    return std::move(*names);
  }
  // Returns the contents of a file with this line and its checksum.
  static std::string Checked(const std::string& line) {
    return line + " " + HexEncode(crypto::Sha256(line).substr(0, 8)) + "\n";
  }
  std::string Text() const { return ReadFile(file_, 1024).value_or(""); }

  const testing::TempDir dir_;
  const std::filesystem::path file_ = dir_.path() / "abuse_names.secret";
  const std::string agent_ = std::string(32, 'a');
  const std::string other_ = std::string(32, 'b');
};

TEST_F(AbuseNamesTest, ANameHoldsForADayAndIsKnownForSevenAlsoAfterARestart) {
  std::vector<std::string> names;
  for (int day = 0; day <= 10; ++day) {
    AbuseNames now = Load(kStart + days(day));  // as if by a new process each day
    names.push_back(now.NameOf(agent_, kStart + days(day) + hours(1)));
    EXPECT_EQ(now.NameOf(agent_, kStart + days(day) + hours(23)), names.back());
    EXPECT_NE(now.NameOf(other_, kStart + days(day)), names.back());
    EXPECT_TRUE(AbuseNames::IsName(names.back()));
    const AbuseNames::Reader reader = now.ReaderAt(kStart + days(day));
    for (int then = 0; then <= day; ++then) {
      const auto at = static_cast<std::size_t>(then);
      EXPECT_EQ(reader.IsNamed(agent_, names[at]), day - then <= 7) << day << " " << then;
      EXPECT_FALSE(reader.IsNamed(other_, names[at]));
    }
  }
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

TEST_F(AbuseNamesTest, TheFileHasTheSecretOfSevenDaysAgoAndEachIsTheHashOfTheOneBefore) {
  const std::string secret(32, 's');
  const std::string hex = HexEncode({secret.data(), 32});
  ASSERT_TRUE(WriteFileAtomically(file_, Checked("fieldcost-abuse-names 1 20000 " + hex), 0600));
  AbuseNames names = Load(kStart);
  const auto name_under = [&](const std::string& key) {
    const std::string mac = crypto::HmacSha256(key, agent_).substr(0, 8);
    return HexEncode(mac);
  };
  EXPECT_EQ(names.NameOf(agent_, kStart), name_under(secret));
  EXPECT_EQ(names.NameOf(agent_, kStart + days(1)), name_under(crypto::Sha256(secret)));
  EXPECT_THAT(Text(), ::testing::HasSubstr(" 20000 " + hex));
  names.NameOf(agent_, kStart + days(8));
  const std::string next = crypto::Sha256(secret);
  EXPECT_EQ(Text(), Checked("fieldcost-abuse-names 1 20001 " + HexEncode({next.data(), 32})));
  struct stat status {};
  ASSERT_EQ(::stat(file_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(AbuseNamesTest, AClockThatJumpsCostsAtMostTheNamesOfBefore) {
  AbuseNames names = Load(kStart);
  const std::string name = names.NameOf(agent_, kStart);
  // The clock moves a few days forward and back.
  names.NameOf(agent_, kStart + days(6));
  EXPECT_EQ(names.NameOf(agent_, kStart), name);
  EXPECT_EQ(Load(kStart).NameOf(agent_, kStart), name);
  // The clock jumps years ahead and back.
  names.NameOf(agent_, kStart + days(4'000));
  EXPECT_FALSE(names.ReaderAt(kStart + days(4'000)).IsNamed(agent_, name));
  const std::string after = names.NameOf(agent_, kStart);
  EXPECT_NE(after, name);
  EXPECT_TRUE(names.ReaderAt(kStart).IsNamed(agent_, after));
  EXPECT_TRUE(Load(kStart + days(1)).ReaderAt(kStart + days(1)).IsNamed(agent_, after));
  // The clock jumps to the end of time and back.
  names.NameOf(agent_, WallTime::max());
  names.NameOf(agent_, WallTime::min());
  names.NameOf(agent_, kStart);
}

TEST_F(AbuseNamesTest, ADamagedFileIsNamed) {
  std::vector<std::string> texts;
  for (const char* text : {"", "fieldcost-abuse-names 1 20000\n", "fieldcost-abuse-names 2 1 00\n",
                           "fieldcost-abuse-names 1 x 00\n", "fieldcost-abuse-names 1 20000 00ff\n",
                           "fieldcost-abuse-names 1 20000 00ff"}) {
    texts.push_back(text);
    texts.push_back(Checked(text));
  }
  const std::string hex = HexEncode(std::string(32, 's'));
  const std::string whole = Checked("fieldcost-abuse-names 1 20000 " + hex);
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    texts.push_back(whole);
    texts.back()[bit / 8] = static_cast<char>(texts.back()[bit / 8] ^ (1 << bit % 8));
  }
  ASSERT_TRUE(WriteFileAtomically(file_, whole, 0600));
  for (const std::string& text : texts) {
    std::ofstream(file_) << text;  // not synced, because there are a thousand
    EXPECT_EQ(AbuseNames::CheckFile(file_).error().code, ErrorCode::kCorrupt);
    const auto names = AbuseNames::LoadOrCreate(file_, kStart);
    ASSERT_FALSE(names.has_value()) << text;
    EXPECT_EQ(names.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(names.error().message, ::testing::HasSubstr(file_.string()));
  }
}

}  // namespace
}  // namespace fieldcost::ingest
