#include "aggregator/upkeep/data_check.h"

#include "aggregator/ingest/abuse_names.h"
#include "aggregator/ingest/pseudonyms.h"
#include "aggregator/ingest/receipt.h"
#include "common/base/text.h"

namespace fieldcost::aggregator {
namespace {

// Checks that a secret of type `Holder` is the one to which the store is bound.
template <typename Holder>
void CheckSecret(const std::filesystem::path& path,
                 const std::map<std::string, std::string>& bindings, publish::FileReport& report) {
  const auto bound = bindings.find(path.filename());
  if (bound == bindings.end()) return;
  ++report.files;
  const auto note = [&](std::string why) {
    report.damaged.push_back({.path = path, .why = std::move(why)});
  };
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return note("it is missing; restore it from any backup");
  const auto secret = Holder::LoadOrCreate(path);
  if (!secret) return note(secret.error().message);
  if (secret->Fingerprint() != bound->second) {
    note("it is not the secret that the store was filled with; restore that one from a backup");
  }
}

}  // namespace

Result<publish::FileReport> CheckFilesBesideStore(
    const std::filesystem::path& data_dir, const std::map<std::string, std::string>& bindings) {
  FIELDCOST_ASSIGN(publish::FileReport report, publish::CheckFiles(data_dir));
  const std::filesystem::path keys = data_dir / "keys";
  CheckSecret<ingest::Pseudonyms>(keys / ingest::kPseudonymSecret, bindings, report);
  CheckSecret<ingest::Receipts>(keys / ingest::kReceiptSecret, bindings, report);
  const std::filesystem::path names = keys / ingest::kAbuseNamesSecret;
  std::error_code error;
  if (std::filesystem::exists(names, error)) {
    ++report.files;
    if (const Status status = ingest::AbuseNames::CheckFile(names); !status) {
      report.damaged.push_back({.path = names, .why = status.error().message});
    }
  }
  return report;
}

std::string DataReport::FirstProblem() const {
  if (!store.first_problem.empty()) return store.first_problem;
  if (files.damaged.empty()) return "";
  // Names and contents of damaged files may be any bytes.
  return EscapeControl(publish::Describe(files.damaged.front()));
}

std::vector<std::pair<std::string_view, std::uint64_t>> DataReport::Numbers() const {
  auto numbers = store::NumbersOf(store);
  numbers.emplace_back("other_files", files.files);
  numbers.emplace_back("other_file_bytes", files.bytes);
  numbers.emplace_back("damaged_other_files", files.damaged.size());
  return numbers;
}

}  // namespace fieldcost::aggregator
