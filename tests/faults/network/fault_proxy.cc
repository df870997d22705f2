#include "tests/faults/network/fault_proxy.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/check.h"

namespace fieldcost::faults {
namespace {

constexpr std::size_t kMaxPending = 64 * 1024;
constexpr std::size_t kMaxCaptured = 256 * 1024;
constexpr int kTickMs = 20;  // longest wait while data is delayed

UniqueFd Connect(std::uint16_t port) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return {};  // the server is gone, so close the connection
  }
  return fd;
}

void Prepare(const UniqueFd& fd) {
  const int at_once = 1;
  FIELDCOST_CHECK(::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once) == 0);
  FIELDCOST_CHECK(::fcntl(fd.get(), F_SETFL, O_NONBLOCK) == 0);
}

void Reset(UniqueFd fd) {
  const linger now{.l_onoff = 1, .l_linger = 0};
  (void)::setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

}  // namespace

FaultProxy::FaultProxy(std::uint16_t server_port, std::function<Fault(std::uint64_t)> choose)
    : server_port_(server_port), choose_(std::move(choose)) {
  int ends[2];
  FIELDCOST_CHECK(::pipe2(ends, O_CLOEXEC) == 0);
  stop_read_ = UniqueFd(ends[0]);
  stop_write_ = UniqueFd(ends[1]);
  thread_ = std::thread([this] { Run(); });
}

FaultProxy::~FaultProxy() {
  stop_write_ = UniqueFd();
  thread_.join();
}

void FaultProxy::Accept() {
  UniqueFd client = listener_.Accept();
  if (!client.valid()) return;
  UniqueFd server = Connect(server_port_);
  if (!server.valid()) return;
  Prepare(client);
  Prepare(server);
  links_.push_back({.client = std::move(client),
                    .server = std::move(server),
                    .fault = choose_(counters_.connections++)});
}

void FaultProxy::Receive(Link& link, bool from_server) {
  Direction& direction = from_server ? link.down : link.up;
  char chunk[16 * 1024];
  const ssize_t got =
      ::recv((from_server ? link.server : link.client).get(), chunk, sizeof chunk, 0);
  if (got < 0) {
    link.over = true;
    return;
  }
  if (got == 0) direction.ended = true;
  if (link.discarding) return;
  std::string_view bytes(chunk, static_cast<std::size_t>(got));
  const Fault& fault = link.fault;
  using Kind = Fault::Kind;
  const bool cuts =
      fault.kind == Kind::kReset || fault.kind == Kind::kTruncate || fault.kind == Kind::kStall;
  if (cuts && fault.on_answers == from_server) {
    const std::size_t left = fault.after_bytes - std::min(fault.after_bytes, direction.passed);
    if (bytes.size() >= left) {
      bytes = bytes.substr(0, left);
      direction.cut = true;
    }
  }
  if (fault.kind == Kind::kReplay && !from_server &&
      link.captured.size() + bytes.size() <= kMaxCaptured) {
    link.captured += bytes;
  }
  if (fault.kind == Kind::kLatency && direction.pending.empty()) {
    direction.send_at = SteadyClock::now() + fault.delay;
    ++counters_.delays;
  }
  direction.passed += bytes.size();
  direction.pending += bytes;
}

void FaultProxy::Send(Link& link, bool from_server) {
  Direction& direction = from_server ? link.down : link.up;
  const UniqueFd& to = from_server ? link.client : link.server;
  if (!direction.pending.empty()) {
    const bool single = link.fault.kind == Fault::Kind::kByteByByte;
    const std::size_t size = single ? 1 : direction.pending.size();
    const ssize_t sent = ::send(to.get(), direction.pending.data(), size, MSG_NOSIGNAL);
    if (sent < 0) {
      link.over = true;
      return;
    }
    if (single) ++counters_.single_bytes;
    direction.pending.erase(0, static_cast<std::size_t>(sent));
  }
  if (!direction.pending.empty()) return;
  if (direction.cut) {
    Strike(link);
  } else if (direction.ended && !direction.forwarded) {
    direction.forwarded = true;
    ::shutdown(to.get(), SHUT_WR);
  }
}

void FaultProxy::Strike(Link& link) {
  link.up.cut = link.down.cut = false;
  switch (link.fault.kind) {
    case Fault::Kind::kReset:
      ++counters_.resets;
      Reset(std::move(link.client));
      Reset(std::move(link.server));
      link.over = true;
      break;
    case Fault::Kind::kTruncate:
      ++counters_.truncations;
      link.discarding = true;
      link.up.pending.clear();
      link.down.pending.clear();
      ::shutdown(link.client.get(), SHUT_WR);
      ::shutdown(link.server.get(), SHUT_WR);
      break;
    case Fault::Kind::kStall:
      ++counters_.stalls;
      link.stalled = true;
      break;
    default:
      break;
  }
}

// The server may read as much as it likes and respond as it likes.
void FaultProxy::Replay(const std::string& captured) {
  const UniqueFd server = Connect(server_port_);
  if (captured.empty() || !server.valid()) return;
  const timeval patience{.tv_sec = 10, .tv_usec = 0};
  (void)::setsockopt(server.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (::send(server.get(), captured.data(), captured.size(), MSG_NOSIGNAL) < 0) return;
  ::shutdown(server.get(), SHUT_WR);
  char chunk[4096];
  while (::recv(server.get(), chunk, sizeof chunk, 0) > 0) {
  }
  ++counters_.replays;
}

void FaultProxy::Run() {
  for (;;) {
    std::vector<pollfd> polled = {{stop_read_.get(), POLLIN, 0}, {listener_.fd(), POLLIN, 0}};
    const auto now = SteadyClock::now();
    int wait_ms = -1;
    for (Link& link : links_) {
      for (const bool from_server : {false, true}) {
        Direction& in = from_server ? link.down : link.up;
        Direction& out = from_server ? link.up : link.down;  // the data sent to this descriptor
        short events = 0;
        if (link.stalled) {
          events = POLLRDHUP;
        } else {
          if (!in.ended && !in.cut && in.pending.size() < kMaxPending) events |= POLLIN;
          const bool due = !out.pending.empty() || out.cut || (out.ended && !out.forwarded);
          if (due && out.send_at <= now) events |= POLLOUT;
          if (due && out.send_at > now) wait_ms = kTickMs;
        }
        // Otherwise poll() would report a hang-up again and again.
        const UniqueFd& fd = from_server ? link.server : link.client;
        polled.push_back({events == 0 ? -1 : fd.get(), events, 0});
      }
    }
    FIELDCOST_CHECK(::poll(polled.data(), polled.size(), wait_ms) >= 0);
    if (polled[0].revents != 0) return;
    std::size_t next = 2;
    for (Link& link : links_) {
      for (const bool from_server : {false, true}) {
        const short events = polled[next++].revents;
        if (link.over || events == 0) continue;
        if (link.stalled || (events & POLLERR) != 0) {
          link.over = true;
          continue;
        }
        if ((events & (POLLIN | POLLHUP)) != 0) Receive(link, from_server);
        if (!link.over && (events & POLLOUT) != 0) Send(link, !from_server);
      }
      const bool ended = link.up.ended && link.down.ended;
      const bool sent = link.up.pending.empty() && link.down.pending.empty();
      if (ended && (link.discarding || sent)) link.over = true;
    }
    std::vector<std::string> replays;
    links_.remove_if([&](Link& link) {
      if (link.over && !link.captured.empty()) replays.push_back(std::move(link.captured));
      return link.over;
    });
    for (const std::string& captured : replays) Replay(captured);
    if (polled[1].revents != 0) Accept();
  }
}

}  // namespace fieldcost::faults
