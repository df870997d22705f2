#include "common/catalog/parallel_download.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "common/base/check.h"

namespace fieldcost::catalog {

Status StopSignal::MayGoOn() {
  if (is_stopped_) return Fail(ErrorCode::kInternal, "stopped because another file has failed");
  const MutexLock lock(mutex_);
  return may_go_on_ ? may_go_on_() : Status();
}

ParallelDownload::ParallelDownload(Mirrors& mirrors, MirrorConnection& first,
                                   http::ClientOptions options, StopSignal& stop,
                                   std::vector<File> files, std::size_t connections)
    : first_(first), stop_(stop), files_(std::move(files)), outcomes_(files_.size()) {
  const std::size_t count = std::min(connections, files_.size());
  if (count <= 1) return;
  others_.reserve(count - 1);
  for (std::size_t i = 1; i < count; ++i) others_.emplace_back(mirrors, options);
  try {
    threads_.emplace_back([this] { Run(first_); });
    for (MirrorConnection& connection : others_) {
      threads_.emplace_back([this, &connection] { Run(connection); });
    }
  } catch (const std::system_error&) {
    // Those that were started suffice.
  }
}

ParallelDownload::~ParallelDownload() { Stop(); }

ParallelDownload::Outcome ParallelDownload::Fetch(MirrorConnection& connection,
                                                  std::size_t number) {
  File& file = files_[number];
  Result<std::string> bytes = connection.FetchNamed(file.file, file.untrusted_part);
  return {.bytes = std::move(bytes), .untrusted_part = std::exchange(file.untrusted_part, {})};
}

void ParallelDownload::Run(MirrorConnection& connection) {
  for (;;) {
    std::size_t number = 0;
    {
      const MutexLock lock(mutex_);
      changed_.Wait(mutex_, [this]() FIELDCOST_REQUIRES(mutex_) {
        return is_stopping_ || begun_ == files_.size() || begun_ < taken_ + kMaxFilesAhead;
      });
      if (is_stopping_ || begun_ == files_.size()) return;
      number = begun_++;
    }
    Outcome outcome = Fetch(connection, number);
    const MutexLock lock(mutex_);
    outcomes_[number] = std::move(outcome);
    changed_.NotifyAll();
  }
}

ParallelDownload::Outcome ParallelDownload::Next() {
  MutexLock lock(mutex_);
  FIELDCOST_CHECK(taken_ < files_.size() && !is_stopping_);
  const std::size_t number = taken_;
  if (threads_.empty()) {
    begun_ = ++taken_;
    lock.Unlock();
    return Fetch(first_, number);
  }
  changed_.Wait(mutex_, [&]() FIELDCOST_REQUIRES(mutex_) { return outcomes_[number].has_value(); });
  Outcome outcome = *std::exchange(outcomes_[number], std::nullopt);
  ++taken_;
  changed_.NotifyAll();
  return outcome;
}

void ParallelDownload::Stop() {
  stop_.Stop();
  Finish();
}

void ParallelDownload::Finish() {
  {
    const MutexLock lock(mutex_);
    is_stopping_ = true;
    changed_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

std::optional<ParallelDownload::Outcome> ParallelDownload::Left(std::size_t number) {
  const MutexLock lock(mutex_);
  return std::exchange(outcomes_[number], std::nullopt);
}

}  // namespace fieldcost::catalog
