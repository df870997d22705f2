#include "tests/aggregator/ingest/sender.h"

#include "common/base/check.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"
#include "common/wire/wire_limits.h"
#include "common/wire/wire_requests.h"
#include "common/wire/zstd_frame.h"

namespace fieldcost::ingest {

namespace {

std::optional<wire::Epoch> test_epoch;
std::string test_root = kTestRoot;

}  // namespace

wire::Epoch TestEpoch() {
  if (test_epoch) return *test_epoch;
  return EpochOfWeek(WeekOf(SystemClock().Now()));
}

void SetTestEpoch(std::optional<wire::Epoch> epoch) { test_epoch = epoch; }

void SetTestRoot(std::optional<std::string> fingerprint) {
  test_root = fingerprint.value_or(kTestRoot);
}

void SetTestRootOf(const std::filesystem::path& data_dir) {
  const auto root = ReadFile(data_dir / "publish" / "root" / "1", wire::kMaxMetadataBytes);
  FIELDCOST_CHECK(root.has_value());
  SetTestRoot(wire::RootFingerprint(*root));
}

std::string TestService() { return wire::ServiceId(kTestHost, test_root); }

wire::BatchRow TestRow(unsigned number, std::uint32_t week) {
  wire::BatchRow row;
  row.api = {.soname = "libsample.so.1",
             .package_version = "1.2-3",
             .build_id = "00ff",
             .symbol = "sample_" + std::to_string(number)};
  row.metric = stats::Metric::kWallTime;
  row.week = week;
  row.first_contribution = true;
  for (std::uint64_t value = 1; value <= 10 + number; ++value) row.histogram.Add(value * 37);
  return row;
}

wire::BatchContent TestContent(unsigned rows, std::uint32_t week) {
  wire::BatchContent content;
  content.field_policy_version = 1;
  content.hardware = {.architecture = "x86_64",
                      .cpu_family = "GenuineIntel-6",
                      .log2_cores = 2,
                      .log2_memory_mib = 14,
                      .os_release = "debian-12"};
  for (unsigned number = 0; number < rows; ++number) content.rows.push_back(TestRow(number, week));
  return content;
}

std::string OfVersion(const std::string& body, std::uint32_t version) {
  wire::Decompressor decompressor;
  std::string bytes(decompressor
                        .Decompress(body, {.max_compressed_bytes = body.size(),
                                           .max_decoded_bytes = wire::kMaxBatchDecodedBytes,
                                           .max_ratio = wire::kMaxCompressionRatio,
                                           .ratio_free_bytes = wire::kRatioFreeBytes})
                        .value());
  FIELDCOST_CHECK(bytes.starts_with("\x08\x01"));
  bytes[1] = static_cast<char>(version);
  return wire::Compress(bytes, 6).value();
}

http::Request SignedRequest(const crypto::PrivateKey& key, std::uint64_t sequence,
                            const std::string& body) {
  const std::string signature =
      key.Sign(wire::BatchSigningInput(TestService(), key.public_key().view(), TestEpoch(),
                                       wire::Sequence(sequence), crypto::Sha256(body)));
  http::Request request;
  request.method = "POST";
  request.target = "/v1/batches";
  request.headers = {{"Content-Type", wire::kBatchContentType},
                     {wire::kServiceHeader, TestService()},
                     {wire::kAgentHeader, key.public_key().Hex()},
                     {wire::kEpochHeader, std::to_string(TestEpoch().value())},
                     {wire::kSequenceHeader, std::to_string(sequence)},
                     {wire::kSignatureHeader, HexEncode(signature)}};
  request.body = body;
  return request;
}

http::Request SignedRequest(const crypto::PrivateKey& key, std::uint64_t sequence,
                            const wire::BatchContent& content) {
  const auto body = wire::EncodeBatch(content);
  FIELDCOST_CHECK(body.has_value());
  return SignedRequest(key, sequence, *body);
}

http::Request WithdrawalRequest(const crypto::PrivateKey& key, std::uint64_t sequence,
                                const std::string& body, const std::string& receipt) {
  http::Request request = SignedRequest(key, sequence, body);
  request.target = wire::kWithdrawalsPath;
  SetHeader(request, wire::kSignatureHeader,
            HexEncode(key.Sign(wire::WithdrawalSigningInput(TestService(), key.public_key().view(),
                                                            TestEpoch(), wire::Sequence(sequence),
                                                            crypto::Sha256(body)))));
  if (!receipt.empty()) request.headers.emplace_back(wire::kReceiptHeader, receipt);
  return request;
}

http::Request EnrolmentRequest(const crypto::PrivateKey& key, const std::string& token) {
  http::Request request;
  request.method = "POST";
  request.target = wire::kEnrolmentsPath;
  request.headers = {
      {wire::kServiceHeader, TestService()},
      {wire::kAgentHeader, key.public_key().Hex()},
      {wire::kEpochHeader, std::to_string(TestEpoch().value())},
      {wire::kSignatureHeader,
       HexEncode(key.Sign(wire::EnrolmentSigningInput(TestService(), key.public_key().view(),
                                                      TestEpoch(), crypto::Sha256(token))))}};
  if (!token.empty()) request.headers.emplace_back(wire::kTokenHeader, token);
  return request;
}

void SetHeader(http::Request& request, std::string_view name, const std::string& value) {
  for (auto& [key, old] : request.headers) {
    if (http::EqualNames(key, name)) old = value;
  }
}

}  // namespace fieldcost::ingest
