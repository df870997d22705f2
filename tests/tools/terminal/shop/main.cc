// shop_index [BATCHES]: two threads create batches of sales; a queue passes them to the main
// thread, which compresses and stores them.
#include <fieldcost/probe.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <queue>
#include <thread>

#include "tests/tools/terminal/shop/events.h"
#include "tests/tools/terminal/shop/vault.h"

namespace shop {

template <typename Item>
class Queue {
 public:
  void Push(Item item) {
    const std::lock_guard lock(mutex_);
    items_.push(std::move(item));
    changed_.notify_one();
  }
  Item Take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !items_.empty(); });
    Item item = std::move(items_.front());
    items_.pop();
    return item;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::queue<Item> items_;
};

using Batch = std::pair<int, std::string>;

Batch Make(int number) {
  constexpr int kSales = 40;
  std::vector<events::Sale> sales;
  for (int sale = 0; sale < kSales; ++sale) sales.push_back(events::MakeSale(sale + number));
  const events::Serializer<std::string, events::Attributes> serializer;
  return {number, serializer.ToText(sales, events::IndexOf(sales))};
}

int Main(int batches) {
  FIELDCOST_EVENT(build, "index_built");
  constexpr int kMakers = 2;
  Queue<std::optional<Batch>> queue;
  std::vector<std::thread> makers;
  for (int maker = 0; maker < kMakers; ++maker) {
    makers.emplace_back([&queue, maker, batches] {
      for (int number = maker; number < batches; number += kMakers) queue.Push(Make(number));
      queue.Push(std::nullopt);
    });
  }
  FIELDCOST_POINT("makers started");
  vault::Store store;
  const vault::Compressor<std::vector> compressor;
  for (int ended = 0; ended < kMakers;) {
    const std::optional<Batch> batch = queue.Take();
    if (!batch) {
      ++ended;
      continue;
    }
    store.Put(std::to_string(batch->first), compressor.Pack({batch->second}));
  }
  FIELDCOST_POINT("all batches stored");
  for (std::thread& maker : makers) maker.join();
  std::printf("%ld\n", store.Count());
  return 0;
}

}  // namespace shop

int main(int argc, char** argv) {
  constexpr int kBatches = 60;
  return shop::Main(argc > 1 ? std::atoi(argv[1]) : kBatches);
}
