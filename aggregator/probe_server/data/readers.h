#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "aggregator/probe_server/data/data.h"
#include "common/base/mutex.h"

namespace fieldcost::probe_server {

// A pool of connections for reading while the writer writes. Thread-safe.
class Readers {
 public:
  // REQUIRES: the database exists.
  static Result<std::unique_ptr<Readers>> Open(const std::filesystem::path& file,
                                               std::size_t count);

  // Returns the connection to the pool on destruction.
  class Lease {
   public:
    Lease(Readers& readers, std::unique_ptr<Data> data)
        : readers_(readers), data_(std::move(data)) {}
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Data& operator*() { return *data_; }
    Data* operator->() { return data_.get(); }

   private:
    Readers& readers_;
    std::unique_ptr<Data> data_;
  };
  // Waits until a connection is free. A thread must not hold two leases.
  Lease Take();

 private:
  explicit Readers(std::vector<std::unique_ptr<Data>> free) : free_(std::move(free)) {}

  Mutex mutex_;
  CondVar changed_;
  std::vector<std::unique_ptr<Data>> free_ FIELDCOST_GUARDED_BY(mutex_);
};

}  // namespace fieldcost::probe_server
