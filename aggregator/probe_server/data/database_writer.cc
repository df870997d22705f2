#include "aggregator/probe_server/data/database_writer.h"

#include <future>
#include <utility>

#include "common/base/log.h"

namespace fieldcost::probe_server {
namespace {

// More than the number of threads that may wait for it.
constexpr std::size_t kMaxWaiting = kMaxPosted + 64;
// Maximum number per transaction, because each job waits for all others and for the sync.
constexpr std::size_t kMaxTogether = 64;

// Whether the disk rather than the request caused the error.
bool IsOfDisk(ErrorCode code) { return code == ErrorCode::kIo || code == ErrorCode::kCorrupt; }

Error HasFailed() {
  return Fail(ErrorCode::kUnavailable, "the database has failed; nothing more is written");
}

}  // namespace

Writer::Writer(std::unique_ptr<Data> data)
    : data_(std::move(data)), thread_([this] { RunThread(); }) {}

Writer::~Writer() { Stop(); }

bool Writer::Post(Work work, Done done) {
  return Enqueue(std::move(work), std::move(done), kMaxPosted);
}

bool Writer::Enqueue(Work work, Done done, std::size_t limit) {
  const MutexLock lock(mutex_);
  if (stopping_ || waiting_.size() >= limit) return false;
  waiting_.push_back({.work = std::move(work), .done = std::move(done)});
  changed_.NotifyOne();
  return true;
}

Status Writer::Run(Work work) {
  std::promise<Status> promise;
  std::future<Status> future = promise.get_future();
  const bool taken = Enqueue(
      std::move(work), [&promise](Status status) { promise.set_value(std::move(status)); },
      kMaxWaiting);
  if (!taken) return Fail(ErrorCode::kUnavailable, "too many writes are waiting; try again later");
  return future.get();
}

bool Writer::healthy() const {
  const MutexLock lock(mutex_);
  return healthy_;
}

void Writer::Stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

void Writer::RunThread() {
  MutexLock lock(mutex_);
  for (;;) {
    changed_.Wait(mutex_,
                  [this]() FIELDCOST_REQUIRES(mutex_) { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    std::deque<Job> jobs;
    while (!waiting_.empty() && jobs.size() < kMaxTogether) {
      jobs.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
    }
    lock.Unlock();
    Write(jobs);
    lock.Lock();
  }
}

void Writer::NoteFailure(const Status& status) {
  // Another program may hold the database for a while.
  if (status || status.error().code == ErrorCode::kUnavailable) return;
  LogEvent(LogLevel::kError, "the database has failed", {{"error", status.error().message}});
  const MutexLock lock(mutex_);
  healthy_ = false;
}

Status Writer::WriteTogether(std::deque<Job>& jobs) {
  if (!healthy()) return HasFailed();
  sqlite::Database& database = data_->database();
  FIELDCOST_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::Begin(database));
  for (Job& job : jobs) {
    FIELDCOST_TRY(database.Execute("SAVEPOINT job"));
    job.status = job.work(*data_);
    if (!job.status) {
      if (IsOfDisk(job.status.error().code)) return job.status;
      FIELDCOST_TRY(database.Execute("ROLLBACK TO job"));
    }
    FIELDCOST_TRY(database.Execute("RELEASE job"));
  }
  return data_->Commit(transaction);
}

void Writer::Write(std::deque<Job>& jobs) {
  const Status status = WriteTogether(jobs);
  NoteFailure(status);
  for (Job& job : jobs) job.done(status ? job.status : status);
}

}  // namespace fieldcost::probe_server
