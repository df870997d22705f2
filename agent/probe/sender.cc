#include "agent/probe/sender.h"

#include <fmt/format.h>

#include <boost/json/parse.hpp>

#include "agent/probe/send_lock.h"
#include "common/base/json_writer.h"
#include "common/base/text.h"
#include "common/base/units.h"
#include "common/http/proxy.h"
#include "common/json/json_text.h"

namespace fieldcost::probe {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostAnswerBytes = 64 * kKiB;
constexpr std::size_t kMostTokenBytes = 256;

Result<http::Client> Connect(const std::string& url, const std::filesystem::path& ca_file,
                             std::function<Status()> may_go_on) {
  return http::Client::Create({.url = url,
                               .ca_file = ca_file,
                               .max_response_bytes = kMostAnswerBytes,
                               .proxy_url = http::ChooseProxy(url, ""),
                               .may_go_on = std::move(may_go_on)});
}

std::string TextOf(const json::value& value, const char* key) {
  const json::object* const object = value.if_object();
  const json::value* const found = object == nullptr ? nullptr : object->if_contains(key);
  if (found == nullptr) return "";
  if (const json::string* const text = found->if_string()) return std::string(*text);
  if (found->is_uint64() || found->is_int64()) return JsonText(*found);
  return "";
}

bool IsToken(std::string_view untrusted_token) {
  return !untrusted_token.empty() && untrusted_token.size() <= kMostTokenBytes &&
         std::ranges::all_of(untrusted_token, [](char c) { return c > ' ' && c <= '~'; });
}

enum class Answer { kTaken, kNever, kLater, kNotUs };

Answer AnswerOf(int status) {
  switch (status) {
    case 200:
      return Answer::kTaken;
    case 401:
    case 403:
      return Answer::kNotUs;
    case 400:
    case 409:
    case 411:
    case 413:
    case 415:
    case 422:
      return Answer::kNever;
    default:
      return Answer::kLater;
  }
}

http::Request BatchRequest(const Login& login, std::string body) {
  return {.method = "POST",
          .target = "/v1/probes",
          .headers = {{"Authorization", "Bearer " + login.token},
                      {"Content-Type", "application/x-fieldcost-probes"}},
          .body = std::move(body)};
}

// Returns false if no further batch should be sent now.
Result<bool> SendOne(http::Client& client, const Login& login, Spool& spool, const Clock& clock,
                     Spool::Outgoing batch, SendReport& report) {
  FIELDCOST_TRY(spool.NoteLeaving(batch.sequence));
  const auto response = client.Send(BatchRequest(login, std::move(batch.body)));
  if (!response) {
    if (!client.has_sent_all()) FIELDCOST_TRY(spool.NoteNotLeft());
    report.stopped_by = Within(response.error(), "send probe points");
    // Not the server's fault, so no wait before the next attempt.
    if (response.error().code == ErrorCode::kPermissionDenied) return false;
    FIELDCOST_TRY(spool.NoteFailure(clock.Now(), {}));
    return false;
  }
  const std::string what =
      fmt::format("send probe points to {}: {}", client.origin(), http::DescribeAnswer(*response));
  switch (AnswerOf(response->status)) {
    case Answer::kTaken:
      FIELDCOST_TRY(spool.MarkSent(batch.sequence));
      ++report.sent;
      return true;
    case Answer::kNever:
      FIELDCOST_TRY(spool.MarkRefused(batch.sequence, http::DescribeAnswer(*response)));
      ++report.refused;
      return true;
    case Answer::kNotUs:
      report.stopped_by =
          Fail(ErrorCode::kUnauthenticated, "{}; queued batches stay: fieldcost probe login {}",
               what, login.url);
      break;
    case Answer::kLater:
      report.stopped_by = Fail(ErrorCode::kUnavailable, "{}", what);
  }
  FIELDCOST_TRY(spool.NoteFailure(
      clock.Now(), http::ParseRetryAfter(http::Find(response->headers, "Retry-After"))));
  return false;
}

}  // namespace

Result<Login> LogIn(const std::string& url, const std::filesystem::path& ca_file,
                    const Account& account) {
  FIELDCOST_ASSIGN(http::Client client, Connect(url, ca_file, nullptr));
  JsonWriter body;
  body.Object().Member("user", account.user).Member("password", account.password);
  body.Member("name", account.device_name).EndObject();
  const auto sent = client.Send({.method = "POST",
                                 .target = "/v1/devices",
                                 .headers = {{"Content-Type", "application/json"}},
                                 .body = body.TakeValue()});
  if (!sent) {
    const bool is_unknown = sent.error().code == ErrorCode::kUnauthenticated && ca_file.empty();
    return Fail(sent.error().code, "log in at {}: {}{}", client.origin(), sent.error().message,
                is_unknown ? "; if the server has a CA of its own: --ca-file ca.pem" : "");
  }
  const http::Response& response = *sent;
  const std::string what =
      fmt::format("log in at {}: {}", client.origin(), http::DescribeAnswer(response));
  if (response.status == 401) {
    return Fail(ErrorCode::kUnauthenticated, "log in at {}: {} or the password is wrong",
                client.origin(), EscapeControl(account.user));
  }
  if (response.status != 200 && response.status != 201) {
    return Fail(ErrorCode::kUnavailable, "{}", what);
  }
  boost::system::error_code error;
  const json::value untrusted_answer = json::parse(response.body, error);
  const std::string untrusted_token = error ? "" : TextOf(untrusted_answer, "token");
  if (!IsToken(untrusted_token)) {
    return Fail(ErrorCode::kCorrupt,
                "log in at {}: the response is not from a fieldcost-probe-server", client.origin());
  }
  return Login{.url = url,
               .user = account.user,
               .device = EscapeControl(TextOf(untrusted_answer, "device").substr(0, 64)),
               .token = untrusted_token,
               .ca_file = ca_file};
}

Result<SendReport> SendQueued(const settings::AgentPaths& paths, Spool& spool, const Clock& clock) {
  SendReport report;
  FIELDCOST_ASSIGN(const std::optional<SendLock> lock, SendLock::Take(paths, kSenderWaits));
  if (!lock) {
    return Fail(ErrorCode::kUnavailable,
                "send probe points: another process has been sending them for {} s",
                kSenderWaits.count());
  }
  // Checked under the lock: a process that withdraws consent waits for it.
  FIELDCOST_TRY(CheckMaySendProbes(paths));
  FIELDCOST_ASSIGN(const Login login, LoadLogin(paths));
  FIELDCOST_ASSIGN(const std::string device, spool.Device());
  if (device != login.device) {
    // The numbers of its batches belong to another device.
    return Fail(
        ErrorCode::kUnauthenticated,
        "send probe points to {}: {} belongs to another device than the one that logged in: "
        "fieldcost probe login {}",
        login.url, SpoolFile(paths).string(), login.url);
  }
  FIELDCOST_ASSIGN(http::Client client, Connect(login.url, login.ca_file,
                                                [paths] { return CheckMaySendProbes(paths); }));
  for (;;) {
    FIELDCOST_ASSIGN(std::optional<Spool::Outgoing> batch, spool.FirstOutgoing());
    if (!batch) break;
    FIELDCOST_ASSIGN(const bool goes_on,
                     SendOne(client, login, spool, clock, *std::move(batch), report));
    if (!goes_on) break;
  }
  if (!report.stopped_by) FIELDCOST_TRY(spool.NoteSuccess());
  FIELDCOST_ASSIGN(const Spool::Totals totals, spool.Count());
  report.left = totals.queued;
  return report;
}

}  // namespace fieldcost::probe
