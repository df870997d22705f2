#include "aggregator/operate/ask_service.h"

#include <boost/json.hpp>
#include <chrono>

#include "aggregator/ingest/token_file.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/http/client.h"
#include "common/serve/address_file.h"

namespace fieldcost::aggregator {
namespace {

// Compacting or copying a large store can take hours.
constexpr std::chrono::hours kLongestWork{6};
constexpr std::size_t kMaxAddressBytes = 1024;
constexpr std::size_t kMaxServiceAnswerBytes = 64 * 1024;

Error NobodyToAsk(const Config& config, std::string_view what_to_do) {
  return Fail(ErrorCode::kAlreadyExists,
              "data directory {} is in use by a running fieldcost-aggregator, which does not "
              "answer: {}, or stop it",
              config.store.data_dir.string(), what_to_do);
}

Result<std::string> UrlOf(const Config& config) {
  const AdminConfig& admin = *config.admin;
  if (!admin.address_file.empty()) {
    auto url = ReadFile(admin.address_file, kMaxAddressBytes);
    if (!url && url.error().code == ErrorCode::kNotFound) {
      return Fail(ErrorCode::kUnavailable,
                  "the service that uses {} has no address in {} (admin.address_file): it is "
                  "starting, or runs with another configuration",
                  config.store.data_dir.string(), admin.address_file.string());
    }
    while (url && url->ends_with('\n')) url->pop_back();
    return url;
  }
  if (admin.server.port == 0) {
    return NobodyToAsk(config, "with admin.port = 0 configure admin.address_file, and restart it");
  }
  return serve::UrlOf("http", admin.server.address, admin.server.port);
}

ErrorCode CodeOf(std::string_view untrusted_name) {
  for (int code = 1; code <= static_cast<int>(ErrorCode::kInternal); ++code) {
    if (Name(static_cast<ErrorCode>(code)) == untrusted_name) return static_cast<ErrorCode>(code);
  }
  return ErrorCode::kInternal;
}

std::string TextOf(const boost::json::object& object, std::string_view key) {
  const boost::json::value* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : "";
}

// Converts numbers, booleans, texts and lists of texts, and ignores anything else.
Outcome FactsOf(const boost::json::object& object) {
  Outcome outcome;
  for (const auto& [key, value] : object) {
    if (value.is_int64() && value.as_int64() >= 0) {
      outcome.Add(key, static_cast<std::uint64_t>(value.as_int64()));
    } else if (value.is_uint64()) {
      outcome.Add(key, value.as_uint64());
    } else if (value.is_bool()) {
      outcome.Add(key, value.as_bool());
    } else if (value.is_string()) {
      outcome.Add(key, std::string(value.as_string()));
    } else if (value.is_array()) {
      std::vector<std::string> texts;
      for (const boost::json::value& one : value.as_array()) {
        if (one.is_string()) texts.emplace_back(one.as_string());
      }
      outcome.Add(key, std::move(texts));
    }
  }
  return outcome;
}

}  // namespace

Result<Outcome> AskService(const Config& config, const std::string& path, std::string body) {
  if (!config.admin) {
    return NobodyToAsk(config, "configure [admin] with token_files and restart it");
  }
  if (config.admin->token_files.empty()) {
    return NobodyToAsk(config, "configure admin.token_files and restart it");
  }
  FIELDCOST_ASSIGN(const std::string token, ingest::ReadTokenFile(config.admin->token_files[0]));
  FIELDCOST_ASSIGN(std::string url, UrlOf(config));
  FIELDCOST_ASSIGN(http::Client client,
                   http::Client::Create({.url = std::move(url),
                                         .request_timeout = kLongestWork,
                                         .max_response_bytes = kMaxServiceAnswerBytes}));
  http::Request request{.method = "POST", .target = path, .body = std::move(body)};
  request.headers = {{"Authorization", "Bearer " + token}, {"Content-Type", "application/json"}};
  auto response = client.Send(request);
  if (!response) return Within(response.error(), "ask the running service");
  boost::system::error_code failed;
  const boost::json::value answer = boost::json::parse(response->body, failed);
  if (failed || !answer.is_object()) {
    return Fail(ErrorCode::kUnavailable, "{} answered {} without a JSON object", client.origin(),
                response->status);
  }
  if (response->status == 200) return FactsOf(answer.as_object());
  return Fail(CodeOf(TextOf(answer.as_object(), "error")), "{}",
              EscapeControl(TextOf(answer.as_object(), "message")));
}

}  // namespace fieldcost::aggregator
