#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <boost/json.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "common/base/file.h"
#include "common/base/units.h"
#include "common/http/client.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::testing {

inline constexpr char kServerPassword[] = "correct horse battery";

// Runs the server as a process, with real TLS, signals and files.
class ServerTest : public ::testing::Test {
 protected:
  ServerTest() {
    const ProcessResult made = RunProcess(
        {.arguments = {FIELDCOST_PROBE_SERVER, "init", "--dir", home().string(), "--host",
                       "localhost", "--host", "127.0.0.1", "--port", "0", "--admin-port", "0"}});
    EXPECT_EQ(made.exit_status, 0) << made.errors;
    EXPECT_EQ(AddUser("alice").exit_status, 0);
  }

  std::filesystem::path home() const { return dir_.path() / "home"; }
  std::filesystem::path config() const { return home() / "probe-server.toml"; }
  std::filesystem::path database() const { return home() / "data" / "probe-server.db"; }

  ProcessOptions Command(std::vector<std::string> arguments, std::string input = "") const {
    arguments.insert(arguments.begin(), FIELDCOST_PROBE_SERVER);
    arguments.insert(arguments.end(), {"--config", config().string()});
    return {.arguments = std::move(arguments), .input = std::move(input)};
  }
  ProcessResult Run(std::vector<std::string> arguments, std::string input = "") const {
    return RunProcess(Command(std::move(arguments), std::move(input)));
  }
  ProcessResult AddUser(const std::string& name) const {
    return Run({"user", "add", name}, std::string(kServerPassword) + "\n");
  }

  void Start() {
    server_ = std::make_unique<BackgroundProcess>(Command({}));
    std::string line;
    ASSERT_TRUE(server_->WaitForLine("listening on ", &line)) << server_->Wait().output;
    url_ = line.substr(line.find("https://"));
    client_ = std::make_unique<http::Client>(
        std::move(*http::Client::Create({.url = url_, .ca_file = home() / "ca.pem"})));
  }
  // Ends the server as abruptly as a power loss would.
  void Kill() {
    client_.reset();
    server_->Signal(SIGKILL);
    server_->Wait();
    server_.reset();
  }
  void Stop() {
    client_.reset();
    server_->Signal(SIGTERM);
    const ProcessResult result = server_->Wait();
    EXPECT_EQ(result.exit_status, 0) << result.output;
    server_.reset();
  }

  http::Response MustSend(const http::Request& request) {
    auto response = client_->Send(request);
    EXPECT_TRUE(response.has_value()) << response.error().message;
    return response ? std::move(*response) : http::Response();
  }
  // Enrols a device and returns its token.
  std::string Enrol(const std::string& user = "alice") {
    const http::Response response = MustSend({.method = "POST",
                                              .target = "/v1/devices",
                                              .body = R"({"user":")" + user + R"(","password":")" +
                                                      kServerPassword + R"(","name":"laptop"})"});
    EXPECT_EQ(response.status, 200) << response.body;
    return std::string(boost::json::parse(response.body).at("token").as_string());
  }
  http::Response SendBody(const std::string& token, const std::string& body) {
    return MustSend({.method = "POST",
                     .target = "/v1/probes",
                     .headers = {{"Authorization", "Bearer " + token}},
                     .body = body});
  }

  const TempDir dir_;
  std::unique_ptr<BackgroundProcess> server_;
  std::unique_ptr<http::Client> client_;
  std::string url_;
};

}  // namespace fieldcost::testing
