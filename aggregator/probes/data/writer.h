#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "aggregator/probes/data/data.h"
#include "common/base/result.h"

namespace fieldcost::probe_server {

inline constexpr std::size_t kMaxPosted = 128;  // decoded batches: up to some MiB each

// The only one that writes while the server runs: a thread that takes what waits and commits it
// together, since a commit costs a disk sync. Thread-safe.
class Writer {
 public:
  // Done in a transaction; what fails leaves nothing, and does not keep others from being written.
  using Work = std::function<Status(Data&)>;
  // Hears, after the commit, what came of it. Must not throw, nor block.
  using Done = std::function<void(Status)>;

  explicit Writer(std::unique_ptr<Data> data);
  ~Writer();  // as Stop()
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // False, and both are dropped, if kMaxPosted wait or it was stopped.
  bool Post(Work work, Done done);
  // Waits for it; is taken even where Post() is not, so that people get in while batches pile up.
  // kUnavailable: too much waits. Never called from `work` or `done`.
  Status Run(Work work);

  // A read or write of the disk has failed: nothing is written, nor acknowledged, any more.
  bool healthy() const;

  // Finishes what waits, and the thread. Idempotent.
  void Stop();

 private:
  struct Job {
    Work work;
    Done done;
    Status status;
  };
  bool Enqueue(Work work, Done done, std::size_t limit);
  void RunThread();
  void Write(std::deque<Job>& jobs);
  Status WriteTogether(std::deque<Job>& jobs);
  void NoteFailure(const Status& status);

  const std::unique_ptr<Data> data_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> waiting_;
  bool stopping_ = false;
  bool healthy_ = true;
  std::thread thread_;
};

}  // namespace fieldcost::probe_server
