#include <fmt/format.h>
#include <rocksdb/db.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/options.h>
#include <rocksdb/write_batch.h>

#include <cstdio>
#include <memory>

#include "aggregator/store/store_row_codec.h"
#include "tests/bench/aggregator_bench.h"

namespace fieldcost::bench {
namespace {

using Steady = std::chrono::steady_clock;

double Since(Steady::time_point start) {
  return std::chrono::duration<double>(Steady::now() - start).count();
}

class AddRows final : public rocksdb::AssociativeMergeOperator {
 public:
  bool Merge(const rocksdb::Slice&, const rocksdb::Slice* existing, const rocksdb::Slice& value,
             std::string* result, rocksdb::Logger*) const override {
    store::CompactRow sums;
    store::CompactRow more;
    if (existing != nullptr && !store::DecodeRowValue({existing->data(), existing->size()}, sums)) {
      return false;
    }
    if (!store::DecodeRowValue({value.data(), value.size()}, more)) return false;
    sums.Add(more);
    result->clear();
    store::AppendRowValue(sums, *result);
    return true;
  }
  const char* Name() const override { return "AddRows"; }
};

Error ErrorOf(const rocksdb::Status& status) {
  return Fail(ErrorCode::kIo, "rocksdb: {}", status.ToString());
}

// The same key in printable characters.
void AssignText(const stats::RowKey& key, std::string& text) {
  text.clear();
  fmt::format_to(std::back_inserter(text), "{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", key.api.soname,
                 key.api.package_version, key.api.build_id, key.api.symbol, key.api.symbol_version,
                 static_cast<unsigned>(key.metric), key.hardware.architecture,
                 key.hardware.cpu_family, key.hardware.log2_cores, key.hardware.log2_memory_mib,
                 key.hardware.os_release, key.week);
}

// One bucket as peers receive it: three 64-bit numbers, with squares in units of 2^16 so that they
// fit.
struct PeerBucket {
  std::string_view key;
  unsigned slot = 0;
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  std::uint64_t squares = 0;
};

// Formats a batch for a peer.
class PeerFormat {
 public:
  virtual ~PeerFormat() = default;
  virtual void Add(const PeerBucket& bucket) = 0;
  virtual void End(std::FILE* out) = 0;
};

class Postgres final : public PeerFormat {
 public:
  void Add(const PeerBucket& b) override {
    fmt::format_to(std::back_inserter(rows_), "{}\t{}\t{}\t{}\t{}\n", b.key, b.slot, b.count, b.sum,
                   b.squares);
  }
  void End(std::FILE* out) override {
    // Sorted, for locality in the index. The commit empties the temporary table.
    fmt::print(out,
               "begin;\ncopy incoming from stdin;\n{}\\.\n"
               "insert into sums select * from incoming order by key, slot on conflict (key, slot) "
               "do update set calls = sums.calls + excluded.calls, total = sums.total + "
               "excluded.total, squares = sums.squares + excluded.squares;\ncommit;\n",
               rows_);
    rows_.clear();
  }

 private:
  std::string rows_;
};

// One script call per batch: it is atomic, and its one reply acknowledges the batch. Each key is a
// hash with three fields per bucket.
class Redis final : public PeerFormat {
 public:
  void Add(const PeerBucket& b) override {
    for (const auto& text :
         {std::string(b.key), fmt::format("{}", b.slot), fmt::format("{}", b.count),
          fmt::format("{}", b.sum), fmt::format("{}", b.squares)}) {
      fmt::format_to(std::back_inserter(arguments_), "${}\r\n{}\r\n", text.size(), text);
    }
    count_ += 5;
  }
  void End(std::FILE* out) override {
    constexpr std::string_view kScript =
        "local call = redis.call for i = 1, #ARGV, 5 do "
        "local k, s = ARGV[i], ARGV[i + 1] "
        "call('HINCRBY', k, s, ARGV[i + 2]) "
        "call('HINCRBY', k, s .. 't', ARGV[i + 3]) "
        "call('HINCRBY', k, s .. 'q', ARGV[i + 4]) end return 1";
    fmt::print(out, "*{}\r\n$4\r\nEVAL\r\n${}\r\n{}\r\n$1\r\n0\r\n{}", count_ + 3, kScript.size(),
               kScript, arguments_);
    arguments_.clear();
    count_ = 0;
  }

 private:
  std::string arguments_;
  std::size_t count_ = 0;
};

// RowBinary; each batch follows a decimal line with its size in bytes.
class ClickHouse final : public PeerFormat {
 public:
  void Add(const PeerBucket& b) override {
    const auto append = [this](const auto& value) {
      rows_.append(reinterpret_cast<const char*>(&value), sizeof value);
    };
    for (std::size_t size = b.key.size();; size >>= 7) {  // LEB128
      append(static_cast<std::uint8_t>((size & 0x7f) | (size >= 0x80 ? 0x80 : 0)));
      if (size < 0x80) break;
    }
    rows_.append(b.key);
    append(static_cast<std::uint8_t>(b.slot));
    append(b.count);
    append(b.sum);
    append(b.squares);
  }
  void End(std::FILE* out) override {
    fmt::print(out, "{}\n", rows_.size());
    std::fwrite(rows_.data(), 1, rows_.size(), out);
    rows_.clear();
  }

 private:
  std::string rows_;
};

Result<std::unique_ptr<PeerFormat>> FormatOf(std::string_view peer) {
  if (peer == "postgres") return std::make_unique<Postgres>();
  if (peer == "redis") return std::make_unique<Redis>();
  if (peer == "clickhouse") return std::make_unique<ClickHouse>();
  return Fail(ErrorCode::kInvalidArgument, "no peer called {}", peer);
}

}  // namespace

Status RunMerge(std::span<const SentBatch> batches, const Path& directory, double max_seconds) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.merge_operator = std::make_shared<AddRows>();
  options.write_buffer_size = 64 << 20;
  rocksdb::DB* raw = nullptr;
  if (const auto status = rocksdb::DB::Open(options, directory.string(), &raw); !status.ok()) {
    return ErrorOf(status);
  }
  const std::unique_ptr<rocksdb::DB> db(raw);
  rocksdb::WriteOptions write;
  write.sync = true;
  rocksdb::WriteBatch changes;
  store::CompactRow row;
  std::string value;
  std::uint64_t adds = 0;
  std::uint64_t done = 0;
  const auto start = Steady::now();
  const double start_cpu = ProcessSeconds();
  for (const SentBatch& batch : batches) {
    if (Since(start) > max_seconds) break;
    FIELDCOST_TRY(ForEachRow(
        {&batch, 1},
        [&](const DecodedRow& decoded) -> Status {
          row.SetHistogram(*decoded.histogram);
          adds += row.buckets.size();
          value.clear();
          store::AppendRowValue(row, value);
          const rocksdb::Slice key(decoded.key_bytes.data(), decoded.key_bytes.size());
          const auto status = changes.Merge(key, value);
          return status.ok() ? Status() : Status(ErrorOf(status));
        },
        [] { return Status(); }));
    if (const auto status = db->Write(write, &changes); !status.ok()) return ErrorOf(status);
    changes.Clear();
    ++done;
  }
  // Before this, the operator has hardly been called: operands are stored side by side.
  if (const auto status = db->CompactRange({}, nullptr, nullptr); !status.ok()) {
    return ErrorOf(status);
  }
  fmt::print("{{\"batches\":{},\"adds\":{},\"seconds\":{:.4f},\"cpu_seconds\":{:.4f}}}\n", done,
             adds, Since(start), ProcessSeconds() - start_cpu);
  return {};
}

Status WritePeerFile(std::span<const SentBatch> batches, std::string_view peer, const Path& file) {
  FIELDCOST_ASSIGN(const auto format, FormatOf(peer));
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::fopen(file.c_str(), "wb"),
                                                            &std::fclose);
  if (out == nullptr) return Fail(ErrorCode::kIo, "cannot write {}", file.string());
  store::CompactRow row;
  std::string key;
  std::uint64_t adds = 0;
  std::uint64_t calls = 0;
  FIELDCOST_TRY(ForEachRow(
      batches,
      [&](const DecodedRow& decoded) -> Status {
        row.SetHistogram(*decoded.histogram);
        AssignText(*decoded.key, key);
        for (const store::CompactBucket& bucket : row.buckets) {
          format->Add({.key = key,
                       .slot = bucket.slot,
                       .count = bucket.sums.count,
                       .sum = static_cast<std::uint64_t>(bucket.sums.sum),
                       .squares = static_cast<std::uint64_t>(bucket.sums.sum_of_squares >> 16)});
          calls += bucket.sums.count;
        }
        adds += row.buckets.size();
        return {};
      },
      [&]() -> Status {
        format->End(out.get());
        return {};
      }));
  if (std::fflush(out.get()) != 0) return Fail(ErrorCode::kIo, "cannot write {}", file.string());
  fmt::print("{{\"batches\":{},\"adds\":{},\"calls\":{}}}\n", batches.size(), adds, calls);
  return {};
}

}  // namespace fieldcost::bench
