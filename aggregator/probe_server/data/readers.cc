#include "aggregator/probe_server/data/readers.h"

#include <utility>

namespace fieldcost::probe_server {

Result<std::unique_ptr<Readers>> Readers::Open(const std::filesystem::path& file,
                                               std::size_t count) {
  std::vector<std::unique_ptr<Data>> connections;
  for (std::size_t i = 0; i < count; ++i) {
    // Readers of a write-ahead log also write, namely to the memory shared with the writer.
    FIELDCOST_ASSIGN(std::unique_ptr<Data> data,
                     Data::Open(file, sqlite::Database::Access::kWrite));
    FIELDCOST_TRY(data->database().Execute("PRAGMA query_only = ON"));
    connections.push_back(std::move(data));
  }
  return std::unique_ptr<Readers>(new Readers(std::move(connections)));
}

Readers::Lease Readers::Take() {
  const MutexLock lock(mutex_);
  changed_.Wait(mutex_, [this]() FIELDCOST_REQUIRES(mutex_) { return !free_.empty(); });
  std::unique_ptr<Data> data = std::move(free_.back());
  free_.pop_back();
  return {*this, std::move(data)};
}

Readers::Lease::~Lease() {
  const MutexLock lock(readers_.mutex_);
  readers_.free_.push_back(std::move(data_));
  readers_.changed_.NotifyOne();
}

}  // namespace fieldcost::probe_server
