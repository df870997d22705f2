#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "tools/lsp/cxx_index.h"
#include "tools/lsp/protocol.h"

namespace fieldcost::lsp {

// Set once the response to a request is no longer wanted.
using CancelToken = std::shared_ptr<std::atomic<bool>>;

// The queue between the reading thread and the responding thread. Thread-safe.
class MessageQueue {
 public:
  struct Item {
    Message message;
    CancelToken cancelled;                  // never null
    std::shared_ptr<const CxxIndex> index;  // instead of a message: the C++ names are ready
    std::size_t size_bytes = 0;
  };

  // Returns false and drops a request while kMaxQueuedRequests are waiting; the caller must respond
  // "busy". "shutdown" is always accepted. Any other message blocks until there is room, so that no
  // edit is lost.
  bool Push(Message message, std::size_t size_bytes);
  void Push(std::shared_ptr<const CxxIndex> index);
  // Marks the waiting or running requests with this id.
  void Cancel(const RequestId& id);
  // No more messages follow; waiting ones are still delivered.
  void Close();

  // Blocks; nullopt once the queue is closed and empty. Calls `idle` first if the queue is empty.
  template <typename Idle>
  std::optional<Item> Pop(Idle&& idle) {
    if (Empty()) idle();
    return Take();
  }

 private:
  bool Empty();
  std::optional<Item> Take();

  std::mutex mutex_;
  std::condition_variable filled_;
  std::condition_variable emptied_;
  std::deque<Item> items_;
  std::size_t requests_ = 0;
  std::size_t bytes_ = 0;
  bool closed_ = false;
  std::optional<RequestId> running_;
  CancelToken running_token_;
};

}  // namespace fieldcost::lsp
