// Tests that the fault proxy injects its faults; otherwise the tests that use it would prove
// nothing.
#include "tests/faults/network/fault_proxy.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <thread>

#include "tests/support/wait_until.h"

namespace fieldcost::faults {
namespace {

using Kind = Fault::Kind;

class FaultProxyTest : public ::testing::Test {
 protected:
  void Start(const Fault& fault) {
    proxy_ = std::make_unique<FaultProxy>(server_.port(), [fault](std::uint64_t) { return fault; });
  }

  // Returns everything that arrives until the connection ends; `error` is set to the errno of the
  // end.
  static std::string ReadAll(const UniqueFd& fd, int& error) {
    std::string all;
    char chunk[4096];
    for (;;) {
      const ssize_t got = ::recv(fd.get(), chunk, sizeof chunk, 0);
      error = got < 0 ? errno : 0;
      if (got <= 0) return all;
      all.append(chunk, static_cast<std::size_t>(got));
    }
  }

  http::RawListener server_;
  std::unique_ptr<FaultProxy> proxy_;
  int error_ = 0;
};

TEST_F(FaultProxyTest, BytesPassUnchangedBothWaysDespiteDelays) {
  for (const Kind kind : {Kind::kNone, Kind::kLatency, Kind::kByteByByte}) {
    Start({.kind = kind, .delay = std::chrono::milliseconds(3)});
    http::RawConnection client(proxy_->port());
    const UniqueFd served = server_.Accept();
    client.Send(std::string(5000, 'u'));
    client.FinishSending();
    EXPECT_EQ(ReadAll(served, error_), std::string(5000, 'u'));
    ASSERT_EQ(::send(served.get(), "answer", 6, 0), 6);
    ::shutdown(served.get(), SHUT_WR);
    EXPECT_EQ(client.ReadToEnd(), "answer");
    EXPECT_EQ(proxy_->counters().delays > 0, kind == Kind::kLatency);
    EXPECT_EQ(proxy_->counters().single_bytes, kind == Kind::kByteByByte ? 5006U : 0U);
  }
}

TEST_F(FaultProxyTest, TruncationEndsBothSidesAfterThatByte) {
  Start({.kind = Kind::kTruncate, .after_bytes = 10});
  http::RawConnection client(proxy_->port());
  const UniqueFd served = server_.Accept();
  client.Send("0123456789abc");
  EXPECT_EQ(ReadAll(served, error_), "0123456789");
  EXPECT_EQ(error_, 0);
  EXPECT_EQ(client.ReadToEnd(), "");
  EXPECT_EQ(proxy_->counters().truncations, 1U);
}

TEST_F(FaultProxyTest, AResetInTheAnswerIsSeenByBothSides) {
  Start({.kind = Kind::kReset, .on_answers = true, .after_bytes = 3});
  http::RawConnection client(proxy_->port());
  const UniqueFd served = server_.Accept();
  client.Send("question");
  ASSERT_EQ(::send(served.get(), "answer", 6, 0), 6);
  EXPECT_LE(client.ReadToEnd().size(), 3U);
  (void)ReadAll(served, error_);
  EXPECT_EQ(error_, ECONNRESET);
  EXPECT_EQ(proxy_->counters().resets, 1U);
}

TEST_F(FaultProxyTest, AStallHoldsTheConnectionUntilTheClientGivesUp) {
  Start({.kind = Kind::kStall, .after_bytes = 4});
  UniqueFd served;
  {
    http::RawConnection client(proxy_->port());
    served = server_.Accept();
    client.Send("question");
    char chunk[16];
    EXPECT_EQ(::recv(served.get(), chunk, 4, MSG_WAITALL), 4);
    ASSERT_TRUE(testing::WaitUntil([&] { return proxy_->counters().stalls != 0; }));
    EXPECT_EQ(::recv(served.get(), chunk, sizeof chunk, MSG_DONTWAIT), -1);
  }
  EXPECT_EQ(ReadAll(served, error_), "");
}

TEST_F(FaultProxyTest, AReplaySendsTheSameBytesOnAnotherConnection) {
  Start({.kind = Kind::kReplay});
  {
    http::RawConnection client(proxy_->port());
    const UniqueFd served = server_.Accept();
    client.Send("once");
    client.FinishSending();
    EXPECT_EQ(ReadAll(served, error_), "once");
  }
  const UniqueFd again = server_.Accept();
  EXPECT_EQ(ReadAll(again, error_), "once");
}

}  // namespace
}  // namespace fieldcost::faults
