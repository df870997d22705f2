#pragma once

#include <cstddef>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <thread>

#include "aggregator/probe_server/data/data.h"
#include "common/base/mutex.h"
#include "common/base/result.h"

namespace fieldcost::probe_server {

inline constexpr std::size_t kMaxPosted = 128;  // decoded batches of up to several MiB each

// The only writer while the server runs: a thread that takes all waiting work and commits it
// together, because every commit costs a disk sync. Thread-safe.
class Writer {
 public:
  // Runs in a transaction; if it fails, it leaves no trace and does not affect other work.
  using Work = std::function<Status(Data&)>;
  // Receives the result after the commit. Must neither throw nor block.
  using Done = std::function<void(Status)>;

  explicit Writer(std::unique_ptr<Data> data);
  ~Writer();  // like Stop()
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Returns false and drops both if kMaxPosted jobs are waiting or the writer has been stopped.
  bool Post(Work work, Done done);
  // Waits for the result. Accepts work even if Post() does not, so that users can log in while
  // batches pile up. kUnavailable: too many jobs are waiting. Must not be called from `work` or
  // `done`.
  Status Run(Work work);

  // False once a disk read or write has failed: nothing more is written or acknowledged.
  bool healthy() const;

  // Finishes the waiting jobs and the thread. Idempotent.
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
  mutable Mutex mutex_;
  CondVar changed_;
  std::deque<Job> waiting_ FIELDCOST_GUARDED_BY(mutex_);
  bool stopping_ FIELDCOST_GUARDED_BY(mutex_) = false;
  bool healthy_ FIELDCOST_GUARDED_BY(mutex_) = true;
  std::thread thread_;
};

}  // namespace fieldcost::probe_server
