#include "agent/settings/public_modules.h"

#include <gtest/gtest.h>

#include "common/shm/policy_file.h"

namespace fieldcost::settings {
namespace {

TEST(PublicModulesTest, ListIsSortedShortEnoughAndFindsItsOwn) {
  const auto modules = PublicModules();
  EXPECT_GE(modules.size(), 150U);
  EXPECT_LE(modules.size(), shm::kMaxAllowedModules / 2);
  for (std::size_t i = 0; i < modules.size(); ++i) {
    EXPECT_LT(modules[i].size(), shm::kMaxSonameBytes);
    if (i > 0) {
      EXPECT_LT(modules[i - 1], modules[i]);
    }
    EXPECT_TRUE(IsPublicModule(modules[i]));
  }
  EXPECT_FALSE(IsPublicModule("libcompany-secret.so.1"));
}

}  // namespace
}  // namespace fieldcost::settings
