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

shm::RunBucket Updated(const shm::RunBucket& bucket, std::uint64_t value) {
  __extension__ using Wide = unsigned __int128;
  const Wide squares =
      ((Wide{bucket.sumsq_high} << 64) | bucket.sumsq_low) + Wide{value} * Wide{value};
  return {.count = bucket.count + 1,
          .sum = bucket.sum + value,
          .sumsq_low = static_cast<std::uint64_t>(squares),
          .sumsq_high = static_cast<std::uint64_t>(squares >> 64)};
}

}  // namespace

RunFileWriter::RunFileWriter(const std::filesystem::path& path, const RunFileOptions& options)
    : path_(path) {
  const auto picks = static_cast<std::uint32_t>(options.picks.size());
  const auto metrics = static_cast<std::uint32_t>(std::popcount(options.picks[0].metrics));
  size_ = shm::CellOffset(picks, metrics, shm::kThreadSlots, 0, 0);
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  FIELDCOST_CHECK(fd.valid() && ::ftruncate(fd.get(), static_cast<off_t>(size_)) == 0);
  mapped_ = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  FIELDCOST_CHECK(mapped_ != MAP_FAILED);
  shm::RunHeader& to = header();
  std::memcpy(to.magic, shm::kRunMagic, sizeof to.magic);
  to.version = shm::kRunVersion;
  to.header_bytes = sizeof to;
  to.size_bytes = size_;
  to.flags = options.forced ? uint32_t{shm::kRunForced} : 0;
  to.pid = options.pid;
  to.pick_count = picks;
  to.process_start_ticks = options.process_start_ticks;
  to.start_unix_ns = options.start_unix_ns;
  to.metrics_per_pick = metrics;
  to.thread_slots = shm::kThreadSlots;
  to.cells_offset = shm::CellsOffset(picks);
  for (std::uint32_t i = 0; i < picks; ++i) {
    const WrittenPick& from = options.picks[i];
    Put(from.soname, pick(i).soname);
    Put(from.symbol, pick(i).symbol);
    Put(from.symbol_version, pick(i).symbol_version);
    Put(from.module_path, pick(i).module_path);
    std::memcpy(pick(i).build_id, from.build_id.data(), from.build_id.size());
    pick(i).build_id_bytes = static_cast<std::uint32_t>(from.build_id.size());
    pick(i).metrics = from.metrics;
  }
  to.complete = 1;
}

RunFileWriter::~RunFileWriter() { ::munmap(mapped_, size_); }

shm::Pick& RunFileWriter::pick(std::uint32_t index) {
  return reinterpret_cast<shm::Pick*>(&header() + 1)[index];
}

shm::Cell& RunFileWriter::cell(std::uint32_t slot, std::uint32_t pick, std::uint32_t metric_index) {
  return *reinterpret_cast<shm::Cell*>(
      static_cast<char*>(mapped_) +
      shm::CellOffset(header().pick_count, header().metrics_per_pick, slot, pick, metric_index));
}

void RunFileWriter::Add(std::uint64_t value, std::uint32_t slot, std::uint32_t pick,
                        std::uint32_t metric_index) {
  shm::Cell& to = cell(slot, pick, metric_index);
  shm::RunBucket& bucket = to.buckets[shm::SlotOf(value)];
  to.staged = Updated(bucket, value);
  to.sequence += 1;
  to.staged_slot = shm::SlotOf(value) + 1;
  bucket = to.staged;
  to.staged_slot = 0;
  to.sequence += 1;
}

void RunFileWriter::AddAndDie(std::uint64_t value) {
  shm::Cell& to = cell();
  shm::RunBucket& bucket = to.buckets[shm::SlotOf(value)];
  to.staged = Updated(bucket, value);
  to.sequence += 1;
  to.staged_slot = shm::SlotOf(value) + 1;
  bucket.count = to.staged.count;
}

}  // namespace fieldcost::testing
