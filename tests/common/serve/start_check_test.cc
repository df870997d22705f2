#include "common/serve/start_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "common/serve/new_directory.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::serve {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr std::chrono::sys_seconds kNow{std::chrono::seconds(1'795'400'000)};

TEST(ServeStartCheckTest, APathIsMadeInTheNearestFolderThatExists) {
  const testing::TempDir dir;
  EXPECT_EQ(NearestExisting(dir.path() / "a" / "b"), dir.path());
  EXPECT_EQ(NearestExisting(dir.path()), dir.path());
  std::ofstream(dir.path() / "a") << "x";
  EXPECT_EQ(NearestExisting(dir.path() / "a"), dir.path() / "a");
}

TEST(ServeStartCheckTest, NamesUnwritablePathsWithTheSettingToChange) {
  const testing::TempDir dir;
  EXPECT_TRUE(CheckWritable("as data directory", dir.path(), "data.dir"));
  std::ofstream(dir.path() / "a") << "x";
  const Status status = CheckWritable("as data directory", dir.path() / "a", "data.dir");
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message,
              AllOf(HasSubstr("use as data directory " + (dir.path() / "a").string()),
                    HasSubstr("Not a directory; name another in data.dir")));
}

TEST(ServeStartCheckTest, ReportsACertificatesNamesAndValidity) {
  const testing::TempDir dir;
  const CertificateFiles files = CertificateFilesIn(dir.path());
  ASSERT_TRUE(WriteCertificate(*IssueForYears({"localhost", "127.0.0.1"}, kNow), files));
  const http::ServerOptions options{.certificate_file = files.certificate,
                                    .private_key_file = files.private_key};
  const auto found = CheckCertificate(options, kNow);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(found->fact, AllOf(HasSubstr("for localhost, 127.0.0.1;"),
                                 EndsWith("its key is " + files.private_key.string())));
  EXPECT_EQ(found->why_not_valid, "");
  EXPECT_TRUE(found->names_anybody);
  const auto later = CheckCertificate(options, kNow + std::chrono::days(3'651));
  ASSERT_TRUE(later) << later.error().message;
  EXPECT_THAT(later->why_not_valid, HasSubstr("expired on"));
}

TEST(ServeStartCheckTest, APortIsFreeOrAnothersProgram) {
  http::ServerOptions options;
  EXPECT_EQ(CheckPort(options, "server").value_or(""), "[server] 127.0.0.1: any free port");
  auto server = http::Server::Start(
      options, [](http::Request, const http::Respond& respond) { respond({}); });  // NOLINT
  ASSERT_TRUE(server.has_value()) << server.error().message;
  options.port = (*server)->port();
  const auto taken = CheckPort(options, "server");
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::kAlreadyExists);
  EXPECT_THAT(taken.error().message, HasSubstr("set server.port"));
  server->reset();
  EXPECT_EQ(CheckPort(options, "server").value_or(""), PlaceOf(options, "server") + ": free");
}

}  // namespace
}  // namespace fieldcost::serve
