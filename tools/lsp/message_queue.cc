#include "tools/lsp/message_queue.h"

#include <utility>

#include "tools/lsp/lsp_limits.h"

namespace fieldcost::lsp {

bool MessageQueue::Push(Message message, std::size_t size_bytes) {
  std::unique_lock lock(mutex_);
  if (message.id) {
    const bool is_last = std::holds_alternative<ShutdownCall>(message.call);
    if (requests_ >= kMaxQueuedRequests && !is_last) return false;
    ++requests_;
  }
  emptied_.wait(lock, [&] {
    return closed_ || items_.empty() ||
           (items_.size() < kMaxQueuedMessages && bytes_ + size_bytes <= kMaxQueuedBytes);
  });
  bytes_ += size_bytes;
  items_.push_back({.message = std::move(message),
                    .cancelled = std::make_shared<std::atomic<bool>>(false),
                    .size_bytes = size_bytes});
  filled_.notify_one();
  return true;
}

void MessageQueue::Push(std::shared_ptr<const CxxIndex> index) {
  const std::lock_guard lock(mutex_);
  items_.push_back(
      {.cancelled = std::make_shared<std::atomic<bool>>(false), .index = std::move(index)});
  filled_.notify_one();
}

void MessageQueue::Cancel(const RequestId& id) {
  const std::lock_guard lock(mutex_);
  for (const Item& item : items_) {
    if (item.message.id == id) item.cancelled->store(true);
  }
  if (running_ == id && running_token_) running_token_->store(true);
}

void MessageQueue::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  filled_.notify_all();
  emptied_.notify_all();
}

bool MessageQueue::Empty() {
  const std::lock_guard lock(mutex_);
  return items_.empty();
}

std::optional<MessageQueue::Item> MessageQueue::Take() {
  std::unique_lock lock(mutex_);
  running_.reset();
  running_token_.reset();
  filled_.wait(lock, [&] { return closed_ || !items_.empty(); });
  if (items_.empty()) return std::nullopt;
  Item item = std::move(items_.front());
  items_.pop_front();
  bytes_ -= item.size_bytes;
  if (item.message.id) --requests_;
  running_ = item.message.id;
  running_token_ = item.cancelled;
  emptied_.notify_one();
  return item;
}

}  // namespace fieldcost::lsp
