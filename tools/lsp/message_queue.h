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

// Set once a request's answer is not wanted any more.
using CancelToken = std::shared_ptr<std::atomic<bool>>;

// Between the thread that reads and the one that answers. Thread-safe.
class MessageQueue {
 public:
  struct Item {
    Message message;
    CancelToken cancelled;                  // never null
    std::shared_ptr<const CxxIndex> index;  // instead of a message: the names of C++ are known
    std::size_t size_bytes = 0;
  };

  // False for a request while kMaxQueuedRequests wait: it is not taken, and to be answered "busy";
  // "shutdown" is always taken.
  // Anything else waits until there is room, so that no edit is lost.
  bool Push(Message message, std::size_t size_bytes);
  void Push(std::shared_ptr<const CxxIndex> index);
  // Marks the waiting or running requests of that id.
  void Cancel(const RequestId& id);
  // Nothing more comes; what waits is still given out.
  void Close();

  // Blocks; nullopt once it is closed and empty. `idle` is called first if nothing waits.
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
