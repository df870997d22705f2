#include "common/serve/address_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <utility>

#include "common/base/file.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::serve {
namespace {

TEST(AddressFileTest, OthersFindTheServerInIt) {
  const testing::TempDir dir;
  const http::ServerOptions options;
  auto server = http::Server::Start(
      options, [](http::Request, const http::Respond& respond) { respond({}); });  // NOLINT
  ASSERT_TRUE(server.has_value()) << server.error().message;
  const std::string url = UrlOf(options, **server);
  EXPECT_EQ(url, "http://127.0.0.1:" + std::to_string((*server)->port()));
  http::ServerOptions other = options;
  other.address = "::1";
  other.certificate_file = "a.pem";
  EXPECT_EQ(UrlOf(other, **server), "https://[::1]:" + std::to_string((*server)->port()));

  const auto file = dir.path() / "address";
  ASSERT_TRUE(WriteAddressFile(file, url).has_value());
  EXPECT_EQ(ReadFile(file, 100).value(), url + "\n");
  struct stat status {};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644U) << "everybody may";
  RemoveAddressFile(file);
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_TRUE(WriteAddressFile("", url).has_value());
  RemoveAddressFile("");
}

}  // namespace
}  // namespace fieldcost::serve
