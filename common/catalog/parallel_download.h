#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/catalog/mirrors.h"

namespace fieldcost::catalog {

inline constexpr std::size_t kSyncConnections = 4;
// Files being fetched, or fetched and not yet taken; limits memory to as many of their size.
inline constexpr std::size_t kMaxFilesAhead = kSyncConnections;

// Calls a user's function from several threads, one at a time, and stops all of them. Thread-safe.
class StopSignal {
 public:
  explicit StopSignal(std::function<Status()> may_go_on) : may_go_on_(std::move(may_go_on)) {}

  // For http::ClientOptions::may_go_on.
  Status MayGoOn() FIELDCOST_EXCLUDES(mutex_);
  void Stop() { is_stopped_ = true; }

 private:
  std::atomic<bool> is_stopped_ = false;
  Mutex mutex_;
  const std::function<Status()> may_go_on_ FIELDCOST_GUARDED_BY(mutex_);  // may be null
};

// Fetches files over several connections at a time, each of which is kept for the next file. The
// results come in the order of the files, whichever arrives first. Next(), Finish() and Stop()
// belong to one thread.
class ParallelDownload {
 public:
  struct File {
    NamedFile file;
    std::string untrusted_part;  // as for MirrorConnection::FetchNamed()
  };
  struct Outcome {
    Result<std::string> bytes;   // verified
    std::string untrusted_part;  // if that failed
  };

  // `first` is used as one of at most `connections`; the others are made with `options`, whose
  // may_go_on must be that of `stop`. All references must outlive it. With one connection, or if no
  // thread can be started, Next() fetches by itself.
  ParallelDownload(Mirrors& mirrors, MirrorConnection& first, http::ClientOptions options,
                   StopSignal& stop, std::vector<File> files, std::size_t connections);
  ~ParallelDownload();  // calls Stop()
  ParallelDownload(const ParallelDownload&) = delete;
  ParallelDownload& operator=(const ParallelDownload&) = delete;

  // Waits for the next file. REQUIRES: fewer calls than files, and not stopped.
  Outcome Next() FIELDCOST_EXCLUDES(mutex_);

  // Begins no further file, and waits for those that are being fetched. Idempotent.
  void Finish() FIELDCOST_EXCLUDES(mutex_);
  // The same, but aborts what is being fetched.
  void Stop() FIELDCOST_EXCLUDES(mutex_);
  // After either: the outcome of a file that Next() has not returned; nullopt if it was not begun.
  std::optional<Outcome> Left(std::size_t number) FIELDCOST_EXCLUDES(mutex_);

 private:
  void Run(MirrorConnection& connection) FIELDCOST_EXCLUDES(mutex_);
  Outcome Fetch(MirrorConnection& connection, std::size_t number);

  MirrorConnection& first_;
  StopSignal& stop_;
  std::vector<File> files_;  // each is used by one thread at a time
  std::vector<MirrorConnection> others_;
  Mutex mutex_;
  CondVar changed_;
  std::vector<std::optional<Outcome>> outcomes_ FIELDCOST_GUARDED_BY(mutex_);
  std::size_t begun_ FIELDCOST_GUARDED_BY(mutex_) = 0;
  std::size_t taken_ FIELDCOST_GUARDED_BY(mutex_) = 0;
  bool is_stopping_ FIELDCOST_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace fieldcost::catalog
