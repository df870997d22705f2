#include "common/base/secret_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/file.h"
#include "tests/support/temp_dir.h"

namespace fieldcost {
namespace {

using ::testing::HasSubstr;

class SecretFileTest : public ::testing::Test {
 protected:
  SecretFileTest() { EXPECT_TRUE(WriteFileAtomically(path_, "secret\n", 0600)); }
  Error Refused() const {
    const auto read = ReadSecretFile("secret file", path_, 100);
    EXPECT_FALSE(read);
    return read ? Error{} : read.error();
  }

  const testing::TempDir directory_;
  const std::filesystem::path path_ = directory_.path() / "a.secret";
};

TEST_F(SecretFileTest, IsReadInFullOrNotAtAll) {
  EXPECT_EQ(ReadSecretFile("secret file", path_, 7).value(), "secret\n");
  EXPECT_EQ(ReadSecretFile("secret file", path_, 6).error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(ReadSecretFile("secret file", directory_.path() / "none", 7).error().code,
            ErrorCode::kNotFound);
  EXPECT_EQ(ReadSecretFile("secret file", directory_.path(), 7).error().code,
            ErrorCode::kInvalidArgument);
}

TEST_F(SecretFileTest, IsRefusedIfOthersMayReadOrWriteIt) {
  for (const mode_t mode : {0640U, 0620U, 0604U, 0602U, 0666U}) {
    ASSERT_EQ(::chmod(path_.c_str(), mode), 0);
    const Error error = Refused();
    EXPECT_EQ(error.code, ErrorCode::kPermissionDenied);
    EXPECT_THAT(error.message, HasSubstr(path_.string()));
    EXPECT_THAT(error.message, HasSubstr("chmod 600"));
  }
}

// With a capability, the kernel lets a service read another user's files.
TEST_F(SecretFileTest, IsRefusedIfItIsAnotherUsers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  ASSERT_EQ(::chmod(directory_.path().c_str(), 0755), 0);
  for (const uid_t owner : {0U, 1U, 2U}) {
    ASSERT_EQ(::chown(path_.c_str(), owner, owner), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      // The file system id remains root's, so that the file can be opened.
      if (::setresuid(1, 1, 0) != 0 || ::setfsuid(0) != 1) ::_exit(9);
      const auto read = ReadSecretFile("secret file", path_, 100);
      ::_exit(read ? 0 : read.error().code == ErrorCode::kPermissionDenied ? 1 : 2);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), owner == 2 ? 1 : 0) << owner;
  }
  EXPECT_TRUE(ReadSecretFile("secret file", path_, 100)) << "root reads anybody's";
}

}  // namespace
}  // namespace fieldcost
