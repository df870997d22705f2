#include "tests/agent/volunteer/holding_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>

#include "common/base/check.h"

namespace fieldcost::testing {
namespace {

constexpr std::string_view kEstablished = "HTTP/1.1 200 Connection established\r\n\r\n";
// Bytes of the request to pass on before holding it in the middle; more than its head.
constexpr std::size_t kMiddleBytes = 4'000;

using Chunk = std::array<char, 4096>;

// Returns false at the end of the connection.
bool Pass(int from, int to, Chunk& chunk, std::size_t& size) {
  const ssize_t got = ::recv(from, chunk.data(), chunk.size(), 0);
  size = got > 0 ? static_cast<std::size_t>(got) : 0;
  for (std::size_t sent = 0; sent < size;) {
    const ssize_t more = ::send(to, chunk.data() + sent, size - sent, MSG_NOSIGNAL);
    if (more <= 0) return false;
    sent += static_cast<std::size_t>(more);
  }
  return got > 0;
}

}  // namespace

HoldingProxy::HoldingProxy(Step step)
    : step_(step), release_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  FIELDCOST_CHECK(release_.valid());
  if (step != Step::kAnswer) {
    const int least = 1;  // the kernel raises it to a few KiB
    FIELDCOST_CHECK(::setsockopt(listener_.fd(), SOL_SOCKET, SO_RCVBUF, &least, sizeof least) == 0);
  }
  if (step == Step::kTcpConnect) {
    FIELDCOST_CHECK(::listen(listener_.fd(), 0) == 0);
    in_the_way_ = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(listener_.port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    FIELDCOST_CHECK(::connect(in_the_way_.get(), reinterpret_cast<const sockaddr*>(&address),
                              sizeof address) == 0);
    return;
  }
  thread_ = std::thread([this] { Run(); });
}

HoldingProxy::~HoldingProxy() { Release(); }

void HoldingProxy::WaitUntilHeld() {
  if (step_ == Step::kTcpConnect) return;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return held_; });
}

void HoldingProxy::Release() {
  const std::uint64_t one = 1;
  FIELDCOST_CHECK(::write(release_.get(), &one, sizeof one) == sizeof one);
  if (thread_.joinable()) thread_.join();
}

bool HoldingProxy::WaitForClient(int client) {
  std::array<pollfd, 2> polled{{{client, POLLIN, 0}, {release_.get(), POLLIN, 0}}};
  while (::poll(polled.data(), polled.size(), -1) < 0) {
  }
  return polled[0].revents != 0;
}

void HoldingProxy::Hold() {
  {
    const std::lock_guard lock(mutex_);
    held_ = true;
  }
  changed_.notify_all();
  pollfd polled{release_.get(), POLLIN, 0};
  while (::poll(&polled, 1, -1) < 0) {
  }
}

void HoldingProxy::Run() {
  if (!WaitForClient(listener_.fd())) return;
  const UniqueFd client = listener_.Accept();
  std::string request;
  char c = 0;
  while (!request.ends_with("\r\n\r\n") && ::recv(client.get(), &c, 1, 0) == 1) request += c;
  if (step_ == Step::kConnectAnswer) Hold();
  const http::RawConnection server(
      static_cast<std::uint16_t>(std::stoi(request.substr(request.find(':') + 1))));
  ::send(client.get(), kEstablished.data(), kEstablished.size(), MSG_NOSIGNAL);
  Pump(client.get(), server.fd());
}

void HoldingProxy::Pump(int client, int server) {
  Chunk chunk;
  std::size_t size = 0;
  std::size_t flights = 0;  // of the client; the first contains its hello
  std::size_t passed = 0;   // of the other side
  bool was_held = step_ == Step::kConnectAnswer;
  std::array<pollfd, 2> polled{{{client, POLLIN, 0}, {server, POLLIN, 0}}};
  for (;;) {
    if (::poll(polled.data(), polled.size(), -1) < 0) continue;
    if (polled[0].revents != 0) {
      const bool is_at_step = (step_ == Step::kHandshake && flights == 0) ||
                              (step_ == Step::kFirstByte && flights == 1) ||
                              (step_ == Step::kMiddle && passed >= kMiddleBytes);
      if (is_at_step && !was_held) {
        was_held = true;
        Hold();
      }
      if (!Pass(client, server, chunk, size)) return;
      if (flights++ > 0) passed += size;
    }
    if (polled[1].revents != 0) {
      if (step_ == Step::kAnswer && flights > 1 && !was_held) {
        was_held = true;
        Hold();
      }
      if (!Pass(server, client, chunk, size)) return;
    }
  }
}

}  // namespace fieldcost::testing
