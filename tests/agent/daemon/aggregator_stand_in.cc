#include "tests/agent/daemon/aggregator_stand_in.h"

#include <fmt/format.h>

#include "common/base/check.h"
#include "common/base/text.h"
#include "common/crypto/ed25519.h"
#include "common/crypto/sha256.h"

namespace fieldcost::testing {

AggregatorStandIn::AggregatorStandIn(const std::filesystem::path& directory)
    : certificates_(MakeCertificates(directory)) {
  http::ServerOptions options;
  options.certificate_file = certificates_.certificate;
  options.private_key_file = certificates_.key;
  // Requests that are never answered end after this time.
  options.response_timeout = std::chrono::milliseconds(300);
  auto server = http::Server::Start(options, [this](http::Request request, http::Respond respond) {
    Answer(std::move(request), respond);
  });
  FIELDCOST_CHECK(server.has_value());
  server_ = std::move(*server);
}

AggregatorStandIn::~AggregatorStandIn() { server_.reset(); }

std::string AggregatorStandIn::url() const {
  return fmt::format("https://localhost:{}", server_->port());
}

void AggregatorStandIn::Script(Scripted answer) {
  const std::lock_guard lock(mutex_);
  script_.push_back(std::move(answer));
}

bool AggregatorStandIn::IsGenuine(const http::Request& request) const {
  const auto key = crypto::ParsePublicKey(http::Find(request.headers, wire::kAgentHeader));
  const auto epoch = ParseUint64(http::Find(request.headers, wire::kEpochHeader));
  const auto sequence = ParseUint64(http::Find(request.headers, wire::kSequenceHeader));
  const auto signature = HexDecode(http::Find(request.headers, wire::kSignatureHeader));
  return request.method == "POST" && request.target == "/v1/batches" &&
         http::Find(request.headers, "Content-Type") == wire::kBatchContentType && key && epoch &&
         sequence && signature &&
         crypto::Verify(
             *key,
             wire::BatchSigningInput(key->view(), wire::Epoch(*epoch), wire::Sequence(*sequence),
                                     crypto::Sha256(request.body)),
             *signature);
}

void AggregatorStandIn::Answer(http::Request request, const http::Respond& respond) {
  const std::lock_guard lock(mutex_);
  ++requests_;
  if (!IsGenuine(request)) {
    ++bad_requests_;
    respond(http::JsonError(400, "invalid_argument", "not a genuine batch"));
    return;
  }
  Scripted scripted{.headers = {}, .body = {}, .counted = true};
  const bool is_scripted = !script_.empty();
  if (is_scripted) {
    scripted = script_.front();
    script_.pop_front();
  }
  const BatchId id{std::string(http::Find(request.headers, wire::kAgentHeader)),
                   std::string(http::Find(request.headers, wire::kEpochHeader)),
                   *ParseUint64(http::Find(request.headers, wire::kSequenceHeader))};
  if (scripted.counted) {
    const auto [entry, is_new] = ledger_.emplace(id, request.body);
    if (!is_new && entry->second != request.body) ++bad_requests_;
  }
  if (scripted.never) return;
  if (is_scripted) {
    respond({.status = scripted.status, .headers = scripted.headers, .body = scripted.body});
    return;
  }
  wire::BatchDecoder decoder;
  FIELDCOST_CHECK(decoder.Decode(request.body).has_value());
  wire::BatchAnswer answer;
  answer.accepted_rows = static_cast<std::uint32_t>(decoder.row_count());
  respond({.status = 200,
           .headers = {{"Content-Type", "application/json"}},
           .body = wire::EncodeAnswer(answer)});
}

std::vector<std::string> AggregatorStandIn::bodies() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> bodies;
  for (const auto& [id, body] : ledger_) bodies.push_back(body);
  return bodies;
}

std::vector<std::uint64_t> AggregatorStandIn::sequences() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t> sequences;
  for (const auto& [id, body] : ledger_) sequences.push_back(std::get<2>(id));
  return sequences;
}

std::uint64_t AggregatorStandIn::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

std::uint64_t AggregatorStandIn::bad_requests() const {
  const std::lock_guard lock(mutex_);
  return bad_requests_;
}

std::vector<wire::UntrustedRow> AggregatorStandIn::Rows() const {
  std::vector<wire::UntrustedRow> rows;
  wire::BatchDecoder decoder;
  for (const std::string& body : bodies()) {
    FIELDCOST_CHECK(decoder.Decode(body).has_value());
    for (std::size_t i = 0; i < decoder.row_count(); ++i) {
      decoder.GetRow(i, rows.emplace_back());
    }
  }
  return rows;
}

std::vector<wire::UntrustedRow> AggregatorStandIn::Rows(stats::Metric metric) const {
  std::vector<wire::UntrustedRow> rows = Rows();
  std::erase_if(rows, [metric](const wire::UntrustedRow& row) {
    return row.metric_number != static_cast<std::uint32_t>(metric);
  });
  return rows;
}

std::uint64_t AggregatorStandIn::Calls(stats::Metric metric) const {
  std::uint64_t calls = 0;
  for (const wire::UntrustedRow& row : Rows(metric)) calls += row.histogram.count();
  return calls;
}

}  // namespace fieldcost::testing
