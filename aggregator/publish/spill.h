#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/file.h"
#include "common/base/result.h"

namespace fieldcost::publish {

// Stores records in a temporary file, to be read back by partition. Meant for data that is produced
// in one order, needed in another, and too large for memory. The file is unnamed, so it never
// outlives the process. Not thread-safe.
class Spill {
 public:
  static Result<Spill> Create(const std::filesystem::path& directory, std::size_t partitions);

  // REQUIRES: partition < partitions. kIo: the disk is full, or worse.
  Status Append(std::size_t partition, std::string_view record);

  // Visits the records of a partition in the order in which they were added. An error of `visit`
  // ends the iteration and is returned. REQUIRES: as Append().
  using Visitor = std::function<Status(std::string_view record)>;
  Status ForEach(std::size_t partition, const Visitor& visit);

 private:
  struct Chunk {
    std::uint64_t offset = 0;
    std::size_t size = 0;
  };
  struct Partition {
    std::vector<Chunk> chunks;
    std::string pending;  // not yet in the file
  };
  Spill(UniqueFd fd, std::filesystem::path directory, std::size_t partitions)
      : fd_(std::move(fd)), directory_(std::move(directory)), partitions_(partitions) {}

  Status Flush(Partition& partition);
  Status VisitRecords(std::string_view bytes, const Visitor& visit) const;

  UniqueFd fd_;
  std::filesystem::path directory_;
  std::vector<Partition> partitions_;
  std::uint64_t size_ = 0;
  std::string buffer_;
};

}  // namespace fieldcost::publish
