#include "tests/common/http/raw_connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>

#include "common/base/check.h"

namespace fieldcost::http {
namespace {

constexpr timeval kPatience{.tv_sec = 30, .tv_usec = 0};

sockaddr_in Loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

}  // namespace

RawConnection::RawConnection(std::uint16_t port, std::string_view source)
    : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const sockaddr_in address = Loopback(port);
  FIELDCOST_CHECK(fd_.valid());
  FIELDCOST_CHECK(::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience) ==
                  0);
  sockaddr_in from = Loopback(0);
  const int at_once = 1;  // one packet per Send()
  FIELDCOST_CHECK(::setsockopt(fd_.get(), IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once) == 0);
  const int late_port = 1;  // chosen on connecting: there may be more connections than ports
  FIELDCOST_CHECK(::setsockopt(fd_.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &late_port,
                               sizeof late_port) == 0);
  FIELDCOST_CHECK(::inet_pton(AF_INET, std::string(source).c_str(), &from.sin_addr) == 1);
  FIELDCOST_CHECK(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&from), sizeof from) == 0);
  FIELDCOST_CHECK(
      ::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
}

void RawConnection::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void RawConnection::FinishSending() { ::shutdown(fd_.get(), SHUT_WR); }

bool RawConnection::ReadSome() {
  char chunk[65536];
  const ssize_t got = ::recv(fd_.get(), chunk, sizeof chunk, 0);
  FIELDCOST_CHECK(got >= 0 || errno == ECONNRESET);
  if (got <= 0) return false;
  received_.append(chunk, static_cast<std::size_t>(got));
  return true;
}

std::string RawConnection::ReadToEnd() {
  while (ReadSome()) {
  }
  return std::exchange(received_, {});
}

std::string RawConnection::ReadUntil(std::string_view end) {
  std::size_t found = 0;
  while ((found = received_.find(end)) == std::string::npos) {
    if (!ReadSome()) return std::exchange(received_, {});
  }
  const std::string text = received_.substr(0, found + end.size());
  received_.erase(0, text.size());
  return text;
}

RawListener::RawListener() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof address;
  FIELDCOST_CHECK(fd_.valid());
  FIELDCOST_CHECK(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
                  0);
  FIELDCOST_CHECK(::listen(fd_.get(), 16) == 0);
  FIELDCOST_CHECK(::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  port_ = ntohs(address.sin_port);
}

UniqueFd RawListener::Accept() {
  return UniqueFd(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC));
}

}  // namespace fieldcost::http
