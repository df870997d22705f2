// A temporary file of records. Only the process that wrote it reads it, so integers have the
// machine's byte order.
//
//   file  := chunk*                          ; each of one partition; their places are in memory
//   chunk := (size:u32 record[size])*
#include "aggregator/publish/spill.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "aggregator/publish/publish_limits.h"
#include "common/base/check.h"

namespace fieldcost::publish {

Result<Spill> Spill::Create(const std::filesystem::path& directory, std::size_t partitions) {
  std::string name = (directory / "spill.XXXXXX").string();
  UniqueFd fd(::mkostemp(name.data(), O_CLOEXEC));
  if (!fd.valid()) return ErrnoError("create a temporary file in", directory, errno);
  ::unlink(name.c_str());
  return Spill(std::move(fd), directory, partitions);
}

Status Spill::Append(std::size_t partition, std::string_view record) {
  FIELDCOST_CHECK(partition < partitions_.size());
  Partition& place = partitions_[partition];
  const auto size = static_cast<std::uint32_t>(record.size());
  place.pending.append(reinterpret_cast<const char*>(&size), sizeof size);
  place.pending.append(record);
  return place.pending.size() >= kSpillChunkBytes ? Flush(place) : Status();
}

Status Spill::Flush(Partition& partition) {
  std::string_view rest = partition.pending;
  const Chunk chunk{.offset = size_, .size = rest.size()};
  while (!rest.empty()) {
    const ssize_t written =
        ::pwrite(fd_.get(), rest.data(), rest.size(), static_cast<off_t>(size_));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return ErrnoError("write a temporary file in", directory_, errno);
    size_ += static_cast<std::uint64_t>(written);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  partition.chunks.push_back(chunk);
  partition.pending.clear();
  return {};
}

Status Spill::ForEach(std::size_t partition, const Visitor& visit) {
  FIELDCOST_CHECK(partition < partitions_.size());
  for (const Chunk& chunk : partitions_[partition].chunks) {
    buffer_.resize(chunk.size);
    for (std::size_t have = 0; have < chunk.size;) {
      const ssize_t got = ::pread(fd_.get(), buffer_.data() + have, chunk.size - have,
                                  static_cast<off_t>(chunk.offset + have));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0)
        return ErrnoError("read a temporary file in", directory_, got < 0 ? errno : EIO);
      have += static_cast<std::size_t>(got);
    }
    FIELDCOST_TRY(VisitRecords(buffer_, visit));
  }
  return VisitRecords(partitions_[partition].pending, visit);
}

Status Spill::VisitRecords(std::string_view bytes, const Visitor& visit) const {
  while (!bytes.empty()) {
    std::uint32_t size = 0;
    std::memcpy(&size, bytes.data(), sizeof size);  // trusted, since Append() wrote it
    FIELDCOST_TRY(visit(bytes.substr(sizeof size, size)));
    bytes.remove_prefix(sizeof size + size);
  }
  return {};
}

}  // namespace fieldcost::publish
