// `fieldcost agent join` and `leave` with the real programs, in a home directory of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <boost/json.hpp>
#include <fstream>
#include <map>
#include <mutex>

#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"
#include "common/http/http_server.h"
#include "common/wire/metadata.h"
#include "tests/support/binary_dir.h"
#include "tests/support/certificates.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_until.h"

namespace fieldcost::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

constexpr char kBin[] = FIELDCOST_BINARY_DIR "/bin/";
const std::string kVictim = FIELDCOST_BINARY_DIR "/victims/victim";
constexpr std::size_t kMaxFileBytes = 64 << 20;

class JoinTest : public ::testing::Test {
 protected:
  JoinTest() { fs::create_directory(home()); }

  fs::path home() const { return directory_.path() / "home"; }
  fs::path state() const { return home() / ".local/state/fieldcost"; }

  // Runs a program of ours in this home, without a user's service manager.
  ProcessResult Run(const std::string& program, Words words) const {
    words.insert(words.begin(), kBin + program);
    return RunHere(std::move(words));
  }
  Words Here(Words words) const {
    Words command = {"/usr/bin/env",
                     "-i",
                     "PATH=/usr/bin:/bin",
                     "HOME=" + home().string(),
                     "XDG_RUNTIME_DIR=" + directory_.path().string(),
                     "LC_ALL=C.UTF-8",
                     "PYTHONDONTWRITEBYTECODE=1",
                     "FIELDCOST_PRELOAD_LIBRARY=" FIELDCOST_BINARY_DIR
                     "/lib/libfieldcost_preload.so"};
    command.insert(command.end(), words.begin(), words.end());
    return command;
  }
  ProcessResult RunHere(Words words) const {
    return RunProcess({.arguments = Here(std::move(words)), .directory = directory_.path()});
  }
  Words MissingParts() const {
    Words parts;
    const auto status = boost::json::parse(Agent({"status", "--json"}).output);
    for (const auto& part : status.at("missing").as_array()) {
      EXPECT_FALSE(part.at("problem").as_string().empty());
      EXPECT_FALSE(part.at("fix").as_string().empty());
      parts.emplace_back(part.at("part").as_string());
    }
    return parts;
  }
  ProcessResult Agent(Words words) const {
    words.insert(words.begin(), "agent");
    return Run("fieldcost", std::move(words));
  }
  // Types `answer` when it is asked.
  ProcessResult OnTerminal(const std::string& answer, Words words) const {
    Words command = {
        "python3",
        "-c",
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from in_terminal import shown\n"
        "s, t = shown(50, 100, sys.argv[3:], [sys.argv[2] + '\\n'], prompt=b'[y/N] ')\n"
        "sys.stdout.buffer.write(t); sys.stdout.flush(); sys.exit(s)",
        FIELDCOST_CLI_TEST_DIR,
        answer,
        std::string(kBin) + "fieldcost",
        "agent"};
    command.insert(command.end(), words.begin(), words.end());
    return RunHere(std::move(command));
  }

  // Every file and directory of the home: its mode, and the hash of its bytes.
  std::map<std::string, std::string> Listing() const {
    std::map<std::string, std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(home())) {
      struct stat info {};
      EXPECT_EQ(::lstat(entry.path().c_str(), &info), 0);
      std::string content;
      if (S_ISREG(info.st_mode)) {
        content = HexEncode(crypto::Sha256(ReadFile(entry.path(), kMaxFileBytes).value()));
      }
      found[entry.path().lexically_relative(home()).string()] =
          std::to_string(info.st_mode) + " " + content;
    }
    return found;
  }

  void WriteHome(const std::string& name, const std::string& text) const {
    fs::create_directories((home() / name).parent_path());
    std::ofstream(home() / name) << text;
  }
  // Every run is drawn, measures the victim library, and no machine counts as busy.
  void MeasureTheVictim() const {
    WriteHome(".config/fieldcost/agent.toml",
              "[selection]\nselection_probability = 1.0\npicks_per_run = 512\n"
              "max_load_per_core_percent = 0\nmax_cpu_pressure_percent = 0\nmax_programs = 0\n"
              "overhead_percent = 0\nio_probability = 0\n"
              "[modules]\nextra_modules = [\"libvictim.so.1\"]\n");
  }

  const TempDir directory_;
};

// A service with nothing but a root, which records what it was asked for.
class RootOnly {
 public:
  explicit RootOnly(const fs::path& directory)
      : certificates_(MakeCertificates(directory)), key_(crypto::PrivateKey::Generate()) {
    const wire::RootMetadata root{.version = 1,
                                  .expires = SystemClock().Now() + std::chrono::hours(24),
                                  .root_keys = {key_.public_key()},
                                  .timestamp_keys = {key_.public_key()},
                                  .snapshot_keys = {key_.public_key()},
                                  .operated_by = {.name = "Example Project",
                                                  .contact = "privacy@example.org",
                                                  .privacy = "Backups go after 30 days."}};
    root_ = wire::SignRoot(root, {key_});
    http::ServerOptions options;
    options.certificate_file = certificates_.certificate;
    options.private_key_file = certificates_.key;
    auto server = http::Server::Start(
        options, [this](const http::Request& request, const http::Respond& respond) {
          const std::lock_guard lock(mutex_);
          targets_.push_back(request.method + " " + request.target);
          bodies_ += request.body;
          respond(request.target == wire::RootVersionPath(1) ? http::Response{.body = root_}
                                                             : http::NotFound());
        });
    EXPECT_TRUE(server.has_value());
    server_ = std::move(*server);
  }
  std::string url() const { return "https://localhost:" + std::to_string(server_->port()); }
  std::string ca() const { return certificates_.ca.string(); }
  const std::string& root() const { return root_; }
  std::string fingerprint() const { return HexEncode(crypto::Sha256(root_)); }
  std::vector<std::string> targets() const {
    const std::lock_guard lock(mutex_);
    return targets_;
  }
  std::string bodies() const {
    const std::lock_guard lock(mutex_);
    return bodies_;
  }

 private:
  Certificates certificates_;
  crypto::PrivateKey key_;
  std::string root_;
  mutable std::mutex mutex_;
  std::vector<std::string> targets_;
  std::string bodies_;
  std::unique_ptr<http::Server> server_;
};

TEST_F(JoinTest, OneLineJoinsAndOneLineLeavesEveryByteAsItWas) {
  // The operator's line.
  const fs::path made = directory_.path() / "service";
  const ProcessResult init =
      Run("fieldcost-aggregator",
          {"init", "--dir", made.string(), "--host", "localhost", "--port", "0", "--admin-port",
           "0", "--open", "--operator", "Example Project", "--contact", "privacy@example.org",
           "--privacy", "Backups go after 30 days."});
  ASSERT_EQ(init.exit_status, 0) << init.errors;
  BackgroundProcess server({.arguments = {std::string(kBin) + "fieldcost-aggregator", "--config",
                                          (made / "aggregator.toml").string()}});
  ASSERT_TRUE(server.WaitForLine("listening on "));
  // The line for volunteers, as init has printed it.
  const std::size_t at = init.output.find("  fieldcost agent join ");
  ASSERT_NE(at, std::string::npos) << init.output;
  std::string line = init.output.substr(at, init.output.find('\n', at) - at);
  line.replace(0, std::string("  fieldcost ").size(), std::string(kBin) + "fieldcost ");
  line = "cd " + made.string() + " && " + line;  // the place of ca.pem

  MeasureTheVictim();
  WriteHome(".profile", "echo no newline at the end");
  const auto before = Listing();
  const ProcessResult joined = RunHere({"/bin/sh", "-c", line + " --yes"});
  ASSERT_EQ(joined.exit_status, 0) << joined.errors << joined.output;
  EXPECT_THAT(joined.output,
              AllOf(HasSubstr("operator      Example Project\n"), HasSubstr("privacy@example.org"),
                    HasSubstr("Backups go after 30 days."), HasSubstr("fieldcost agent forget"),
                    HasSubstr("invented numbers"), HasSubstr("deflate"),
                    HasSubstr("TO DO      daemon     keep fieldcostd running"),
                    HasSubstr("TO DO      refresh    keep fieldcostd running"),
                    HasSubstr("refreshed automatically"), HasSubstr("\njoined\n"),
                    Not(HasSubstr("NOT DONE"))));
  EXPECT_EQ(RunHere({"/bin/sh", "-c", line + " --yes"}).exit_status, 0) << "again, to complete it";

  ASSERT_EQ(Run("fieldcost", {"run", "--", kVictim, "alloc"}).exit_status, 0);
  const ProcessResult uploaded = Run("fieldcostd", {"--once", "--flush"});
  ASSERT_EQ(uploaded.exit_status, 0) << uploaded.errors;
  const auto status = boost::json::parse(Agent({"status", "--json"}).output);
  EXPECT_EQ(status.at("mode").as_string(), "on");
  EXPECT_EQ(status.at("sent_batches").to_number<int>(), 1);
  EXPECT_EQ(status.at("session_active").as_bool(), true);
  EXPECT_EQ(Run("fieldcost", {"sync"}).exit_status, 0);
  EXPECT_EQ(status.at("refresh").at("automatic").as_bool(), true);
  EXPECT_THAT(Agent({"status"}).output,
              HasSubstr("catalogue           up to date; next check in "));
  // Without a service manager only the daemon is left to the user; each part is named with its fix.
  EXPECT_EQ(MissingParts(), (Words{"daemon"}));
  EXPECT_THAT(Agent({"status"}).output,
              HasSubstr("missing             daemon: not running: nothing is collected and sent by "
                        "itself\n                      keep fieldcostd running"));
  fs::remove(home() / ".local/share/fieldcost/catalog.db");
  fs::remove(home() / ".config/fieldcost/session.sh");
  EXPECT_EQ(MissingParts(), (Words{"session", "daemon", "catalogue"}));
  EXPECT_EQ(Agent({"session", "on"}).exit_status, 0);
  EXPECT_EQ(Run("fieldcost", {"sync", "--full"}).exit_status, 0);
  {
    BackgroundProcess daemon({.arguments = Here({std::string(kBin) + "fieldcostd"})});
    ASSERT_TRUE(WaitUntil([this] { return MissingParts().empty(); }));
    daemon.Signal(SIGTERM);
    EXPECT_EQ(daemon.Wait().exit_status, 0);
  }

  const ProcessResult left = Agent({"leave"});
  EXPECT_EQ(left.exit_status, 0) << left.errors << left.output;
  EXPECT_THAT(left.output, HasSubstr("the service keeps the sums of 1 sent batch"));
  EXPECT_EQ(Listing(), before);
  EXPECT_EQ(Agent({"leave"}).exit_status, 66);
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait().exit_status, 0);
}

TEST_F(JoinTest, NothingIsSentMeasuredOrWrittenBeforeTheAnswerYes) {
  RootOnly service(directory_.path());
  const Words join = {"join", service.url(), "--ca-file", service.ca()};
  const ProcessResult unasked = Agent(join);
  EXPECT_EQ(unasked.exit_status, 64);
  EXPECT_THAT(unasked.errors, HasSubstr("--yes"));
  EXPECT_THAT(service.targets(), IsEmpty());

  const ProcessResult declined = OnTerminal("n", join);
  EXPECT_EQ(declined.exit_status, 1) << declined.output;
  EXPECT_THAT(declined.output, AllOf(HasSubstr("Example Project"), HasSubstr(service.fingerprint()),
                                     HasSubstr("nothing was changed, measured or sent")));
  EXPECT_THAT(service.targets(), Each(StartsWith("GET /v1/root/")));
  EXPECT_EQ(service.bodies(), "");
  EXPECT_THAT(Listing(), IsEmpty());
  const std::size_t asked = service.targets().size();
  EXPECT_EQ(Run("fieldcost", {"run", "--", kVictim, "alloc"}).exit_status, 0);
  (void)Run("fieldcostd", {"--once", "--flush"});
  EXPECT_EQ(service.targets().size(), asked);
  EXPECT_THAT(Listing(), IsEmpty());
  EXPECT_EQ(boost::json::parse(Agent({"status", "--json"}).output).at("mode").as_string(), "off");

  const ProcessResult agreed = OnTerminal("y", join);
  EXPECT_THAT(agreed.output, HasSubstr("consent    mode on"));
  EXPECT_EQ(boost::json::parse(Agent({"status", "--json"}).output).at("mode").as_string(), "on");
}

TEST_F(JoinTest, AnIncompleteJoinNamesWhatIsMissingAndLeaveUndoesTheRest) {
  RootOnly service(directory_.path());
  WriteHome(".zprofile", "# mine\n");
  const auto before = Listing();
  const ProcessResult joined = Agent({"join", service.url(), "--ca-file", service.ca(), "--yes"});
  EXPECT_EQ(joined.exit_status, 66) << joined.errors;
  EXPECT_THAT(joined.output,
              AllOf(HasSubstr("done       root "), HasSubstr("NOT DONE   catalogue ")));
  EXPECT_THAT(joined.errors,
              AllOf(HasSubstr("run the same command again"), HasSubstr("fieldcost agent leave")));
  // A second service is refused while this one is joined.
  const ProcessResult other = Agent({"join", "https://localhost:1", "--yes"});
  EXPECT_EQ(other.exit_status, 64);
  EXPECT_THAT(other.errors, HasSubstr("leave that one first"));
  const ProcessResult left = Agent({"leave"});
  EXPECT_EQ(left.exit_status, 0) << left.errors;
  EXPECT_EQ(Listing(), before);
}

TEST_F(JoinTest, LeavingReturnsToTheModeAndTheSumsBeforeJoining) {
  RootOnly service(directory_.path());
  MeasureTheVictim();
  ASSERT_EQ(Agent({"local"}).exit_status, 0);
  ASSERT_EQ(Run("fieldcost", {"run", "--", kVictim, "alloc"}).exit_status, 0);
  const std::string local = Run("fieldcost", {"top", "--local", "--json"}).output;
  EXPECT_THAT(local, HasSubstr("libvictim"));
  (void)Agent({"join", service.url(), "--ca-file", service.ca(), "--yes"});
  ASSERT_EQ(Agent({"leave"}).exit_status, 0);
  EXPECT_EQ(boost::json::parse(Agent({"status", "--json"}).output).at("mode").as_string(), "local");
  EXPECT_EQ(Run("fieldcost", {"top", "--local", "--json"}).output, local);
  EXPECT_FALSE(fs::exists(home() / ".config/fieldcost/service.toml"));
  EXPECT_FALSE(fs::exists(home() / ".local/share/fieldcost/catalog_root"));
  EXPECT_FALSE(fs::exists(home() / ".profile"));
}

TEST_F(JoinTest, RefusesAnotherRootOrCertificateThanExpected) {
  RootOnly service(directory_.path());
  const ProcessResult wrong_root = Agent({"join", service.url(), "--ca-file", service.ca(), "--yes",
                                          "--root-sha256", std::string(64, '0')});
  EXPECT_EQ(wrong_root.exit_status, 76);
  EXPECT_THAT(wrong_root.errors, AllOf(HasSubstr(service.fingerprint()), HasSubstr("operator")));
  const ProcessResult unknown = Agent({"join", service.url(), "--yes"});
  EXPECT_EQ(unknown.exit_status, 76);
  EXPECT_THAT(unknown.errors, HasSubstr("--ca-file"));
  EXPECT_EQ(Agent({"join", "http://localhost", "--yes"}).exit_status, 64);
  EXPECT_THAT(Listing(), IsEmpty());
  EXPECT_EQ(Agent({"join", service.url(), "--ca-file", service.ca(), "--yes", "--root-sha256",
                   service.fingerprint()})
                .exit_status,
            66)
      << "joined, without a catalogue";
}

TEST_F(JoinTest, AServiceWithAnotherRootUnderTheSameNameIsNotFollowed) {
  RootOnly service(directory_.path());
  (void)Agent({"join", service.url(), "--ca-file", service.ca(), "--yes"});
  WriteHome(".local/share/fieldcost/catalog_root", [&] {
    const crypto::PrivateKey key = crypto::PrivateKey::Generate();
    return wire::SignRoot({.version = 1,
                           .expires = SystemClock().Now() + std::chrono::hours(24),
                           .root_keys = {key.public_key()},
                           .timestamp_keys = {key.public_key()},
                           .snapshot_keys = {key.public_key()}},
                          {key});
  }());
  const ProcessResult again = Agent({"join", service.url(), "--ca-file", service.ca(), "--yes"});
  EXPECT_EQ(again.exit_status, 76);
  EXPECT_THAT(again.errors, HasSubstr("another service's"));
}

// With a preset in /etc/fieldcost/agent.d that names a service, in a mount namespace.
class PresetServiceTest : public JoinTest {
 protected:
  PresetServiceTest() : service_(directory_.path()) {}
  void SetUp() override {
    const ProcessResult unshared = RunHere({"/usr/bin/unshare", "--mount", "/bin/true"});
    if (unshared.exit_status != 0) {
      GTEST_SKIP() << "needs the privilege to make a mount namespace: " << unshared.errors;
    }
    ASSERT_EQ(RunHere({"/bin/cp", "-a", "/etc", "."}).exit_status, 0);
    const fs::path presets = directory_.path() / "etc/fieldcost/agent.d";
    fs::create_directories(presets);
    std::ofstream(presets / "10-company.toml")
        << "[aggregator]\nurl = \"" << service_.url() << "\"\nca_file = \"" << service_.ca()
        << "\"\nroot_sha256 = \"" << service_.fingerprint() << "\"\n";
  }
  // Runs a program of ours with the preset.
  ProcessResult WithPreset(const std::string& command) const {
    return RunHere({"/usr/bin/unshare", "--mount", "/bin/sh", "-c",
                    "mount --bind etc /etc && exec " + (kBin + command)});
  }

  RootOnly service_;
};

TEST_F(PresetServiceTest, NothingIsSentToItBeforeJoining) {
  // Everything that could be sent, fetched or asked for: the user decided without the preset, has
  // pinned this service's root, and has measured something.
  MeasureTheVictim();
  ASSERT_EQ(Agent({"on"}).exit_status, 0);
  WriteHome(".local/share/fieldcost/catalog_root", service_.root());
  ASSERT_EQ(Run("fieldcost", {"run", "--", kVictim, "alloc"}).exit_status, 0);

  for (const char* collects : {"fieldcostd --once", "fieldcostd --once --flush"}) {
    EXPECT_THAT(WithPreset(collects).errors, HasSubstr("fieldcost agent on"));
  }
  EXPECT_THAT(WithPreset("fieldcost agent preview").output, HasSubstr("rows"));
  const ProcessResult synced = WithPreset("fieldcost sync --full");
  EXPECT_EQ(synced.exit_status, 64);
  EXPECT_THAT(synced.errors, AllOf(HasSubstr(service_.url()), HasSubstr("fieldcost agent on")));
  (void)WithPreset("fieldcost agent forget --yes");
  const ProcessResult status = WithPreset("fieldcost agent status");
  EXPECT_THAT(status.output,
              AllOf(HasSubstr("server              none; suggested: " + service_.url() + "\n"),
                    HasSubstr("service: the suggested one is not joined yet\n" +
                              std::string(22, ' ') + "fieldcost agent on\n")));
  const auto json = boost::json::parse(WithPreset("fieldcost agent status --json").output);
  EXPECT_EQ(json.at("server").as_string(), "");
  EXPECT_EQ(json.at("suggested_server").as_string(), service_.url());
  EXPECT_THAT(service_.targets(), IsEmpty());
  // Without the preset, the message names the command that joins.
  EXPECT_THAT(Run("fieldcost", {"sync"}).errors, HasSubstr("fieldcost agent join URL"));
}

TEST_F(PresetServiceTest, AgentOnIsSufficientToJoin) {
  const auto before = Listing();
  const ProcessResult status = WithPreset("fieldcost agent status");
  EXPECT_THAT(status.output,
              AllOf(HasSubstr("mode                off"), HasSubstr(service_.url())));
  EXPECT_THAT(service_.targets(), IsEmpty()) << "a preset decides nothing";
  EXPECT_EQ(Listing(), before);

  const ProcessResult on = WithPreset("fieldcost agent on");
  EXPECT_EQ(on.exit_status, 66) << "this service has no catalogue: " << on.errors;
  EXPECT_THAT(on.output, AllOf(HasSubstr("operator      Example Project"),
                               HasSubstr("done       consent "), HasSubstr("done       session ")));
  const auto joined = boost::json::parse(WithPreset("fieldcost agent status --json").output);
  EXPECT_EQ(joined.at("server").as_string(), service_.url());
  EXPECT_EQ(WithPreset("fieldcost agent leave").exit_status, 0);
  EXPECT_EQ(Listing(), before);
}

}  // namespace
}  // namespace fieldcost::testing
