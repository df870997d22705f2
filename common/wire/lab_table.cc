// A lab table (wire.proto has the field numbers; numbers are packed varints). Each name in braces
// is a column; those of a group are of one length.
//
//   file     := one zstd frame of LabTable
//   LabTable := kind = "fieldcost lab table", format_version = 1,
//               rows: Fragment,              ; its RowTable has exactly the APIs below
//               api { is_own calls log_count log_sum log_squares first_call_bytes other_bytes
//                     argument_count           ; the next argument_count arguments
//                     total_count }*,          ; the next total_count totals
//               argument { number bucket_count }*,    ; ascending in an API; the next inputs
//               input { slot count sum squares }*,    ; ascending slots in an argument, none all 0
//               total { metric least most }*,         ; ascending metrics in an API
//               stack { parent api calls bytes }*,    ; depth first; parent: 0, or 1 + its index
//               pair { outer inner }*,                ; ascending
//               LabPart*                              ; ascending by hash
//   LabPart  := content_sha256[32] name seed rounds runs left_out started_us environment
//               counted_runs apis
//
// At most 32 MiB compressed and 64 MiB uncompressed; wire_limits.h limits their number.
#include "common/wire/lab_table.h"

#include <algorithm>
#include <initializer_list>

#include "common/base/text.h"
#include "common/crypto/sha256.h"
#include "common/wire/fragment_rows.h"
#include "common/wire/wire.pb.h"
#include "common/wire/wire_limits.h"
#include "common/wire/zstd_frame.h"

namespace fieldcost::wire {
namespace {

constexpr std::string_view kKind = "fieldcost lab table";
constexpr std::string_view kBeginning =
    "\x0a\x13"
    "fieldcost lab table";  // the field with it
static_assert(kBeginning.size() == kKind.size() + 2 && kKind.size() == 0x13);

constexpr int kLabCompressionLevel = 3;
constexpr DecompressionLimits kLabLimits = {.max_compressed_bytes = kMaxLabBytes,
                                            .max_decoded_bytes = kMaxLabDecodedBytes};

void WriteArgument(const stats::ShapeArgument& argument, proto::LabTable& message) {
  std::uint32_t buckets = 0;
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
    const stats::LogSums& sums = argument.sums.by_bucket[slot];
    if (sums == stats::LogSums{}) continue;
    message.add_input_slot(slot);
    message.add_input_count(sums.count);
    message.add_input_sum(sums.sum);
    message.add_input_squares(sums.sum_squares);
    ++buckets;
  }
  message.add_argument_number(argument.number);
  message.add_argument_bucket_count(buckets);
}

void WriteApi(const LabApi& api, proto::LabTable& message) {
  message.add_api_is_own(api.is_own);
  message.add_api_calls(api.calls);
  message.add_api_log_count(api.log_cost.count);
  message.add_api_log_sum(api.log_cost.sum);
  message.add_api_log_squares(api.log_cost.sum_squares);
  message.add_api_first_call_bytes(api.first_call_bytes);
  message.add_api_other_bytes(api.other_bytes);
  message.add_api_argument_count(static_cast<std::uint32_t>(api.arguments.size()));
  for (const stats::ShapeArgument& argument : api.arguments) WriteArgument(argument, message);
  message.add_api_total_count(static_cast<std::uint32_t>(api.totals.size()));
  for (const LabTotal& total : api.totals) {
    message.add_total_metric(static_cast<std::uint32_t>(total.metric));
    message.add_total_least(total.least);
    message.add_total_most(total.most);
  }
}

void WritePart(const LabPart& part, proto::LabPart& message) {
  message.set_content_sha256(HexDecode(part.content_hash).value_or(""));
  message.set_name(part.name);
  message.set_seed(part.seed);
  message.set_rounds(part.rounds);
  message.set_runs(part.runs);
  message.set_left_out(part.left_out);
  message.set_started_us(part.started_us);
  message.set_environment(part.environment);
  message.set_counted_runs(part.counted_runs);
  message.set_apis(part.apis);
}

// The message's bytes. kInvalidArgument, kTooLarge.
Result<std::string> Serialize(const LabTable& table, std::span<const LabPart> parts) {
  if (const Status status = Validate(table); !status) {
    if (status.error().code == ErrorCode::kTooLarge) return status.error();
    return Fail(ErrorCode::kInvalidArgument, "{}", status.error().message);
  }
  proto::LabTable message;
  message.set_kind(std::string(kKind));
  message.set_format_version(kLabFormatVersion);
  message.mutable_rows()->set_format_version(kFragmentFormatVersion);
  RowTableWriter writer(*message.mutable_rows()->mutable_table());
  for (const LabApi& api : table.apis) {
    writer.ApiIndex(api.api);
    WriteApi(api, message);
  }
  WriteFragmentRows(table.rows, writer, *message.mutable_rows());
  for (const LabStack& node : table.stacks) {
    message.add_stack_parent(node.parent + 1);  // kRoot becomes 0
    message.add_stack_api(node.api);
    message.add_stack_calls(node.calls);
    message.add_stack_bytes(node.bytes);
  }
  for (const auto& [outer, inner] : table.pairs) {
    message.add_pair_outer(outer);
    message.add_pair_inner(inner);
  }
  for (const LabPart& part : parts) WritePart(part, *message.add_part());
  if (writer.string_count() > kMaxStrings || message.ByteSizeLong() > kMaxLabDecodedBytes) {
    return Fail(ErrorCode::kTooLarge, "{} strings and {} bytes are too many", writer.string_count(),
                message.ByteSizeLong());
  }
  return SerializeMessage(message);
}

// Whether all columns have that length.
Status CheckLengths(std::string_view group, std::initializer_list<int> columns, int length) {
  if (std::all_of(columns.begin(), columns.end(), [length](int size) { return size == length; })) {
    return {};
  }
  return Fail(ErrorCode::kCorrupt, "columns of the {} have different lengths", group);
}

// Checked before memory is allocated for what they count.
Status CheckColumns(const proto::LabTable& table, std::size_t apis) {
  if (apis > kMaxLabApis || table.argument_number_size() > static_cast<int>(kMaxLabArguments) ||
      table.stack_api_size() > static_cast<int>(kMaxLabStacks) ||
      table.pair_outer_size() > static_cast<int>(kMaxLabPairs) ||
      table.part_size() > static_cast<int>(kMaxLabParts)) {
    return Fail(ErrorCode::kTooLarge, "too many APIs, arguments, stacks, pairs or parts");
  }
  FIELDCOST_TRY(CheckLengths(
      "APIs",
      {table.api_is_own_size(), table.api_calls_size(), table.api_log_count_size(),
       table.api_log_sum_size(), table.api_log_squares_size(), table.api_first_call_bytes_size(),
       table.api_other_bytes_size(), table.api_argument_count_size(), table.api_total_count_size()},
      static_cast<int>(apis)));
  FIELDCOST_TRY(CheckLengths("totals", {table.total_least_size(), table.total_most_size()},
                             table.total_metric_size()));
  FIELDCOST_TRY(CheckLengths("arguments", {table.argument_bucket_count_size()},
                             table.argument_number_size()));
  FIELDCOST_TRY(CheckLengths(
      "inputs", {table.input_count_size(), table.input_sum_size(), table.input_squares_size()},
      table.input_slot_size()));
  FIELDCOST_TRY(CheckLengths(
      "stacks", {table.stack_parent_size(), table.stack_calls_size(), table.stack_bytes_size()},
      table.stack_api_size()));
  return CheckLengths("pairs", {table.pair_inner_size()}, table.pair_outer_size());
}

// Reads arguments and their inputs one after the other.
class ArgumentReader {
 public:
  explicit ArgumentReader(const proto::LabTable& untrusted_table) : table_(untrusted_table) {}

  Status Read(std::uint32_t count, std::vector<stats::ShapeArgument>& arguments) {
    if (count > static_cast<std::uint32_t>(table_.argument_number_size() - next_)) return TooMany();
    for (const int end = next_ + static_cast<int>(count); next_ < end; ++next_) {
      stats::ShapeArgument& argument = arguments.emplace_back();
      argument.number = table_.argument_number(next_);
      FIELDCOST_TRY(ReadInputs(table_.argument_bucket_count(next_), argument.sums));
    }
    return {};
  }

  Status CheckEnd() const {
    if (next_ == table_.argument_number_size() && next_input_ == table_.input_slot_size()) {
      return {};
    }
    return Fail(ErrorCode::kCorrupt, "arguments or inputs that belong to no API");
  }

 private:
  static Status TooMany() {
    return Fail(ErrorCode::kCorrupt, "more arguments or inputs are counted than there are");
  }

  Status ReadInputs(std::uint32_t count, stats::InputSums& sums) {
    if (count > static_cast<std::uint32_t>(table_.input_slot_size() - next_input_)) {
      return TooMany();
    }
    std::uint32_t free = 0;  // slot from which on nothing was read yet
    for (const int end = next_input_ + static_cast<int>(count); next_input_ < end; ++next_input_) {
      const std::uint32_t slot = table_.input_slot(next_input_);
      if (slot < free || slot >= shm::kBucketSlots) {
        return Fail(ErrorCode::kCorrupt, "input slot out of range or not ascending");
      }
      free = slot + 1;
      sums.by_bucket[slot] = {.count = table_.input_count(next_input_),
                              .sum = table_.input_sum(next_input_),
                              .sum_squares = table_.input_squares(next_input_)};
    }
    return {};
  }

  const proto::LabTable& table_;
  int next_ = 0;
  int next_input_ = 0;
};

// Reads the totals of `count` APIs' metrics, which begin at `next`.
Status ReadTotals(const proto::LabTable& untrusted_table, std::uint32_t count, int& next,
                  std::vector<LabTotal>& totals) {
  if (count > static_cast<std::uint32_t>(untrusted_table.total_metric_size() - next)) {
    return Fail(ErrorCode::kCorrupt, "more totals are counted than there are");
  }
  for (const int end = next + static_cast<int>(count); next < end; ++next) {
    const std::uint32_t metric = untrusted_table.total_metric(next);
    if (metric > shm::kMaxMetric) return Fail(ErrorCode::kCorrupt, "a total of no metric");
    totals.push_back({.metric = static_cast<stats::Metric>(metric),
                      .least = untrusted_table.total_least(next),
                      .most = untrusted_table.total_most(next)});
  }
  return {};
}

Status ReadApis(const proto::LabTable& untrusted_table, const RowTableReader& keys,
                std::vector<LabApi>& apis) {
  const proto::LabTable& table = untrusted_table;
  ArgumentReader arguments(table);
  int next_total = 0;
  apis.resize(keys.api_count());
  for (std::size_t i = 0; i < apis.size(); ++i) {
    const auto at = static_cast<int>(i);
    keys.GetApi(i, apis[i].api);
    apis[i].is_own = table.api_is_own(at);
    apis[i].calls = table.api_calls(at);
    apis[i].log_cost = {.count = table.api_log_count(at),
                        .sum = table.api_log_sum(at),
                        .sum_squares = table.api_log_squares(at)};
    apis[i].first_call_bytes = table.api_first_call_bytes(at);
    apis[i].other_bytes = table.api_other_bytes(at);
    FIELDCOST_TRY(arguments.Read(table.api_argument_count(at), apis[i].arguments));
    FIELDCOST_TRY(ReadTotals(table, table.api_total_count(at), next_total, apis[i].totals));
  }
  if (next_total != table.total_metric_size()) {
    return Fail(ErrorCode::kCorrupt, "totals that belong to no API");
  }
  return arguments.CheckEnd();
}

LabPart ReadPart(const proto::LabPart& untrusted_part) {
  const proto::LabPart& part = untrusted_part;
  // A hash of another length is found by Validate().
  return {.content_hash = part.content_sha256().size() == crypto::kSha256Bytes
                              ? HexEncode(part.content_sha256())
                              : "",
          .name = part.name(),
          .seed = part.seed(),
          .rounds = part.rounds(),
          .runs = part.runs(),
          .left_out = part.left_out(),
          .started_us = part.started_us(),
          .environment = part.environment(),
          .counted_runs = part.counted_runs(),
          .apis = part.apis()};
}

Result<LabTable> Read(const proto::LabTable& untrusted_message) {
  const proto::LabTable& message = untrusted_message;
  LabTable table;
  RowTableReader keys;
  FIELDCOST_TRY(keys.OpenKeys(message.rows().table(), kMaxLabRows));
  FIELDCOST_TRY(CheckColumns(message, keys.api_count()));
  FIELDCOST_TRY(ReadApis(message, keys, table.apis));
  FIELDCOST_ASSIGN(table.rows, ReadFragmentRows(message.rows(), kMaxLabRows));
  table.stacks.reserve(static_cast<std::size_t>(message.stack_api_size()));
  for (int i = 0; i < message.stack_api_size(); ++i) {
    table.stacks.push_back({.parent = message.stack_parent(i) - 1,  // 0 becomes kRoot
                            .api = message.stack_api(i),
                            .calls = message.stack_calls(i),
                            .bytes = message.stack_bytes(i)});
  }
  for (int i = 0; i < message.pair_outer_size(); ++i) {
    table.pairs.emplace_back(message.pair_outer(i), message.pair_inner(i));
  }
  for (const proto::LabPart& part : message.part()) table.parts.push_back(ReadPart(part));
  FIELDCOST_TRY(Validate(table));
  if (table.parts.empty()) return Fail(ErrorCode::kCorrupt, "it holds no measurement");
  return table;
}

Result<LabTable> DecodeLab(std::string_view untrusted_bytes) {
  Decompressor decompressor;
  FIELDCOST_ASSIGN(const std::string_view bytes,
                   decompressor.Decompress(untrusted_bytes, kLabLimits));
  if (!bytes.starts_with(kBeginning)) return Fail(ErrorCode::kCorrupt, "not a lab table");
  proto::LabTable message;
  FIELDCOST_TRY(ParseMessage(bytes, message));
  if (message.kind() != kKind) return Fail(ErrorCode::kCorrupt, "it has two kinds");
  if (message.format_version() != kLabFormatVersion ||
      message.rows().format_version() != kFragmentFormatVersion) {
    return Fail(ErrorCode::kUnsupported, "format version {}, only {} is understood",
                message.format_version(), kLabFormatVersion);
  }
  return Read(message);
}

}  // namespace

Result<std::string> EncodeLabTable(const LabTable& table) {
  constexpr std::string_view kContext = "encoding a lab table";
  if (table.parts.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "{}: it holds no measurement", kContext);
  }
  const Result<std::string> bytes = Serialize(table, table.parts);
  if (!bytes) return Within(bytes.error(), kContext);
  FIELDCOST_ASSIGN(std::string frame, Compress(*bytes, kLabCompressionLevel));
  if (frame.size() > kMaxLabBytes) {
    return Fail(ErrorCode::kTooLarge, "{}: {} compressed bytes, at most {} are accepted", kContext,
                frame.size(), kMaxLabBytes);
  }
  return frame;
}

Result<LabTable> DecodeLabTable(std::string_view untrusted_bytes) {
  Result<LabTable> table = DecodeLab(untrusted_bytes);
  if (!table) return Within(std::move(table).error(), "reading a lab table");
  return table;
}

bool LooksLikeLabTable(std::string_view untrusted_bytes) {
  return BeginningOf(untrusted_bytes, kBeginning.size()) == kBeginning;
}

Result<std::string> ContentHash(const LabTable& table) {
  Result<std::string> bytes = Serialize(table, {});
  if (!bytes) return Within(std::move(bytes).error(), "hashing a lab table");
  return crypto::HexSha256(*bytes);
}

}  // namespace fieldcost::wire
