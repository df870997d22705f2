#include "tests/support/run_file_writer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cstring>

#include "common/base/check.h"
#include "common/base/file.h"

namespace fieldcost::testing {
namespace {

template <std::size_t kSize>
void Put(const std::string& text, char (&field)[kSize]) {
  FIELDCOST_CHECK(text.size() < kSize);
  std::memcpy(field, text.data(), text.size());
}

shm::RunBucket Updated(const shm::RunBucket& bucket, std::uint64_t value, std::uint64_t weight) {
  __extension__ using Wide = unsigned __int128;
  const Wide squares =
      ((Wide{bucket.sumsq_high} << 64) | bucket.sumsq_low) + Wide{value} * Wide{value} * weight;
  return {.count = bucket.count + weight,
          .sum = bucket.sum + value * weight,
          .sumsq_low = static_cast<std::uint64_t>(squares),
          .sumsq_high = static_cast<std::uint64_t>(squares >> 64)};
}

}  // namespace

RunFileWriter::RunFileWriter(const std::filesystem::path& path, const RunFileOptions& options)
    : path_(path),
      capacity_(options.pick_capacity != 0 ? options.pick_capacity
                                           : static_cast<std::uint32_t>(options.picks.size())),
      metrics_(static_cast<std::uint32_t>(std::popcount(options.picks[0].metrics))) {
  size_ = shm::RunFileBytes(capacity_, metrics_);
  {
    const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    FIELDCOST_CHECK(fd.valid() && ::ftruncate(fd.get(), static_cast<off_t>(size_)) == 0);
    if (options.living) {
      struct flock lock {};
      lock.l_type = F_WRLCK;
      lock.l_whence = SEEK_SET;
      FIELDCOST_CHECK(::fcntl(fd.get(), F_OFD_SETLK, &lock) == 0);
    }
    Map(fd.get());
  }
  shm::RunHeader& to = header();
  std::memcpy(to.magic, shm::kRunMagic, sizeof to.magic);
  to.version = shm::kRunVersion;
  to.header_bytes = sizeof to;
  to.size_bytes = size_;
  to.flags = options.forced ? uint32_t{shm::kRunForced} : 0;
  to.request_id = options.request_id;
  if (options.asked) to.flags |= uint32_t{shm::kRunAsked};
  to.pick_capacity = capacity_;
  to.selection_per_65536 = 65536;
  to.start_unix_ns = options.start_unix_ns;
  to.metrics_per_pick = metrics_;
  to.thread_slots = shm::kThreadSlots;
  to.counters_offset = shm::CountersOffset(capacity_);
  to.cells_offset = shm::CellsOffset(capacity_);
  for (const WrittenPick& from : options.picks) AddPick(from);
  to.attached = 1;
  to.complete = 1;
}

RunFileWriter::~RunFileWriter() { ::munmap(mapped_, size_); }

void RunFileWriter::Map(int fd) {
  mapped_ = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  FIELDCOST_CHECK(mapped_ != MAP_FAILED && ::madvise(mapped_, size_, MADV_DONTFORK) == 0);
}

void RunFileWriter::End() {
  ::munmap(mapped_, size_);
  const UniqueFd fd(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
  FIELDCOST_CHECK(fd.valid());
  Map(fd.get());
}

void RunFileWriter::AddPick(const WrittenPick& from) {
  FIELDCOST_CHECK(header().pick_count < capacity_);
  shm::Pick& to = pick(header().pick_count);
  Put(from.soname, to.soname);
  Put(from.symbol, to.symbol);
  Put(from.symbol_version, to.symbol_version);
  Put(from.module_path, to.module_path);
  std::memcpy(to.build_id, from.build_id.data(), from.build_id.size());
  to.build_id_bytes = static_cast<std::uint32_t>(from.build_id.size());
  to.metrics = from.metrics;
  to.start_unix_ns = header().start_unix_ns;
  to.weight_left = shm::kFullWeight;
  to.watched_per_65536 = shm::kCertain;
  to.weight = shm::kFullWeight;
  to.slots = 1;
  header().pick_count += 1;
}

shm::Pick& RunFileWriter::pick(std::uint32_t index) {
  return reinterpret_cast<shm::Pick*>(&header() + 1)[index];
}

shm::Cell& RunFileWriter::cell(std::uint32_t slot, std::uint32_t pick, std::uint32_t metric_index) {
  return *reinterpret_cast<shm::Cell*>(
      static_cast<char*>(mapped_) + shm::CellOffset(capacity_, metrics_, slot, pick, metric_index));
}

shm::CallCounter& RunFileWriter::counter(std::uint32_t slot, std::uint32_t pick) {
  return *reinterpret_cast<shm::CallCounter*>(static_cast<char*>(mapped_) +
                                              shm::CounterOffset(capacity_, slot, pick));
}

void RunFileWriter::Add(std::uint64_t value, std::uint32_t slot, std::uint32_t pick,
                        std::uint32_t metric_index, std::uint64_t weight) {
  shm::Cell& to = cell(slot, pick, metric_index);
  shm::RunBucket& bucket = to.buckets[shm::SlotOf(value)];
  to.staged = Updated(bucket, value, weight);
  to.staged_untimed = to.untimed + weight - 1;
  to.sequence += 1;
  to.staged_slot = shm::SlotOf(value) + 1;
  bucket = to.staged;
  to.untimed = to.staged_untimed;
  to.staged_slot = 0;
  to.sequence += 1;
}

void RunFileWriter::AddAndDie(std::uint64_t value, std::uint64_t weight) {
  shm::Cell& to = cell();
  shm::RunBucket& bucket = to.buckets[shm::SlotOf(value)];
  to.staged = Updated(bucket, value, weight);
  to.staged_untimed = to.untimed + weight - 1;
  to.sequence += 1;
  to.staged_slot = shm::SlotOf(value) + 1;
  bucket.count = to.staged.count;
}

}  // namespace fieldcost::testing
