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
#include "common/http/server.h"

namespace fieldcost::admin {

// What was found in all files of the data directory.
struct VerifyAnswer {
  std::vector<std::pair<std::string_view, std::uint64_t>> numbers;
  bool ok = true;
  std::string problem;  // the first; empty if there is none
};

// What the service does for its operator. The first two are asked often and must not block; each of
// the others may take its time, and runs once at a time.
struct Operations {
  std::function<std::string()> why_not_ready;  // "" = it takes batches
  std::function<std::string()> metrics;
  std::function<Result<publish::PublishReport>()> publish;
  std::function<Result<std::uint64_t>()> checkpoint;  // the store's sequence
  std::function<Status()> compact;
  std::function<Result<std::uint64_t>(const std::filesystem::path& directory,
                                      bool without_signing_keys)>
      backup;  // as well
  // What it removed, or, not told `yes`, would remove.
  std::function<Result<store::ExpiryEffect>(std::uint32_t before_week, bool yes)> expire;
  std::function<Result<VerifyAnswer>()> verify;
  std::function<Result<ingest::RevocationReport>(const ingest::RevocationRequest& untrusted)>
      revoke;
  std::function<Result<ingest::MadeInvitation>(const ingest::InvitationRequest& untrusted)> invite;
  std::function<Result<std::vector<std::string>>()> invitations;
  std::function<Status(const std::string& untrusted_name)> uninvite;
  std::function<Status()> reload;
};

// Answers the requests of requests.h. Thread-safe.
class Admin {
 public:
  // Nobody has a token before SetTokens().
  explicit Admin(Operations operations);
  // REQUIRES: Stop() has returned true, or nothing was ever asked to be done.
  ~Admin();
  Admin(const Admin&) = delete;
  Admin& operator=(const Admin&) = delete;

  void SetTokens(ingest::TokenSet tokens);

  // An http::Handler; what may take its time runs on threads of its own. A Host that is neither an
  // address nor localhost is refused: no page in a browser reaches this by a name of its own.
  void Handle(http::Request untrusted_request, http::Respond respond);

  // Nothing more is begun (503). Waits for what is in progress at most so long; false if something
  // still is.
  bool Stop(std::chrono::milliseconds limit);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fieldcost::admin
