#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "common/http/client.h"
#include "common/http/http_server.h"
#include "tests/support/certificates.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::http {

// Responds 200 with the request's body.
inline void Echo(Request request, const Respond& respond) {
  respond({.status = 200, .body = std::move(request.body)});
}

// A real server on its own loopback port, and clients that trust it. Certificates are created once
// per test program.
class HttpFixture : public ::testing::Test {
 protected:
  static const testing::Certificates& Certs() {
    static const testing::TempDir directory;
    static const testing::Certificates made = testing::MakeCertificates(directory.path());
    return made;
  }

  void StartTls(Handler handler, ServerOptions options = {}) {
    options.certificate_file = Certs().certificate;
    options.private_key_file = Certs().key;
    StartPlain(std::move(handler), std::move(options));
  }
  void StartPlain(Handler handler, ServerOptions options = {}) {
    Result<std::unique_ptr<Server>> server = Server::Start(std::move(options), std::move(handler));
    ASSERT_TRUE(server) << server.error().message;
    server_ = *std::move(server);
  }

  ClientOptions Options() const {
    return {.url = "https://127.0.0.1:" + std::to_string(server_->port()), .ca_file = Certs().ca};
  }
  Client MakeClient() const { return Client::Create(Options()).value(); }

  std::unique_ptr<Server> server_;
};

}  // namespace fieldcost::http
