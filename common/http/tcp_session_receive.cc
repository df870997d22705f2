// The requests of a TcpSession: heads, and bodies of known lengths.
#include <string_view>

#include "common/http/tcp_session.h"

namespace fieldcost::http {

namespace asio = boost::asio;

asio::awaitable<tl::expected<Head, Refusal>> TcpSession::ReceiveHead() {
  Arm(core_.options.header_timeout);
  HeadScan scan;
  for (;;) {
    Enter(request_number_ == 0 ? State::kFirstHead
          : received_.empty()  ? State::kIdle
                               : State::kHead);
    const HeadScan::Outcome outcome = scan.Scan(received_);
    if (scan.scanned > core_.options.max_header_bytes) {
      co_return tl::unexpected(Refusal{431, "headers are too large"});
    }
    if (outcome == HeadScan::Outcome::kMalformed) {
      co_return tl::unexpected(Refusal{400, "this is not HTTP"});
    }
    if (outcome == HeadScan::Outcome::kComplete) break;
    const Io read = co_await ReadSome();
    if (read.error) co_return tl::unexpected(Refusal{kCloseSilently, ""});
    received_.append(chunk_.data(), read.size);
  }
  auto head =
      ParseHead(std::string_view(received_).substr(0, scan.scanned), core_.options.max_body_bytes);
  received_.erase(0, scan.scanned);
  co_return head;
}

asio::awaitable<bool> TcpSession::ReceiveBody(const Head& head, std::string& body) {
  Arm(core_.options.body_timeout);
  if (head.expects_continue && received_.size() < head.content_length) {
    constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    const Io written = co_await Write(asio::buffer(kContinue.data(), kContinue.size()));
    if (written.error) co_return false;
  }
  while (received_.size() < head.content_length) {
    const Io read = co_await ReadSome();
    if (read.error) co_return false;
    received_.append(chunk_.data(), read.size);
  }
  body = received_.substr(0, head.content_length);
  received_.erase(0, head.content_length);
  co_return true;
}

}  // namespace fieldcost::http
