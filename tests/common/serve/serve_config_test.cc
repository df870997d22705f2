#include "common/serve/serve_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace fieldcost::serve {
namespace {

using config::TomlFile;
using ::testing::HasSubstr;

std::string MessageOf(TomlFile& file) {
  const Status status = file.Finish();
  return status ? "" : status.error().message;
}

TEST(ServeConfigTest, DefaultsSuitAHundredMachinesSharingOneAddress) {
  TomlFile file = *TomlFile::Parse("[server]\nmax_connections = 7\n", "a.toml");
  http::ServerOptions options;
  options.port = 8443;
  ReadListener(file, options);
  EXPECT_EQ(options.address, "127.0.0.1");
  EXPECT_EQ(options.port, 8443);
  EXPECT_EQ(options.max_connections, 7U);
  EXPECT_EQ(options.max_connections_per_address, 256U);
  EXPECT_EQ(options.requests_per_second_per_address, 100);
  EXPECT_EQ(options.request_burst_per_address, 6'000U);
  EXPECT_FALSE(ReadAdminListener(file, 8444).has_value());
  EXPECT_EQ(MessageOf(file), "");
}

TEST(ServeConfigTest, TheOperatorAsksOnALoopbackAddressOnly) {
  TomlFile file = *TomlFile::Parse("[admin]\n", "a.toml");
  EXPECT_EQ(ReadAdminListener(file, 8444)->port, 8444);
  EXPECT_EQ(MessageOf(file), "");
  for (const std::string address : {"0.0.0.0", "192.0.2.1", "::", "localhost", ""}) {
    TomlFile other = *TomlFile::Parse("[admin]\naddress = \"" + address + "\"\n", "a.toml");
    ReadAdminListener(other, 8444);
    EXPECT_THAT(MessageOf(other), HasSubstr("admin.address: expected a loopback address"));
  }
  for (const char* const address : {"127.0.0.1", "127.9.9.9", "::1"}) {
    EXPECT_TRUE(IsLoopback(address)) << address;
  }
}

TEST(ServeConfigTest, TwoListenersAtOnePlaceAreRefused) {
  const auto message = [](const std::string& server, std::uint16_t server_port,
                          std::uint16_t admin_port) {
    TomlFile file = *TomlFile::Parse("[server]\nport = 1\n", "a.toml");
    http::ServerOptions options;
    ReadListener(file, options);
    options.address = server;
    options.port = server_port;
    http::ServerOptions admin;
    admin.port = admin_port;
    CheckApart(file, options, admin);
    return MessageOf(file);
  };
  EXPECT_THAT(message("127.0.0.1", 9, 9), HasSubstr("9 is also the port of the other listener"));
  EXPECT_THAT(message("0.0.0.0", 9, 9), HasSubstr("server.port"));
  EXPECT_THAT(message("::", 9, 9), HasSubstr("server.port"));
  EXPECT_EQ(message("192.0.2.1", 9, 9), "");
  EXPECT_EQ(message("127.0.0.1", 9, 8), "");
  EXPECT_EQ(message("127.0.0.1", 0, 0), "") << "each takes a free one";
}

TEST(ServeConfigTest, WordsOfTheLog) {
  TomlFile file = *TomlFile::Parse("[log]\nformat = \"json\"\nlevel = \"debug\"\n", "a.toml");
  std::optional<LogFormat> format;
  LogLevel level = LogLevel::kInfo;
  ReadLog(file, format, level);
  EXPECT_EQ(MessageOf(file), "");
  EXPECT_EQ(format, LogFormat::kJson);
  EXPECT_EQ(level, LogLevel::kDebug);
  TomlFile other = *TomlFile::Parse("[log]\nformat = \"xml\"\n", "a.toml");
  ReadLog(other, format, level);
  EXPECT_THAT(MessageOf(other),
              HasSubstr(R"(expected one of "auto", "text", "json", "journal", found 'xml')"));
}

}  // namespace
}  // namespace fieldcost::serve
