#include "common/recording/descriptions.h"

#include <algorithm>
#include <limits>

#include "common/recording/bytes.h"
#include "common/recording/recording_limits.h"

namespace fieldcost::recording {
namespace {

constexpr std::uint64_t kBegin = 0;
constexpr std::uint64_t kEnd = 1;

bool IsPrintable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte != 0x7f;
  });
}

std::uint64_t ZigZag(std::int64_t value) {
  return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
}
std::int64_t FromZigZag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1 ^ (~(value & 1) + 1));
}

// Our writers never produce invalid data, so the file is corrupt.
Status FromFile(Status status) {
  if (status || status.error().code == ErrorCode::kTooLarge) return status;
  return Corrupt(status.error().message);
}

Status DecodeStream(ByteReader& bytes, Descriptions& all) {
  Stream stream;
  const std::uint64_t kind = bytes.Varint();
  if (kind > UINT8_MAX) bytes.Fail();
  stream.kind = static_cast<StreamKind>(kind);
  stream.name = bytes.Text(kMaxNameBytes);
  const std::uint64_t count = bytes.Varint();
  if (count > tree::kMaxMetrics) bytes.Fail();
  for (std::uint64_t i = 0; i < count && bytes.ok(); ++i) {
    const std::uint64_t metric = bytes.Varint();
    if (metric >= tree::kMaxMetrics) bytes.Fail();
    stream.metrics.push_back(static_cast<std::uint16_t>(metric));
  }
  if (!bytes.ok()) return Corrupt("a stream is not well-formed");
  return FromFile(AddStream(stream, all));
}

}  // namespace

Status AddMetric(const tree::Metric& untrusted_metric, Descriptions& all) {
  FIELDCOST_TRY(tree::Validate(untrusted_metric));
  if (all.metrics.size() == tree::kMaxMetrics) {
    return Fail(ErrorCode::kTooLarge, "more than {} metrics", tree::kMaxMetrics);
  }
  for (const tree::Metric& metric : all.metrics) {
    if (metric.name == untrusted_metric.name) {
      return Fail(ErrorCode::kInvalidArgument, "two metrics have the name {}", metric.name);
    }
  }
  all.metrics.push_back(untrusted_metric);
  return {};
}

Status AddStream(const Stream& untrusted_stream, Descriptions& all) {
  if (all.streams.size() == kMaxStreams) {
    return Fail(ErrorCode::kTooLarge, "more than {} streams", kMaxStreams);
  }
  if (untrusted_stream.kind < StreamKind::kSamples || untrusted_stream.kind > StreamKind::kIdle) {
    return Fail(ErrorCode::kInvalidArgument, "a stream of no known kind");
  }
  if (untrusted_stream.name.size() > kMaxNameBytes || !IsPrintable(untrusted_stream.name)) {
    return Fail(ErrorCode::kInvalidArgument, "a stream's name is too long or not printable");
  }
  std::vector<std::uint16_t> metrics = untrusted_stream.metrics;
  std::sort(metrics.begin(), metrics.end());
  if (metrics.empty() || metrics.back() >= all.metrics.size() ||
      std::adjacent_find(metrics.begin(), metrics.end()) != metrics.end()) {
    return Fail(ErrorCode::kInvalidArgument, "a stream has no metrics, unknown ones, or one twice");
  }
  all.streams.push_back(untrusted_stream);
  return {};
}

Status AddRun(const Run& untrusted_run, Descriptions& all) {
  if (all.runs.size() == kMaxRuns) {
    return Fail(ErrorCode::kTooLarge, "more than {} runs", kMaxRuns);
  }
  if (untrusted_run.command.size() > kMaxCommandBytes || !IsPrintable(untrusted_run.command) ||
      untrusted_run.environment_hash.size() > kMaxHashBytes) {
    return Fail(ErrorCode::kInvalidArgument,
                "a run's command or hash is too long or not printable");
  }
  all.runs.push_back(untrusted_run);
  return {};
}

Status SetCount(const Count& untrusted_count, Descriptions& all) {
  if (untrusted_count.name.empty() || untrusted_count.name.size() > kMaxNameBytes ||
      !IsPrintable(untrusted_count.name)) {
    return Fail(ErrorCode::kInvalidArgument, "a count's name is too long or not printable");
  }
  for (Count& count : all.counts) {
    if (count.name != untrusted_count.name) continue;
    count.value = untrusted_count.value;
    return {};
  }
  if (all.counts.size() == kMaxCounts) {
    return Fail(ErrorCode::kTooLarge, "more than {} counts", kMaxCounts);
  }
  all.counts.push_back(untrusted_count);
  return {};
}

std::string EncodeMetrics(const Descriptions& all, std::size_t first_metric,
                          std::size_t first_stream) {
  std::string out;
  ByteWriter bytes(out);
  bytes.Varint(first_metric);
  bytes.Varint(all.metrics.size() - first_metric);
  for (std::size_t i = first_metric; i < all.metrics.size(); ++i) {
    bytes.Text(all.metrics[i].name);
    bytes.Varint(static_cast<std::uint64_t>(all.metrics[i].unit));
    bytes.Varint(all.metrics[i].per_sample);
  }
  bytes.Varint(first_stream);
  bytes.Varint(all.streams.size() - first_stream);
  for (std::size_t i = first_stream; i < all.streams.size(); ++i) {
    const Stream& stream = all.streams[i];
    bytes.Varint(static_cast<std::uint64_t>(stream.kind));
    bytes.Text(stream.name);
    bytes.Varint(stream.metrics.size());
    for (const std::uint16_t metric : stream.metrics) bytes.Varint(metric);
  }
  return out;
}

Status DecodeMetrics(std::string_view untrusted_payload, Descriptions& all) {
  ByteReader bytes(untrusted_payload);
  if (bytes.Varint() != all.metrics.size()) return Corrupt("metrics are missing before these");
  const std::uint64_t metric_count = bytes.Varint();
  for (std::uint64_t i = 0; i < metric_count && bytes.ok(); ++i) {
    tree::Metric metric;
    metric.name = bytes.Text(tree::kMaxMetricNameBytes);
    const std::uint64_t unit = bytes.Varint();
    if (unit > UINT8_MAX) bytes.Fail();
    metric.unit = static_cast<tree::Unit>(unit);
    metric.per_sample = bytes.Varint();
    if (!bytes.ok()) break;
    FIELDCOST_TRY(FromFile(AddMetric(metric, all)));
  }
  if (bytes.Varint() != all.streams.size()) return Corrupt("streams are missing before these");
  const std::uint64_t stream_count = bytes.Varint();
  for (std::uint64_t i = 0; i < stream_count && bytes.ok(); ++i) {
    FIELDCOST_TRY(DecodeStream(bytes, all));
  }
  if (!bytes.at_end()) return Corrupt("metrics are not well-formed");
  return {};
}

std::string EncodeRunBegin(const Descriptions& all, std::size_t run) {
  std::string out;
  ByteWriter bytes(out);
  bytes.Varint(run);
  bytes.Varint(kBegin);
  bytes.Varint(all.runs[run].begin_ns);
  bytes.Text(all.runs[run].command);
  bytes.Text(all.runs[run].environment_hash);
  return out;
}

std::string EncodeRunEnd(const Descriptions& all, std::size_t run) {
  std::string out;
  ByteWriter bytes(out);
  bytes.Varint(run);
  bytes.Varint(kEnd);
  bytes.Varint(all.runs[run].end_ns);
  bytes.Varint(ZigZag(all.runs[run].exit_status));
  return out;
}

Status DecodeRun(std::string_view untrusted_payload, Descriptions& all) {
  ByteReader bytes(untrusted_payload);
  const std::uint64_t number = bytes.Varint();
  const std::uint64_t what = bytes.Varint();
  const std::uint64_t time_ns = bytes.Varint();
  if (what == kBegin) {
    Run run{.begin_ns = time_ns};
    run.command = bytes.Text(kMaxCommandBytes);
    run.environment_hash = bytes.Text(kMaxHashBytes);
    if (!bytes.at_end() || number != all.runs.size()) return Corrupt("a run is not well-formed");
    return FromFile(AddRun(run, all));
  }
  const std::int64_t status = FromZigZag(bytes.Varint());
  if (what != kEnd || !bytes.at_end() || number >= all.runs.size() ||
      status < std::numeric_limits<std::int32_t>::min() ||
      status > std::numeric_limits<std::int32_t>::max()) {
    return Corrupt("a run's end is not well-formed");
  }
  Run& run = all.runs[number];
  if (run.has_ended || time_ns < run.begin_ns) return Corrupt("a run ends twice or too early");
  run.end_ns = time_ns;
  run.has_ended = true;
  run.exit_status = static_cast<std::int32_t>(status);
  return {};
}

std::string EncodeCount(const Count& count) {
  std::string out;
  ByteWriter(out).Text(count.name);
  ByteWriter(out).Varint(count.value);
  return out;
}

Status DecodeCount(std::string_view untrusted_payload, Descriptions& all) {
  ByteReader bytes(untrusted_payload);
  Count count;
  count.name = bytes.Text(kMaxNameBytes);
  count.value = bytes.Varint();
  if (!bytes.at_end()) return Corrupt("a count is not well-formed");
  return FromFile(SetCount(count, all));
}

std::string EncodeTreePart(const TreePart& part) {
  std::string out;
  ByteWriter bytes(out);
  bytes.Fixed(part.part);
  bytes.Fixed(part.parts);
  out += part.bytes;
  return out;
}

Result<TreePart> ReadTreePart(std::string_view untrusted_payload) {
  ByteReader bytes(untrusted_payload);
  TreePart part;
  part.part = bytes.Fixed<std::uint32_t>();
  part.parts = bytes.Fixed<std::uint32_t>();
  part.bytes = bytes.Bytes(bytes.left());
  if (!bytes.ok() || part.part >= part.parts) return Corrupt("a tree's part is not well-formed");
  return part;
}

}  // namespace fieldcost::recording
