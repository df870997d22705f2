#include "aggregator/operate/operate.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

#include "aggregator/admin/requests.h"
#include "aggregator/config/policy_toml.h"
#include "aggregator/ingest/abuse_names.h"
#include "aggregator/ingest/pseudonyms.h"
#include "aggregator/ingest/revocation.h"
#include "aggregator/operate/ask_service.h"
#include "aggregator/operate/keys.h"
#include "aggregator/operate/outcome.h"
#include "aggregator/publish/policy_publisher.h"
#include "aggregator/publish/publisher.h"
#include "aggregator/store/store.h"
#include "aggregator/upkeep/backup.h"
#include "aggregator/upkeep/retention.h"
#include "common/base/text.h"

namespace fieldcost::aggregator {
namespace {

Status CheckStoreExists(const Config& config) {
  std::error_code error;
  if (std::filesystem::is_directory(config.store.data_dir / "store", error)) return {};
  return Fail(ErrorCode::kNotFound, "there is no store in {}", config.store.data_dir.string());
}

// The store of a stopped server; none is made.
Result<std::unique_ptr<store::Store>> OpenExisting(const Config& config) {
  FIELDCOST_TRY(CheckStoreExists(config));
  return store::Store::Open(config.store);
}

// Does it with the store, or has the server do it that has the store open.
Result<Outcome> WithStore(const Config& config, const std::string& path, std::string body,
                          const std::function<Result<Outcome>(store::Store&)>& work) {
  const auto store = OpenExisting(config);
  if (store) return work(**store);
  if (store.error().code != ErrorCode::kAlreadyExists) return store.error();
  return AskService(config, path, std::move(body));
}

// Of a stopped store without changing anything.
Result<Outcome> VerifyStore(const Config& config) {
  FIELDCOST_TRY(CheckStoreExists(config));
  const auto report = store::Store::VerifyStopped(config.store);
  if (!report && report.error().code == ErrorCode::kAlreadyExists) {
    return AskService(config, admin::kVerifyPath, "{}");
  }
  if (!report) return report.error();
  Outcome found;
  for (const auto& [name, number] : store::NumbersOf(*report)) found.Add(name, number);
  found.Add("ok", report->ok()).Add("problem", report->first_problem);
  return found;
}

Result<bool> Verify(const Config& config, bool json) {
  FIELDCOST_ASSIGN(const Outcome outcome, VerifyStore(config));
  const bool ok = outcome.IsTrue("ok");
  Print(
      outcome,
      ok ? "the store is good: every file is what was written, every row is valid, they add up to "
           "what was accepted, and the ledger knows the same"
         : "the store has a problem",
      json);
  return ok;
}

// True: there is nothing to do, or it is done.
Result<bool> Recover(const CommandLine& line, const Config& config) {
  FIELDCOST_TRY(CheckStoreExists(config));
  FIELDCOST_ASSIGN(const store::RecoveryReport report,
                   store::Store::Recover(config.store, line.drop_damaged));
  const auto count = [&](store::LostWrite::What what) {
    return static_cast<std::uint64_t>(
        std::count_if(report.lost.begin(), report.lost.end(),
                      [&](const store::LostWrite& write) { return write.what == what; }));
  };
  Outcome outcome;
  outcome.Add("damage", report.damage)
      .Add("lost_batches", count(store::LostWrite::kBatch))
      .Add("lost_withdrawals", count(store::LostWrite::kWithdrawal))
      .Add("lost_enrolments", count(store::LostWrite::kEnrolment))
      .Add("lost_revocations", count(store::LostWrite::kRevocation))
      .Add("kept_in", report.kept_in.string())
      .Add("problem", report.problem);
  std::vector<std::string> lost;
  for (const store::LostWrite& write : report.lost) lost.push_back(store::TextOf(write));
  if (line.json) {
    outcome.Add("lost", std::move(lost));
  } else {
    for (const std::string& text : lost) fmt::print("{}\n", text);
  }
  const bool is_whole = report.damage.empty();
  const char* text = is_whole ? "no log of the store is damaged" : "a log of the store is damaged";
  if (!is_whole && !line.json) {
    fmt::print(
        "{}: that is what {} lost, as far as it can be read; a record that cannot may have held "
        "more.\nThese agents were told that all is well, and do not send it again. A backup from "
        "before the damage and\nthe agents' next batches may be better: see the README.\n",
        report.damage, line.drop_damaged ? "is" : "would be");
  }
  if (line.drop_damaged && !is_whole) text = "the log was cut off where it was damaged";
  Print(outcome, text, line.json);
  return is_whole || (line.drop_damaged && report.problem.empty());
}

Status SignPolicy(const CommandLine& line, const Config& config, const Clock& clock) {
  FIELDCOST_ASSIGN(PolicyText text, LoadPolicyText(line.policy_file));
  FIELDCOST_ASSIGN(const wire::PolicyMetadata policy,
                   publish::PublishPolicy(config.store.data_dir, std::move(text.policy),
                                          text.lifetime, clock, line.offline_dir));
  fmt::print("{}",
             line.json ? ShowPolicyJson(policy, clock.Now()) : ShowPolicy(policy, clock.Now()));
  return {};
}

Status PrintPolicy(const CommandLine& line, const Config& config, const Clock& clock) {
  FIELDCOST_ASSIGN(const auto policy, publish::PublishedPolicy(config.store.data_dir));
  if (!policy) {
    return Fail(ErrorCode::kNotFound, "no policy is in force in {}",
                config.store.data_dir.string());
  }
  fmt::print("{}",
             line.json ? ShowPolicyJson(*policy, clock.Now()) : ShowPolicy(*policy, clock.Now()));
  return {};
}

Outcome OutcomeOf(const ingest::RevocationReport& report) {
  Outcome outcome;
  for (const auto& [name, value] : report.numbers) outcome.Add(name, value);
  if (!report.changes.empty()) outcome.Add("changes", report.changes);
  return outcome;
}

Result<Outcome> Revoke(const CommandLine& line, const Config& config, const Clock& clock) {
  const ingest::RevocationRequest request{
      .agent = line.agent, .withdraw = line.withdraw, .dry_run = line.dry_run};
  FIELDCOST_TRY(ingest::CheckForm(request));
  const std::string body = fmt::format(R"({{"agent":{},"withdraw":{},"dry_run":{}}})",
                                       QuoteJson(line.agent), line.withdraw, line.dry_run);
  return WithStore(config, admin::kRevokePath, body, [&](store::Store& store) -> Result<Outcome> {
    const std::filesystem::path keys = config.store.data_dir / "keys";
    const std::filesystem::path secret = keys / ingest::kPseudonymSecret;
    std::error_code error;
    if (!std::filesystem::exists(secret, error)) {
      return Fail(ErrorCode::kNotFound, "secret file {} is missing", secret.string());
    }
    FIELDCOST_ASSIGN(const auto pseudonyms, ingest::Pseudonyms::LoadOrCreate(secret));
    FIELDCOST_TRY(store.Bind(ingest::kPseudonymSecret, pseudonyms.Fingerprint()));
    FIELDCOST_ASSIGN(auto names, ingest::AbuseNames::LoadOrCreate(keys / ingest::kAbuseNamesSecret,
                                                                  clock.Now()));
    FIELDCOST_ASSIGN(const std::string agent_id, ingest::FindAgent(request.agent, store, pseudonyms,
                                                                   names.ReaderAt(clock.Now())));
    const bool show = !line.json && ::isatty(STDERR_FILENO) == 1;
    const auto progress = [show](int done, int total) {
      if (show) fmt::print(stderr, "\rtaking out {}/{}", done, total);
    };
    FIELDCOST_ASSIGN(const ingest::RevocationReport report,
                     ingest::RevokeAgent(store, agent_id, request,
                                         config.publish.contribution_threshold, progress));
    if (show && line.withdraw && !line.dry_run) fmt::print(stderr, "\n");
    return OutcomeOf(report);
  });
}

Result<Outcome> BackUpStore(const CommandLine& line, const Config& config) {
  const std::filesystem::path directory = std::filesystem::absolute(line.directory);
  const std::string body = fmt::format(R"({{"directory":{},"without_signing_keys":{}}})",
                                       QuoteJson(directory.string()), line.without_signing_keys);
  return WithStore(config, admin::kBackupPath, body, [&](store::Store& store) -> Result<Outcome> {
    FIELDCOST_ASSIGN(const BackupReport report,
                     BackUp(store, {.data_dir = config.store.data_dir,
                                    .directory = directory,
                                    .without_signing_keys = line.without_signing_keys}));
    Outcome outcome;
    outcome.Add("sequence", report.sequence).Add("files", std::uint64_t{report.files});
    return outcome;
  });
}

Result<Outcome> RestoreStore(const CommandLine& line, const Config& config) {
  FIELDCOST_ASSIGN(const RestoreReport report, Restore(line.directory, config.store.data_dir));
  FIELDCOST_ASSIGN(const auto store, OpenExisting(config));
  Outcome outcome;
  outcome.Add("sequence", store->sequence()).Add("files", std::uint64_t{report.files});
  if (!report.missing_keys.empty()) {
    std::vector<std::string> names;
    for (const std::filesystem::path& key : report.missing_keys) names.push_back(key.string());
    outcome.Add("missing_keys", std::move(names));
  }
  if (!report.passed_over.empty()) outcome.Add("passed_over", report.passed_over.string());
  if (!line.json) {
    fmt::print(
        "What was acknowledged after this backup was made is lost: agents do not send it again.\n"
        "Published versions go on after a gap, so that clients take them. Sign the policy "
        "again.\n");
    if (!report.missing_keys.empty()) {
      fmt::print("Signing keys are missing: put them back, or make others with keys rotate.\n");
    }
    if (!report.passed_over.empty()) {
      fmt::print(
          "There is a later backup, but the list of its files is missing, or making it was "
          "interrupted: this is the one before.\n");
    }
  }
  return outcome;
}

Result<Outcome> Compact(const CommandLine& line, const Config& config) {
  const bool show = !line.json && ::isatty(STDERR_FILENO) == 1;
  const auto progress = [show](int done, int total) {
    if (show) fmt::print(stderr, "\rcompacting {}/{}{}", done, total, done == total ? "\n" : "");
  };
  return WithStore(config, admin::kCompactPath, "{}", [&](store::Store& store) -> Result<Outcome> {
    FIELDCOST_TRY(store.Compact(progress));
    return Outcome();
  });
}

Result<Outcome> Expire(const CommandLine& line, const Config& config, const Clock& clock) {
  const std::string body = fmt::format(R"({{"before":{},"yes":{}}})", line.before_week, line.yes);
  return WithStore(config, admin::kExpirePath, body, [&](store::Store& store) -> Result<Outcome> {
    FIELDCOST_ASSIGN(
        const store::ExpiryEffect effect,
        DeleteBefore(store, clock, config.retention_weeks, line.before_week, line.yes));
    Outcome outcome;
    outcome.Add("rows", effect.rows)
        .Add("ledger_entries", effect.ledger_entries)
        .Add("held_batches", effect.held_batches)
        .Add("kept_batches", effect.kept_batches);
    if (!line.yes) {
      outcome.Add("rows_left", effect.rows_left)
          .Add("oldest_week", std::uint64_t{effect.oldest_week})
          .Add("newest_week", std::uint64_t{effect.newest_week});
    }
    return outcome;
  });
}

Result<bool> PrintExpiry(const CommandLine& line, const Config& config, const Clock& clock) {
  FIELDCOST_ASSIGN(const Outcome outcome, Expire(line, config, clock));
  const std::string bound =
      fmt::format("week {} (from {})", line.before_week, FirstDayOf(line.before_week));
  if (line.yes) {
    Print(outcome, "deleted what was before " + bound, line.json);
    return true;
  }
  Print(outcome, fmt::format("nothing is changed; what is before {} would be deleted", bound),
        line.json);
  if (line.json) return true;
  if (config.retention_weeks == 0) {
    fmt::print("No row would be: store.retention_weeks is 0, which keeps them for ever.\n");
  }
  fmt::print(
      "What is deleted does not come back, and older batches are refused from then on. Make a "
      "backup first:\n"
      "  fieldcost-aggregator backup --config {0} --to DIR\n"
      "Then this does it:\n"
      "  fieldcost-aggregator expire --config {0} --before {1} --yes\n",
      line.config_file.string(), line.before_week);
  return true;
}

Result<Outcome> Publish(const Config& config, const Clock& clock) {
  return WithStore(config, admin::kPublishPath, "{}", [&](store::Store& store) -> Result<Outcome> {
    FIELDCOST_ASSIGN(auto publisher, publish::Publisher::Open(config.publish, clock));
    FIELDCOST_ASSIGN(const publish::PublishReport report, publisher.Publish(store));
    Outcome outcome;
    outcome.Add("version", report.version)
        .Add("rows", report.rows)
        .Add("withheld", report.withheld)
        .Add("crowded_out", report.crowded_out)
        .Add("fragments", report.fragments);
    return outcome;
  });
}

Result<Outcome> RotateKeys(const CommandLine& line, const Config& config, const Clock& clock) {
  FIELDCOST_ASSIGN(const publish::KeyRole role, publish::ParseKeyRole(line.role));
  if (role != publish::KeyRole::kRoot && (line.root_keys != 1 || line.root_threshold != 1)) {
    return Fail(ErrorCode::kInvalidArgument,
                "--keys and --threshold are for the root; the {} role has one key",
                publish::Name(role));
  }
  return ChangeKeys(config, KeyChange::kRotate, role,
                    {.offline_dir = line.offline_dir,
                     .root_key_files = line.root_key_files,
                     .root_keys = line.root_keys,
                     .root_threshold = line.root_threshold},
                    clock);
}

}  // namespace

Result<bool> Operate(const CommandLine& line, const Config& config, const Clock& clock) {
  const auto say = [&](const char* done, const Result<Outcome>& outcome) -> Result<bool> {
    if (!outcome) return outcome.error();
    Print(*outcome, done, line.json);
    return true;
  };
  const publish::RotationOptions signing{.offline_dir = line.offline_dir,
                                         .root_key_files = line.root_key_files};
  switch (line.command) {
    case Command::kVerify:
      return Verify(config, line.json);
    case Command::kRecover:
      return Recover(line, config);
    case Command::kPolicySign:
      FIELDCOST_TRY(SignPolicy(line, config, clock));
      return true;
    case Command::kPolicyShow:
      FIELDCOST_TRY(PrintPolicy(line, config, clock));
      return true;
    case Command::kRevoke:
      return say(line.dry_run ? "nothing is changed; this would be"
                              : "revoked: no more batches of this agent are taken",
                 Revoke(line, config, clock));
    case Command::kBackup:
      return say("backed up", BackUpStore(line, config));
    case Command::kRestore:
      return say("restored", RestoreStore(line, config));
    case Command::kCompact:
      return say("compacted", Compact(line, config));
    case Command::kExpire:
      return PrintExpiry(line, config, clock);
    case Command::kPublish:
      return say("published", Publish(config, clock));
    case Command::kKeysShow: {
      FIELDCOST_ASSIGN(const std::string text, ShowKeys(config, line.json, clock));
      fmt::print("{}", text);
      return true;
    }
    case Command::kKeysRotate:
      return say("rotated", RotateKeys(line, config, clock));
    case Command::kKeysAddPolicy:
      return say("added", ChangeKeys(config, KeyChange::kAddPolicy, publish::KeyRole::kPolicy,
                                     signing, clock));
    case Command::kKeysRenew:
      return say("renewed",
                 ChangeKeys(config, KeyChange::kRenew, publish::KeyRole::kRoot, signing, clock));
    case Command::kKeysExportOffline: {
      FIELDCOST_ASSIGN(const publish::KeyRole role, publish::ParseKeyRole(line.role));
      return say("exported", ExportOffline(config, role, line.directory));
    }
    default:
      return Fail(ErrorCode::kInternal, "not a command of an operator");
  }
}

}  // namespace fieldcost::aggregator
