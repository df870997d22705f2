#include "common/serve/signals.h"

#include <gtest/gtest.h>

#include <chrono>

namespace fieldcost::serve {
namespace {

constexpr std::chrono::seconds kLong{60};
constexpr std::chrono::milliseconds kNow{0};

class SignalsTest : public ::testing::Test {
 protected:
  SignalsTest() { ::pthread_sigmask(SIG_SETMASK, nullptr, &before_); }
  ~SignalsTest() override { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  sigset_t before_{};
};

TEST_F(SignalsTest, EachIsHeardOnce) {
  const Signals signals({SIGHUP});
  ASSERT_EQ(::raise(SIGHUP), 0);
  EXPECT_EQ(signals.Wait(kLong), SIGHUP);
  EXPECT_EQ(signals.Wait(kNow), 0);
}

TEST_F(SignalsTest, TerminationTakesPrecedenceOverOtherSignals) {
  const Signals signals({SIGHUP, SIGUSR1});
  for (const int end : {SIGTERM, SIGINT}) {
    EXPECT_TRUE(Signals::IsEnd(end));
    ASSERT_EQ(::raise(SIGHUP), 0);
    ASSERT_EQ(::raise(end), 0);
    EXPECT_EQ(signals.Wait(kLong), end);
    while (signals.Wait(kNow) != 0) {
    }
  }
  EXPECT_FALSE(Signals::IsEnd(SIGHUP));
  EXPECT_FALSE(Signals::IsEnd(0));
}

TEST_F(SignalsTest, ClosedPipeRaisesNoSignal) {
  const Signals signals({});
  ASSERT_EQ(::raise(SIGPIPE), 0);
  EXPECT_EQ(signals.Wait(kNow), 0);
}

}  // namespace
}  // namespace fieldcost::serve
