#include "tools/lsp/message_queue.h"

#include <gtest/gtest.h>

#include <thread>

#include "tools/lsp/lsp_limits.h"

namespace fieldcost::lsp {
namespace {

Message Request(std::int64_t id) { return {RequestId(id), StatusCall{}}; }
std::optional<MessageQueue::Item> Pop(MessageQueue& queue) {
  return queue.Pop([] {});
}

TEST(MessageQueueTest, OrderIsKeptAndTheEndComesAfterEverything) {
  MessageQueue queue;
  EXPECT_TRUE(queue.Push(Request(1), 10));
  EXPECT_TRUE(queue.Push(Request(2), 10));
  queue.Close();
  EXPECT_EQ(Pop(queue)->message.id, RequestId(1));
  EXPECT_EQ(Pop(queue)->message.id, RequestId(2));
  EXPECT_FALSE(Pop(queue).has_value());
}

TEST(MessageQueueTest, CancellingReachesPendingAndRunningRequests) {
  MessageQueue queue;
  queue.Push(Request(1), 10);
  queue.Push(Request(2), 10);
  queue.Push(Request(3), 10);
  const auto running = Pop(queue);
  queue.Cancel(RequestId(1));
  queue.Cancel(RequestId(3));
  queue.Cancel(RequestId("3"));
  EXPECT_TRUE(running->cancelled->load());
  EXPECT_FALSE(Pop(queue)->cancelled->load());
  EXPECT_TRUE(Pop(queue)->cancelled->load());
}

TEST(MessageQueueTest, RequestsAboveTheLimitAreNotTakenButEditsAre) {
  MessageQueue queue;
  for (std::size_t i = 0; i < kMaxQueuedRequests; ++i) {
    ASSERT_TRUE(queue.Push(Request(static_cast<std::int64_t>(i)), 1));
  }
  EXPECT_FALSE(queue.Push(Request(-1), 1));
  EXPECT_TRUE(queue.Push({std::nullopt, ChangeCall{}}, 1));
  EXPECT_TRUE(queue.Push({RequestId(-2), ShutdownCall{}}, 1)) << "else the end looks like a crash";
  EXPECT_FALSE(queue.Push(Request(-1), 1));
  Pop(queue);
  Pop(queue);
  EXPECT_TRUE(queue.Push(Request(-1), 1));
}

TEST(MessageQueueTest, AFullQueueMakesTheReaderWaitAndLosesNothing) {
  MessageQueue queue;
  constexpr int kMessages = 3 * static_cast<int>(kMaxQueuedMessages);
  std::thread reader([&] {
    for (int i = 0; i < kMessages; ++i) queue.Push({std::nullopt, AnswerCall{.id = i}}, 1);
    queue.Close();
  });
  int seen = 0;
  while (const auto item = Pop(queue)) {
    ASSERT_EQ(std::get<AnswerCall>(item->message.call).id, seen);
    ++seen;
  }
  reader.join();
  EXPECT_EQ(seen, kMessages);
}

TEST(MessageQueueTest, AMessageAboveTheRoomIsTakenByAnEmptyQueue) {
  MessageQueue queue;
  EXPECT_TRUE(queue.Push(Request(1), 2 * kMaxQueuedBytes));
  EXPECT_EQ(Pop(queue)->message.id, RequestId(1));
}

}  // namespace
}  // namespace fieldcost::lsp
