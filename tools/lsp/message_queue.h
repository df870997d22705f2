#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>

#include "common/base/mutex.h"
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
  bool Push(Message message, std::size_t size_bytes) FIELDCOST_EXCLUDES(mutex_);
  void Push(std::shared_ptr<const CxxIndex> index) FIELDCOST_EXCLUDES(mutex_);
  // Marks the waiting or running requests with this id.
  void Cancel(const RequestId& id) FIELDCOST_EXCLUDES(mutex_);
  // No more messages follow; waiting ones are still delivered.
  void Close() FIELDCOST_EXCLUDES(mutex_);

  // Blocks; nullopt once the queue is closed and empty. Calls `idle` first if the queue is empty.
  template <typename Idle>
  std::optional<Item> Pop(Idle&& idle) {
    if (Empty()) idle();
    return Take();
  }

 private:
  bool Empty() FIELDCOST_EXCLUDES(mutex_);
  std::optional<Item> Take() FIELDCOST_EXCLUDES(mutex_);

  Mutex mutex_;
  CondVar filled_;
  CondVar emptied_;
  std::deque<Item> items_ FIELDCOST_GUARDED_BY(mutex_);
  std::size_t requests_ FIELDCOST_GUARDED_BY(mutex_) = 0;
  std::size_t bytes_ FIELDCOST_GUARDED_BY(mutex_) = 0;
  bool closed_ FIELDCOST_GUARDED_BY(mutex_) = false;
  std::optional<RequestId> running_ FIELDCOST_GUARDED_BY(mutex_);
  CancelToken running_token_ FIELDCOST_GUARDED_BY(mutex_);
};

}  // namespace fieldcost::lsp
