// Fills a probe server for the browser tests:          probe_send_events URL CA_FILE USER PASSWORD
// Enrols a device for the user, as `fieldcost probe login` does, and sends events as fieldcostd
// does.
#include <fmt/format.h>

#include <boost/json.hpp>
#include <cstdio>
#include <string>
#include <utility>

#include "common/http/client.h"
#include "common/probe/event_batch.h"
#include "tests/aggregator/probe_server/event_batches.h"

namespace fieldcost::testing {
namespace {

constexpr std::uint64_t kMinuteNs = 60'000'000'000;
constexpr std::uint64_t kDayNs = 1'440 * kMinuteNs;

class Sender {
 public:
  Sender(http::Client client, std::string token)
      : client_(std::move(client)), token_(std::move(token)) {}

  Status Send(EventOptions options) {
    options.run = ++sequence_;
    FIELDCOST_ASSIGN(std::string body, probe::EncodeBatch(BatchOf(sequence_, options)));
    FIELDCOST_ASSIGN(const http::Response response,
                     client_.Send({.method = "POST",
                                   .target = "/v1/probes",
                                   .headers = {{"Authorization", "Bearer " + token_}},
                                   .body = std::move(body)}));
    if (response.status == 200) return {};
    return Fail(ErrorCode::kInternal, "{}", response.body);
  }

 private:
  http::Client client_;
  std::string token_;
  std::uint64_t sequence_ = 0;
};

// Sends ten cold starts, ten warm ones, and one that was delayed.
Status SendStarts(Sender& sender) {
  for (std::uint64_t i = 0; i <= 20; ++i) {
    const bool cold = i < 10;
    const std::uint64_t step_ns = i == 20 ? 300'000'000 : cold ? 40'000'000 : 9'000'000;
    FIELDCOST_TRY(sender.Send({.begin_ns = kEventDayNs + i * kMinuteNs,
                               .step_ns = step_ns + i % 7 * 100'000,
                               .steps = 6,
                               .tags = {cold ? "cold" : "warm"}}));
  }
  return {};
}

// Sends three builds on three days; the last build is slower.
Status SendBuilds(Sender& sender) {
  for (std::uint64_t i = 0; i < 24; ++i) {
    const std::uint64_t build = i / 8;
    FIELDCOST_TRY(sender.Send({.begin_ns = kEventDayNs - (3 - build) * kDayNs + i * kMinuteNs,
                               .step_ns = (build == 2 ? 3'000'000U : 2'000'000U) + i % 8 * 9'000,
                               .label = "search",
                               .build = fmt::format("1.{}", build)}));
  }
  return {};
}

Status SendAll(Sender& sender) {
  constexpr char kMarkup[] = "<img src=x onerror=alert(1)>";
  FIELDCOST_TRY(SendStarts(sender));
  FIELDCOST_TRY(SendBuilds(sender));
  return sender.Send({.begin_ns = kEventDayNs - 5 * kDayNs,
                      .label = kMarkup,
                      .program = kMarkup,
                      .build = kMarkup,
                      .tags = {"<b>"},
                      .function = kMarkup,
                      .file = kMarkup});
}

Result<std::string> Enrol(http::Client& client, const std::string& user,
                          const std::string& password) {
  const boost::json::object body{{"user", user}, {"password", password}, {"name", "test"}};
  FIELDCOST_ASSIGN(
      const http::Response response,
      client.Send(
          {.method = "POST", .target = "/v1/devices", .body = boost::json::serialize(body)}));
  if (response.status != 200) return Fail(ErrorCode::kUnauthenticated, "{}", response.body);
  return std::string(boost::json::parse(response.body).at("token").as_string());
}

Status Run(char** arguments) {
  FIELDCOST_ASSIGN(http::Client client,
                   http::Client::Create({.url = arguments[1], .ca_file = arguments[2]}));
  FIELDCOST_ASSIGN(std::string token, Enrol(client, arguments[3], arguments[4]));
  Sender sender(std::move(client), std::move(token));
  return SendAll(sender);
}

}  // namespace
}  // namespace fieldcost::testing

int main(int argument_count, char** arguments) {
  if (argument_count != 5) {
    fmt::print(stderr, "usage: probe_send_events URL CA_FILE USER PASSWORD\n");
    return 64;
  }
  const fieldcost::Status status = fieldcost::testing::Run(arguments);
  if (status) return 0;
  fmt::print(stderr, "probe_send_events: {}\n", status.error().message);
  return 1;
}
