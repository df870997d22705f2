// Tests `--check-config`: it finds the problems that a start would find, and changes nothing.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "common/base/file.h"
#include "tests/aggregator/service/service_fixture.h"

namespace fieldcost::aggregator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class StartCheckTest : public ServiceTest {
 protected:
  StartCheckTest() {
    EXPECT_TRUE(WriteFileAtomically(token_file(), "a-token\n", 0600).has_value());
    WriteConfig(WithAdmin());
  }

  std::filesystem::path token_file() const { return dir_.path() / "admin.token"; }
  std::filesystem::path data() const { return dir_.path() / "data"; }
  std::string WithAdmin(const std::string& server = "port = 0",
                        const std::string& admin = "port = 0") const {
    return Config(server, "data", "[admin]\ntoken_files = [\"admin.token\"]\n" + admin + "\n");
  }

  std::vector<std::string> Files() const {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(dir_.path())) {
      files.push_back(entry.path().string());
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  // The check and the start report the same error, and neither leaves any files.
  void ExpectBoth(ErrorCode code, const std::string& message) {
    SCOPED_TRACE(message);
    const std::vector<std::string> before = Files();
    ExpectRefusal(Command({"--check-config"}), code, message);
    ExpectRefusal(Command(), code, message);
    EXPECT_EQ(Files(), before);
  }

  testing::ProcessResult Check() const {
    testing::ProcessResult result = testing::RunProcess(Command({"--check-config"}));
    EXPECT_EQ(result.exit_status, 0) << result.errors;
    return result;
  }
};

TEST_F(StartCheckTest, ListsValidPartsAndCreatesNothing) {
  const std::vector<std::string> before = Files();
  const std::string output = Check().output;
  EXPECT_THAT(output,
              AllOf(HasSubstr("certificate " + certificates_.certificate.string()),
                    HasSubstr("for localhost, 127.0.0.1"), HasSubstr("admin.token_files: 1 read\n"),
                    HasSubstr(data().string() + ": will be created at the start\n"),
                    HasSubstr("[server] 127.0.0.1: any free port\n"),
                    HasSubstr("[admin] 127.0.0.1: any free port\n"), Not(HasSubstr("warning: "))));
  EXPECT_EQ(Files(), before);
  Start();
  Stop();
  EXPECT_THAT(Check().output, HasSubstr(data().string() + ": writable\n"));
}

TEST_F(StartCheckTest, FilesThatAStartCouldNotUseAreNamedWithWhatToDo) {
  ASSERT_EQ(::chmod(token_file().c_str(), 0644), 0);
  ExpectBoth(ErrorCode::kPermissionDenied, token_file().string() + ": mode 0644");
  ASSERT_TRUE(std::filesystem::remove(token_file()));
  ExpectBoth(ErrorCode::kNotFound,
             token_file().string() + ": No such file or directory; put a token there");
  ASSERT_TRUE(WriteFileAtomically(token_file(), "two words\n", 0600).has_value());
  ExpectBoth(ErrorCode::kInvalidArgument, "does not hold one line");
  ASSERT_TRUE(WriteFileAtomically(token_file(), "a-token\n", 0600).has_value());

  const std::string key = *ReadFile(certificates_.key, 1 << 20);
  std::filesystem::copy_file(certificates_.certificate, certificates_.key,
                             std::filesystem::copy_options::overwrite_existing);
  ExpectBoth(ErrorCode::kInvalidArgument, "holds no private key, but a certificate");
  std::filesystem::remove(certificates_.key);
  ExpectBoth(ErrorCode::kInvalidArgument, certificates_.key.string() + " is missing");
  std::ofstream(certificates_.key) << key;

  std::ofstream(data()) << "x";
  ExpectBoth(ErrorCode::kNotFound, data().string() + ": Not a directory; name another");
  ASSERT_TRUE(std::filesystem::remove(data()));
  WriteConfig(WithAdmin("port = 0", "address_file = \"nowhere/address\""));
  ExpectBoth(ErrorCode::kNotFound, "nowhere: No such file or directory; name another in admin.");
}

TEST_F(StartCheckTest, SecretsThatOthersCanReadAreRefused) {
  Start();
  Stop();
  for (const char* name : {"pseudonym.secret", "receipt.secret", "timestamp.key"}) {
    const std::filesystem::path file = data() / "keys" / name;
    ASSERT_EQ(::chmod(file.c_str(), 0640), 0);
    ExpectBoth(ErrorCode::kPermissionDenied, file.string() + ": mode 0640");
    ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  }
}

TEST_F(StartCheckTest, APortIsFreeTheRunningServersOrAnothers) {
  Start();
  const std::string port = url_.substr(url_.rfind(':') + 1);
  WriteConfig(WithAdmin("port = " + port));
  EXPECT_THAT(Check().output,
              HasSubstr("port " + port + ": in use, and a server runs with this data directory"));
  WriteConfig(Config("port = " + port, "other_data"));
  ExpectBoth(ErrorCode::kAlreadyExists, "port " + port + ": Address already in use; another");
  WriteConfig(WithAdmin("port = " + port));
  Stop();
  EXPECT_THAT(Check().output, HasSubstr("[server] 127.0.0.1 port " + port + ": free\n"));
  Start();  // the check has released it
  Stop();
  WriteConfig(WithAdmin("address = \"192.0.2.1\""));  // an address of no local interface
  ExpectBoth(ErrorCode::kInvalidArgument, "192.0.2.1 port ");
}

TEST_F(StartCheckTest, WarnsOfARiskyKeyMode) {
  ASSERT_EQ(::chmod(certificates_.key.c_str(), 0644), 0);
  EXPECT_THAT(Check().output, HasSubstr("warning: private key " + certificates_.key.string() +
                                        ": mode 0644 gives every user access"));
}

TEST_F(StartCheckTest, WarnsOfADiskWithTooLittleRoom) {
  const std::uint64_t mib = std::filesystem::space(dir_.path()).available >> 20U;
  EXPECT_THAT(Check().output, Not(HasSubstr("min_free_mib")));
  std::string config = WithAdmin();
  config.insert(config.find("data_dir"), fmt::format("min_free_mib = {}\n", 2 * mib + 1));
  WriteConfig(config);
  EXPECT_THAT(Check().output,
              AllOf(HasSubstr("warning: data directory " + data().string() + ": "),
                    HasSubstr(fmt::format("less than store.min_free_mib = {}", 2 * mib + 1)),
                    HasSubstr("no batch will be accepted")));
}

}  // namespace
}  // namespace fieldcost::aggregator
