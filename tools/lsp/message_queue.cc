#include "tools/lsp/message_queue.h"

#include <utility>

#include "tools/lsp/lsp_limits.h"

namespace fieldcost::lsp {

bool MessageQueue::Push(Message message, std::size_t size_bytes) {
  const MutexLock lock(mutex_);
  if (message.id) {
    const bool is_last = std::holds_alternative<ShutdownCall>(message.call);
    if (requests_ >= kMaxQueuedRequests && !is_last) return false;
    ++requests_;
  }
  emptied_.Wait(mutex_, [&]() FIELDCOST_REQUIRES(mutex_) {
    return closed_ || items_.empty() ||
           (items_.size() < kMaxQueuedMessages && bytes_ + size_bytes <= kMaxQueuedBytes);
  });
  bytes_ += size_bytes;
  items_.push_back({.message = std::move(message),
                    .cancelled = std::make_shared<std::atomic<bool>>(false),
                    .size_bytes = size_bytes});
  filled_.NotifyOne();
  return true;
}

void MessageQueue::Push(std::shared_ptr<const CxxIndex> index) {
  const MutexLock lock(mutex_);
  items_.push_back(
      {.cancelled = std::make_shared<std::atomic<bool>>(false), .index = std::move(index)});
  filled_.NotifyOne();
}

void MessageQueue::Cancel(const RequestId& id) {
  const MutexLock lock(mutex_);
  for (const Item& item : items_) {
    if (item.message.id == id) item.cancelled->store(true);
  }
  if (running_ == id && running_token_) running_token_->store(true);
}

void MessageQueue::Close() {
  const MutexLock lock(mutex_);
  closed_ = true;
  filled_.NotifyAll();
  emptied_.NotifyAll();
}

bool MessageQueue::Empty() {
  const MutexLock lock(mutex_);
  return items_.empty();
}

std::optional<MessageQueue::Item> MessageQueue::Take() {
  const MutexLock lock(mutex_);
  running_.reset();
  running_token_.reset();
  filled_.Wait(mutex_, [this]() FIELDCOST_REQUIRES(mutex_) { return closed_ || !items_.empty(); });
  if (items_.empty()) return std::nullopt;
  Item item = std::move(items_.front());
  items_.pop_front();
  bytes_ -= item.size_bytes;
  if (item.message.id) --requests_;
  running_ = item.message.id;
  running_token_ = item.cancelled;
  emptied_.NotifyOne();
  return item;
}

}  // namespace fieldcost::lsp
