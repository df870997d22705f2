#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aggregator/ingest/invite.h"
#include "aggregator/ingest/revocation.h"
#include "aggregator/ingest/token_file.h"
#include "aggregator/publish/publisher.h"
#include "aggregator/store/store.h"
#include "common/base/result.h"
#include "common/http/http_server.h"
#include "common/serve/health.h"

namespace fieldcost::admin {

// The result of checking all files of the data directory.
struct VerifyAnswer {
  std::vector<std::pair<std::string_view, std::uint64_t>> numbers;
  bool ok = true;
  std::string problem;  // the first problem; empty if none
};

// The service's functions for its operator. Each of those after `health` may take long, and never
// runs concurrently with itself.
struct Operations {
  serve::Health health;
  std::function<Result<publish::PublishReport>()> publish;
  std::function<Result<std::uint64_t>()> checkpoint;  // the store's sequence
  std::function<Status()> compact;
  std::function<Result<std::uint64_t>(const std::filesystem::path& directory,
                                      bool without_signing_keys)>
      backup;  // also the store's sequence
  // Returns what it removed or, without `yes`, what it would remove.
  std::function<Result<store::ExpiryEffect>(std::uint32_t before_week, bool yes)> expire;
  std::function<Result<VerifyAnswer>()> verify;
  std::function<Result<ingest::RevocationReport>(const ingest::RevocationRequest& untrusted)>
      revoke;
  std::function<Result<ingest::MadeInvitation>(const ingest::InvitationRequest& untrusted)> invite;
  std::function<Result<std::vector<std::string>>()> invitations;
  std::function<Status(const std::string& untrusted_name)> uninvite;
  std::function<Status()> reload;
};

// Answers the requests of admin_requests.h. Thread-safe.
class Admin {
 public:
  // No token is accepted before SetTokens().
  explicit Admin(Operations operations);
  // REQUIRES: Stop() has returned true, or no operation was ever requested.
  ~Admin();
  Admin(const Admin&) = delete;
  Admin& operator=(const Admin&) = delete;

  void SetTokens(ingest::TokenSet tokens);

  // An http::Handler; operations that may take long run on their own threads. Also answers the
  // requests of common/serve/health.h; its rule for the Host applies to all requests.
  void Handle(http::Request untrusted_request, http::Respond respond);

  // Starts no further operations (503) and waits at most `limit` for those in progress; false if
  // one is still running.
  bool Stop(std::chrono::milliseconds limit);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fieldcost::admin
