#include "agent/settings/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/settings/agent_config.h"
#include "common/base/file.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::settings {
namespace {

using ::testing::HasSubstr;

Result<AgentConfig> Load(const std::string& text) {
  const testing::TempDir directory;
  const auto file = directory.path() / "agent.toml";
  EXPECT_TRUE(WriteFileAtomically(file, text, 0600));
  return AgentConfig::Load(file);
}

TEST(AgentConfigTest, NoFileMeansDefaults) {
  const auto config = AgentConfig::Load("/nonexistent/agent.toml");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->url, "");
  EXPECT_EQ(config->max_batch_bytes, 128U * 1024);
}

TEST(AgentConfigTest, ShippedFileShowsTheDefaults) {
  const auto shipped = AgentConfig::Load(FIELDCOST_SOURCE_DIR "/deploy/config/agent.toml");
  ASSERT_TRUE(shipped) << shipped.error().message;
  const AgentConfig defaults;
  EXPECT_EQ(shipped->url, defaults.url);
  EXPECT_EQ(shipped->ca_file, defaults.ca_file);
  EXPECT_EQ(shipped->catalog_urls, defaults.catalog_urls);
  EXPECT_EQ(shipped->max_batch_bytes, defaults.max_batch_bytes);
  EXPECT_EQ(shipped->max_batch_age_hours, defaults.max_batch_age_hours);
  EXPECT_EQ(shipped->selection_probability, defaults.selection_probability);
  EXPECT_EQ(shipped->picks_per_run, defaults.picks_per_run);
  EXPECT_EQ(shipped->alloc_probability, defaults.alloc_probability);
  EXPECT_EQ(shipped->max_load_per_core_percent, defaults.max_load_per_core_percent);
  EXPECT_EQ(shipped->io_probability, defaults.io_probability);
  EXPECT_EQ(shipped->cycles_probability, defaults.cycles_probability);
  EXPECT_EQ(shipped->max_programs, defaults.max_programs);
  EXPECT_EQ(shipped->max_cpu_pressure_percent, defaults.max_cpu_pressure_percent);
  EXPECT_EQ(shipped->overhead_percent, defaults.overhead_percent);
  EXPECT_EQ(shipped->max_run_files, defaults.max_run_files);
  EXPECT_EQ(shipped->phase_minutes, defaults.phase_minutes);
  EXPECT_EQ(shipped->max_phases, defaults.max_phases);
  EXPECT_EQ(shipped->sampling, defaults.sampling);
  EXPECT_EQ(shipped->data_slots, defaults.data_slots);
  EXPECT_EQ(shipped->extra_modules, defaults.extra_modules);
  EXPECT_EQ(shipped->max_spool_bytes, defaults.max_spool_bytes);
}

TEST(AgentConfigTest, KnowsWhichKeysTheUserHasWritten) {
  const auto config = Load(
      "[selection]\npicks_per_run = 1\nsampling = 2\n[batch]\nmax_batch_age_hours = 24\n"
      "[upload]\non_battery = true\n");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_THAT(config->written,
              ::testing::ElementsAre("batch.max_batch_age_hours", "selection.picks_per_run",
                                     "selection.sampling"));
  EXPECT_THAT(Load("")->written, ::testing::IsEmpty());
}

TEST(AgentConfigTest, WrongValuesAreRefusedWithPlaceAndKey) {
  struct Row {
    const char* text;
    const char* in_message;
  };
  constexpr Row kTable[] = {
      {"[batch]\nmax_bach_bytes = 5000\n", "max_bach_bytes"},
      {"[batch]\nmax_batch_bytes = 10\n", "max_batch_bytes"},
      {"[batch]\nmax_batch_bytes = 100000000\n", "max_batch_bytes"},
      {"[selection]\nselection_probability = 1.5\n", "selection_probability"},
      {"[selection]\npicks_per_run = 0\n", "picks_per_run"},
      {"[selection]\nmax_programs = 65\n", "max_programs"},
      {"[selection]\noverhead_percent = 100.5\n", "overhead_percent"},
      {"[selection]\noverhead_percent = -1.0\n", "overhead_percent"},
      {"[selection]\nmax_cpu_pressure_percent = 201\n", "max_cpu_pressure_percent"},
      {"[selection]\nsampling = 3\n", "power of two"},
      {"[selection]\nsampling = 32768\n", "sampling"},
      {"[selection]\nmax_phases = 0\n", "max_phases"},
      {"[aggregator]\nurl = \"http://example.org\"\n", "https"},
      {"[modules]\nextra_modules = [\"/lib/libfoo.so\"]\n", "extra_modules"},
      {"[modules]\nextra_modules = [\"\"]\n", "extra_modules"},
      {"[aggregator\n", "agent.toml"},
  };
  for (const Row& row : kTable) {
    const auto config = Load(row.text);
    ASSERT_FALSE(config) << row.text;
    EXPECT_EQ(config.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(config.error().message, HasSubstr(row.in_message));
    EXPECT_THAT(config.error().message, HasSubstr("agent.toml"));
  }
}

class ProfileTest : public ::testing::Test {
 protected:
  // CTest runs each test in its own process, so it may change the environment.
  void SetUp() override {
    for (const char* name :
         {"FIELDCOST_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"}) {
      ::unsetenv(name);
    }
    ::setenv("HOME", "/home/someone", 1);
  }
};

TEST_F(ProfileTest, FollowsTheBaseDirectories) {
  ::setenv("XDG_STATE_HOME", "/var/state", 1);
  const auto paths = AgentPaths::FromEnvironment();
  ASSERT_TRUE(paths);
  EXPECT_EQ(paths->config_file, "/home/someone/.config/fieldcost/agent.toml");
  EXPECT_EQ(paths->state_dir, "/var/state/fieldcost");
  EXPECT_EQ(paths->catalog_file, "/home/someone/.local/share/fieldcost/catalog.db");
}

TEST_F(ProfileTest, FieldcostHomeHoldsEverything) {
  ::setenv("FIELDCOST_HOME", "/srv/fc", 1);
  const auto paths = AgentPaths::FromEnvironment();
  ASSERT_TRUE(paths);
  EXPECT_EQ(paths->config_file, "/srv/fc/agent.toml");
  EXPECT_EQ(paths->policy_file(), "/srv/fc/state/policy");
  EXPECT_EQ(paths->policy_file(), "/srv/fc/state/policy");
}

TEST_F(ProfileTest, ReplacesARelativeHomeByTheUserDatabases) {
  ::unsetenv("HOME");
  const auto unset = AgentPaths::FromEnvironment();
  ASSERT_TRUE(unset) << unset.error().message;
  const passwd* const user = ::getpwuid(::geteuid());
  if (user != nullptr) {
    EXPECT_EQ(HomeDirectory(), user->pw_dir);
  }
  EXPECT_TRUE(unset->state_dir.is_absolute());
  for (const char* home : {"", "relative", "."}) {
    ::setenv("HOME", home, 1);
    const auto paths = AgentPaths::FromEnvironment();
    ASSERT_TRUE(paths) << paths.error().message;
    EXPECT_EQ(paths->state_dir, unset->state_dir) << home;
  }
}

TEST_F(ProfileTest, IgnoresRelativeBaseDirectories) {
  ::setenv("XDG_STATE_HOME", "state", 1);
  const auto paths = AgentPaths::FromEnvironment();
  ASSERT_TRUE(paths) << paths.error().message;
  EXPECT_EQ(paths->state_dir, "/home/someone/.local/state/fieldcost");
}

TEST_F(ProfileTest, NeedsAnAbsoluteFieldcostHome) {
  ::setenv("FIELDCOST_HOME", "here", 1);
  const auto paths = AgentPaths::FromEnvironment();
  ASSERT_FALSE(paths);
  EXPECT_THAT(paths.error().message, HasSubstr("FIELDCOST_HOME"));
}

}  // namespace
}  // namespace fieldcost::settings
