// Presets of installers, the joined service and the user's settings override each other in order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "agent/settings/agent_config.h"
#include "common/base/file.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::settings {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class PresetTest : public ::testing::Test {
 protected:
  PresetTest() {
    paths_.config_file = directory_.path() / "config" / "agent.toml";
    paths_.presets_dir = directory_.path() / "agent.d";
    std::filesystem::create_directory(directory_.path() / "config");
    std::filesystem::create_directory(paths_.presets_dir);
  }
  void Preset(const std::string& name, const std::string& text, int mode = 0644) {
    ASSERT_TRUE(WriteFileAtomically(paths_.presets_dir / name, text, mode));
  }
  Error Refusal() const {
    const auto config = AgentConfig::Load(paths_);
    EXPECT_FALSE(config.has_value());
    return config ? Error{} : config.error();
  }

  const testing::TempDir directory_;
  AgentPaths paths_;
};

TEST_F(PresetTest, TheLastNameWinsOverTheFirstAndTheUserOverAll) {
  Preset("10-distribution.toml",
         "[aggregator]\nurl = \"https://first.example\"\nca_file = \"ca.pem\"\nproxy = "
         "\"http://proxy.example:1\"\n[selection]\npicks_per_run = 2\nmax_programs = 3\n");
  Preset("20-company.toml", "[selection]\npicks_per_run = 4\n");
  Preset("30-not-read.toml.orig", "nonsense");
  auto config = AgentConfig::Load(paths_);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->suggested.url, "https://first.example");
  EXPECT_EQ(config->suggested.ca_file, paths_.presets_dir / "ca.pem");
  EXPECT_EQ(config->picks_per_run, 4U);
  EXPECT_TRUE(config->written.contains("selection.max_programs"));

  // An empty url changes nothing.
  ASSERT_TRUE(WriteFileAtomically(paths_.service_file(),
                                  "[aggregator]\nurl = \"https://joined.example\"\n", 0600));
  ASSERT_TRUE(WriteFileAtomically(
      paths_.config_file, "[aggregator]\nurl = \"\"\n[selection]\nmax_programs = 6\n", 0600));
  config = AgentConfig::Load(paths_);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->url, "https://joined.example");
  EXPECT_EQ(config->ca_file, "");
  EXPECT_EQ(config->proxy, "http://proxy.example:1");
  EXPECT_EQ(config->max_programs, 6U);
  EXPECT_EQ(config->picks_per_run, 4U);
}

TEST_F(PresetTest, TheServiceIsOnlySuggested) {
  const std::string digest(64, 'a');
  Preset("10.toml",
         "[aggregator]\nurl = \"https://first.example\"\nca_file = \"ca.pem\"\nroot_sha256 = \"" +
             digest + "\"\n");
  // Also if the user's file has settings, but no service.
  ASSERT_TRUE(WriteFileAtomically(paths_.config_file, "[selection]\nmax_programs = 6\n", 0600));
  auto config = AgentConfig::Load(paths_);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->url, "");
  EXPECT_EQ(config->ca_file, "");
  EXPECT_EQ(config->root_sha256, "");
  EXPECT_EQ(config->suggested.url, "https://first.example");
  EXPECT_EQ(config->suggested.root_sha256, digest);
  EXPECT_THAT(config->HowToJoin(),
              AllOf(HasSubstr("https://first.example"), HasSubstr("fieldcost agent on")));

  // Another url does not inherit the authority of the previous one, among presets and after them.
  Preset("20.toml", "[aggregator]\nurl = \"https://second.example\"\n");
  ASSERT_TRUE(WriteFileAtomically(
      paths_.service_file(),
      "[aggregator]\nurl = \"https://joined.example\"\nca_file = \"service-ca.pem\"\n", 0600));
  ASSERT_TRUE(WriteFileAtomically(paths_.config_file,
                                  "[aggregator]\nurl = \"https://own.example\"\n", 0600));
  config = AgentConfig::Load(paths_);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->suggested.url, "https://second.example");
  EXPECT_EQ(config->suggested.ca_file, "");
  EXPECT_EQ(config->suggested.root_sha256, "");
  EXPECT_EQ(config->url, "https://own.example");
  EXPECT_EQ(config->ca_file, "");
}

TEST_F(PresetTest, MirrorsBelongToTheServiceThatIsJoined) {
  const std::vector<std::string> mirrors = {"https://a.example/pub", "https://b.example"};
  const std::string text =
      "[aggregator]\nurl = \"https://first.example\"\n[catalog]\nurls = "
      "[\"https://a.example/pub\", \"https://b.example\"]\nca_file = \"mirrors.pem\"\n";
  Preset("10.toml", text);
  auto config = AgentConfig::Load(paths_);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_FALSE(config->HasCatalogue()) << "nothing is contacted before joining";
  EXPECT_EQ(config->suggested.catalog_urls, mirrors);

  const auto join = [&](const std::string& url) {
    ASSERT_TRUE(
        WriteFileAtomically(paths_.service_file(), "[aggregator]\nurl = \"" + url + "\"\n", 0600));
    config = AgentConfig::Load(paths_);
    ASSERT_TRUE(config) << config.error().message;
  };
  join("https://first.example");
  EXPECT_EQ(config->catalog_urls, mirrors);
  EXPECT_EQ(config->catalog_ca_file, paths_.presets_dir / "mirrors.pem");
  join("https://other.example");
  EXPECT_TRUE(config->catalog_urls.empty());
  EXPECT_EQ(config->catalog_ca_file, "");

  // A user may have mirrors without a service.
  std::filesystem::remove(paths_.service_file());
  ASSERT_TRUE(
      WriteFileAtomically(paths_.config_file, "[catalog]\nurls = [\"https://m.example\"]\n", 0600));
  config = AgentConfig::Load(paths_);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_TRUE(config->HasCatalogue());
  EXPECT_EQ(config->catalog_urls, std::vector<std::string>{"https://m.example"});
  for (const char* invalid : {"[\"http://m.example\"]", "[\"\"]", "\"https://m.example\""}) {
    ASSERT_TRUE(WriteFileAtomically(paths_.config_file,
                                    std::string("[catalog]\nurls = ") + invalid + "\n", 0600));
    EXPECT_THAT(Refusal().message, HasSubstr("urls")) << invalid;
  }
}

TEST_F(PresetTest, MissingDirectoryChangesNothing) {
  paths_.presets_dir = directory_.path() / "missing";
  EXPECT_EQ(AgentConfig::Load(paths_)->url, "");
  EXPECT_EQ(AgentConfig::Load(paths_)->suggested.url, "");
}

TEST_F(PresetTest, CannotNameLibrariesThatAreSent) {
  Preset("10.toml", "[modules]\nextra_modules = [\"libcompany.so.1\"]\n");
  const Error error = Refusal();
  EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.message, HasSubstr("agent.d/10.toml"));
  EXPECT_THAT(error.message, HasSubstr("extra_modules"));
}

TEST_F(PresetTest, RefusesWhatOthersCouldChangeAndWhatIsNotASetting) {
  Preset("10.toml", "", 0664);
  EXPECT_EQ(Refusal().code, ErrorCode::kPermissionDenied);
  Preset("10.toml", "[consent]\nmode = \"on\"\n");
  EXPECT_THAT(Refusal().message, HasSubstr("agent.d/10.toml:"));
  for (const char* digest : {"ab", "XX"}) {
    Preset("10.toml", "[aggregator]\nroot_sha256 = \"" + std::string(digest) + "\"\n");
    EXPECT_THAT(Refusal().message, HasSubstr("64 lower-case hexadecimal digits"));
  }
  Preset("10.toml", "[aggregator]\nurl = \"http://plain.example\"\n");
  EXPECT_THAT(Refusal().message, HasSubstr("https"));
}

// fieldcostd's unit has PrivateUsers=yes. The files themselves are root's, as seen by other
// programs.
TEST_F(PresetTest, RootsPresetIsReadInANamespaceWithoutRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a preset of root";
  Preset("10.toml", "[selection]\nmax_programs = 3\n");
  ASSERT_EQ(::chmod(directory_.path().c_str(), 0755), 0);
  constexpr uid_t kUser = 4321;
  enum Outcome { kRead, kRefused, kNoNamespace };
  const auto load_as_user = [this](bool in_namespace) {
    const pid_t child = ::fork();
    if (child == 0) {
      if (::setresuid(kUser, kUser, kUser) != 0) ::_exit(kNoNamespace);
      // Changing ids has given /proc/self to root.
      if (in_namespace && (::prctl(PR_SET_DUMPABLE, 1) != 0 || ::unshare(CLONE_NEWUSER) != 0 ||
                           !(std::ofstream("/proc/self/uid_map") << "4321 4321 1\n"
                                                                 << std::flush))) {
        ::_exit(kNoNamespace);
      }
      const auto config = AgentConfig::Load(paths_);
      ::_exit(config && config->max_programs == 3 ? kRead : kRefused);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return static_cast<Outcome>(WEXITSTATUS(status));
  };
  const Outcome in_namespace = load_as_user(true);
  if (in_namespace == kNoNamespace) GTEST_SKIP() << "user namespaces are forbidden";
  EXPECT_EQ(in_namespace, kRead);
  // A preset of the overflow user itself is refused where that user has an id.
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(::chown((paths_.presets_dir / "10.toml").c_str(), kNobody, 0), 0);
  EXPECT_EQ(load_as_user(false), kRefused);
}

TEST_F(PresetTest, ThereAreFewOfThem) {
  for (int i = 0; i <= 64; ++i) Preset(std::to_string(i) + ".toml", "");
  EXPECT_EQ(Refusal().code, ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace fieldcost::settings
