// Performs the operations of the admin listener: the part of Service about operations.
#include "aggregator/ingest/invite.h"
#include "aggregator/publish/file_check.h"
#include "aggregator/service/service.h"
#include "aggregator/upkeep/backup.h"
#include "aggregator/upkeep/data_check.h"
#include "common/base/log.h"

namespace fieldcost::aggregator {
namespace {

std::chrono::sys_seconds NowInSeconds() {
  return std::chrono::floor<std::chrono::seconds>(SystemClock().Now());
}

// Logs the progress of removing an agent's batches: the requesting command cannot show it.
void LogProgress(int done, int total) {
  constexpr int kStep = 1'000;
  if (done % kStep != 0) return;
  LogEvent(LogLevel::kInfo, "withdrawing a revoked agent's batches",
           {{"done", done}, {"of", total}});
}

}  // namespace

admin::Operations Service::Operations() {
  // Refuses while not all parts exist.
  const auto when_serving = [this](auto work) {
    return [this, work](auto&&... arguments) -> decltype(work(arguments...)) {
      FIELDCOST_TRY(CheckServing());
      return work(arguments...);
    };
  };
  return {
      .health = {.why_not_ready = [this] { return WhyNotReady(); },
                 .metrics = [this] { return Metrics(); }},
      .publish = when_serving([this] { return Publish(); }),
      .checkpoint = when_serving([this]() -> Result<std::uint64_t> {
        FIELDCOST_TRY(store_->Checkpoint());
        return store_->sequence();
      }),
      .compact = when_serving([this] { return store_->Compact(); }),
      .backup = when_serving([this](const std::filesystem::path& directory,
                                    bool without_signing_keys) -> Result<std::uint64_t> {
        FIELDCOST_ASSIGN(const BackupReport report,
                         BackUp(*store_, {.data_dir = config_.store.data_dir,
                                          .directory = directory,
                                          .without_signing_keys = without_signing_keys}));
        return report.sequence;
      }),
      .expire = when_serving(
          [this](std::uint32_t before_week, bool yes) { return ExpireBefore(before_week, yes); }),
      .verify = when_serving([this]() -> Result<admin::VerifyAnswer> {
        FIELDCOST_ASSIGN(store::VerifyReport store, store_->Verify());
        FIELDCOST_ASSIGN(publish::FileReport files, FilesBesideStore());
        const DataReport report{.store = std::move(store), .files = std::move(files)};
        return admin::VerifyAnswer{
            .numbers = report.Numbers(), .ok = report.ok(), .problem = report.FirstProblem()};
      }),
      .revoke = when_serving([this](const ingest::RevocationRequest& untrusted_request) {
        return ingest_->Revoke(untrusted_request, config_.publish.contribution_threshold,
                               LogProgress);
      }),
      .invite = when_serving([this](const ingest::InvitationRequest& untrusted_request) {
        return ingest::Invite(*store_, untrusted_request, NowInSeconds());
      }),
      .invitations =
          when_serving([this] { return ingest::DescribeInvitations(*store_, NowInSeconds()); }),
      .uninvite = when_serving([this](const std::string& untrusted_name) {
        return ingest::RemoveInvitation(*store_, untrusted_name);
      }),
      .reload = when_serving([this] { return Reload(); }),
  };
}

}  // namespace fieldcost::aggregator
