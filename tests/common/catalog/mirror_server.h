#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "common/http/http_server.h"
#include "tests/common/catalog/publisher.h"

namespace fieldcost::testing {

// A TLS server on loopback that serves a publisher's files below a path of its own.
class MirrorServer {
 public:
  // Changes the response to a file (its path without the prefix) before it is sent. Called by the
  // server's threads.
  using Change = std::function<void(const std::string& path, http::Response& response)>;

  MirrorServer(Publisher& publisher, std::string prefix, Change change = nullptr)
      : publisher_(publisher), prefix_(std::move(prefix)), change_(std::move(change)) {
    http::ServerOptions options;
    options.certificate_file = publisher.certificates().certificate;
    options.private_key_file = publisher.certificates().key;
    auto server = http::Server::Start(
        options,
        [this](http::Request request, http::Respond respond) { respond(Answer(request)); });
    FIELDCOST_CHECK(server.has_value());
    server_ = std::move(*server);
  }

  catalog::Mirror Address() const {
    return {.url = "https://localhost:" + std::to_string(server_->port()) + prefix_,
            .proxy_url = {}};
  }
  // Paths requested since the last call, without the prefix.
  std::vector<std::string> TakeRequests() {
    const std::lock_guard lock(mutex_);
    return std::exchange(requests_, {});
  }
  void Stop() { server_->Stop(std::chrono::milliseconds(0)); }

 private:
  http::Response Answer(const http::Request& request) {
    http::Response response{.status = 404};
    if (!request.target.starts_with(prefix_)) return response;
    const std::string path = request.target.substr(prefix_.size());
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(path);
    }
    if (std::optional<std::string> file = publisher_.Find(path)) {
      response = {.status = 200, .body = std::move(*file)};
    }
    if (change_) change_(path, response);
    return response;
  }

  Publisher& publisher_;
  const std::string prefix_;
  const Change change_;
  std::mutex mutex_;
  std::vector<std::string> requests_;
  std::unique_ptr<http::Server> server_;  // last: its threads use the rest
};

}  // namespace fieldcost::testing
