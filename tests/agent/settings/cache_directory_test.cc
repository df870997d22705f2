#include "agent/settings/cache_directory.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <map>
#include <string>

namespace fieldcost::settings {
namespace {

// Restores the variables at the end.
class CacheDirectoryTest : public ::testing::Test {
 protected:
  CacheDirectoryTest() {
    for (const char* name : {"FIELDCOST_HOME", "XDG_CACHE_HOME", "HOME"}) {
      const char* const value = ::getenv(name);
      if (value != nullptr) before_[name] = value;
    }
  }
  ~CacheDirectoryTest() override {
    for (const char* name : {"FIELDCOST_HOME", "XDG_CACHE_HOME", "HOME"}) {
      ::unsetenv(name);
      if (before_.contains(name)) ::setenv(name, before_[name].c_str(), 1);
    }
  }
  static std::filesystem::path With(const char* fieldcost_home, const char* cache_home) {
    ::setenv("FIELDCOST_HOME", fieldcost_home, 1);
    ::setenv("XDG_CACHE_HOME", cache_home, 1);
    ::setenv("HOME", "/home/user", 1);
    return CacheDirectory();
  }

 private:
  std::map<std::string, std::string> before_;
};

TEST_F(CacheDirectoryTest, FollowsTheProfileThenTheBaseDirectories) {
  EXPECT_EQ(With("/profile", "/var/cache"), "/profile/cache");
  EXPECT_EQ(With("", "/var/cache"), "/var/cache/fieldcost");
  EXPECT_EQ(With("relative", "relative"), "/home/user/.cache/fieldcost");
}

}  // namespace
}  // namespace fieldcost::settings
