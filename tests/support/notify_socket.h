#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "common/base/check.h"
#include "common/base/file.h"
#include "tests/support/wait_until.h"

namespace fieldcost::testing {

// The service manager's end of sd_notify(3): the socket named by NOTIFY_SOCKET.
class NotifySocket {
 public:
  explicit NotifySocket(const std::filesystem::path& path)
      : path_(path.string()), socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    FIELDCOST_CHECK(path_.size() < sizeof name.sun_path);
    path_.copy(name.sun_path, path_.size());
    FIELDCOST_CHECK(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) ==
                    0);
  }

  const std::string& path() const { return path_; }

  // The next message; empty if none comes within kMostPatience.
  std::string Next() const {
    pollfd polled{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    const auto patience = std::chrono::milliseconds(kMostPatience).count();
    if (::poll(&polled, 1, static_cast<int>(patience)) != 1) return {};
    std::string message(4096, '\0');
    const ssize_t got = ::recv(socket_.get(), message.data(), message.size(), 0);
    message.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return message;
  }

 private:
  std::string path_;
  UniqueFd socket_;
};

}  // namespace fieldcost::testing
