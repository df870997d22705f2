#include "tests/agent/volunteer/aggregator_stand_in.h"

#include <fmt/format.h>

#include "common/base/check.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/crypto/ed25519.h"
#include "common/crypto/sha256.h"
#include "common/wire/metadata.h"
#include "common/wire/wire_limits.h"
#include "common/wire/wire_requests.h"

namespace fieldcost::testing {
namespace {

std::uint32_t RowsIn(const std::string& body) {
  wire::BatchDecoder decoder;
  FIELDCOST_CHECK(decoder.Decode(body).has_value());
  return static_cast<std::uint32_t>(decoder.row_count());
}

std::string ReceiptOf(const std::string& body) {
  return HexEncode(crypto::Sha256("receipt" + body));
}

// The root that users of the service have pinned.
std::string RootFile() {
  const auto key = crypto::PrivateKey::FromSeed(std::string(32, 'r'));
  return wire::SignRoot({.version = 1,
                         .expires = SystemClock().Now() + std::chrono::days(365),
                         .root_keys = {key.public_key()},
                         .timestamp_keys = {key.public_key()},
                         .snapshot_keys = {key.public_key()},
                         .policy_keys = {}},
                        {key});
}

}  // namespace

AggregatorStandIn::AggregatorStandIn(const std::filesystem::path& directory)
    : certificates_(MakeCertificates(directory)), root_file_(directory / "catalog_root") {
  FIELDCOST_CHECK(WriteFileAtomically(root_file_, RootFile(), 0644).has_value());
  http::ServerOptions options;
  options.certificate_file = certificates_.certificate;
  options.private_key_file = certificates_.key;
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

void AggregatorStandIn::RequireToken(std::string token) {
  const std::lock_guard lock(mutex_);
  token_ = std::move(token);
}

bool AggregatorStandIn::IsGenuine(const http::Request& request) const {
  const auto key = crypto::ParsePublicKey(http::Find(request.headers, wire::kAgentHeader));
  const auto epoch = ParseUint64(http::Find(request.headers, wire::kEpochHeader));
  const auto signature = HexDecode(http::Find(request.headers, wire::kSignatureHeader));
  const std::string_view service = http::Find(request.headers, wire::kServiceHeader);
  const auto root = ReadFile(root_file_, wire::kMaxMetadataBytes);
  if (!root || service != wire::ServiceId("localhost", wire::RootFingerprint(*root))) return false;
  if (request.method != "POST" || !key || !epoch || !signature) return false;
  if (request.target == wire::kEnrolmentsPath) {
    const std::string_view token = http::Find(request.headers, wire::kTokenHeader);
    return request.body.empty() &&
           crypto::Verify(*key,
                          wire::EnrolmentSigningInput(service, key->view(), wire::Epoch(*epoch),
                                                      crypto::Sha256(token)),
                          *signature);
  }
  const auto sequence = ParseUint64(http::Find(request.headers, wire::kSequenceHeader));
  if (!sequence || http::Find(request.headers, "Content-Type") != wire::kBatchContentType) {
    return false;
  }
  const bool withdraws = request.target == wire::kWithdrawalsPath;
  if (!withdraws && request.target != wire::kBatchesPath) return false;
  const auto signing_input = withdraws ? wire::WithdrawalSigningInput : wire::BatchSigningInput;
  return crypto::Verify(*key,
                        signing_input(service, key->view(), wire::Epoch(*epoch),
                                      wire::Sequence(*sequence), crypto::Sha256(request.body)),
                        *signature);
}

void AggregatorStandIn::Enrol(const http::Request& request, const http::Respond& respond) {
  if (while_enrolling_) while_enrolling_();
  if (token_ && http::Find(request.headers, wire::kTokenHeader) != *token_) {
    respond(http::JsonError(403, "permission_denied", "no such token"));
    return;
  }
  enrolled_.insert(std::string(http::Find(request.headers, wire::kAgentHeader)));
  respond({.status = 200, .headers = {}, .body = "{\"enrolled\":true}"});
}

void AggregatorStandIn::Withdraw(const BatchId& id, const http::Request& request,
                                 const http::Respond& respond) {
  const auto found = ledger_.find(id);
  const std::string_view receipt = http::Find(request.headers, wire::kReceiptHeader);
  if (found != ledger_.end()) {
    if (found->second != request.body || (!receipt.empty() && receipt != ReceiptOf(request.body))) {
      ++bad_requests_;
      respond(http::JsonError(403, "permission_denied", "another batch"));
      return;
    }
    withdrawn_[id] = RowsIn(found->second);
    ledger_.erase(found);
    ++withdrawals_;
  }
  respond({.status = 200,
           .headers = {},
           .body = wire::EncodeWithdrawalAnswer({.withdrawn_rows = withdrawn_[id]})});
}

void AggregatorStandIn::Answer(http::Request request, const http::Respond& respond) {
  const std::lock_guard lock(mutex_);
  if (request.method == "GET") return respond(http::JsonError(404, "not_found", "no such file"));
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
  if (request.target == wire::kEnrolmentsPath && !is_scripted) return Enrol(request, respond);
  const std::string agent(http::Find(request.headers, wire::kAgentHeader));
  const BatchId id{std::string(http::Find(request.headers, wire::kAgentHeader)),
                   std::string(http::Find(request.headers, wire::kEpochHeader)),
                   ParseUint64(http::Find(request.headers, wire::kSequenceHeader)).value_or(0)};
  if (request.target == wire::kWithdrawalsPath && !is_scripted) {
    return Withdraw(id, request, respond);
  }
  const bool is_batch = request.target == wire::kBatchesPath;
  if (is_batch && token_ && !enrolled_.contains(agent)) {
    http::Response refusal = http::JsonError(401, "unauthenticated", "enrol first");
    refusal.headers.emplace_back(wire::kEnrolmentHeader, wire::kEnrolmentRequired);
    return respond(std::move(refusal));
  }
  if (scripted.counted && is_batch && !withdrawn_.contains(id)) {
    const auto [entry, is_new] = ledger_.emplace(id, request.body);
    if (!is_new && entry->second != request.body) ++bad_requests_;
    if (record_) {
      *record_ << fmt::format("{} {} {} {}\n", std::get<0>(id), std::get<1>(id), std::get<2>(id),
                              HexEncode(crypto::Sha256(request.body)))
               << std::flush;
    }
  }
  if (scripted.never) return;
  if (is_scripted) {
    respond({.status = scripted.status, .headers = scripted.headers, .body = scripted.body});
    return;
  }
  wire::BatchAnswer answer;
  answer.accepted_rows = RowsIn(request.body);
  answer.receipt = ReceiptOf(request.body);
  respond({.status = 200,
           .headers = {{"Content-Type", "application/json"}},
           .body = wire::EncodeAnswer(answer)});
}

void AggregatorStandIn::WhileEnrolling(std::function<void()> action) {
  const std::lock_guard lock(mutex_);
  while_enrolling_ = std::move(action);
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

std::uint64_t AggregatorStandIn::enrolments() const {
  const std::lock_guard lock(mutex_);
  return enrolled_.size();
}

std::uint64_t AggregatorStandIn::withdrawals() const {
  const std::lock_guard lock(mutex_);
  return withdrawals_;
}

std::set<std::pair<std::string, std::string>> AggregatorStandIn::agents() const {
  const std::lock_guard lock(mutex_);
  std::set<std::pair<std::string, std::string>> agents;
  for (const auto& [id, body] : ledger_) agents.emplace(std::get<0>(id), std::get<1>(id));
  return agents;
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
