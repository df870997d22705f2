#include "aggregator/probes/accounts/guessing.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>

#include "common/base/check.h"
#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"

namespace fieldcost::probe_server {
namespace {

// Names from outside have any length; and one that was mistyped may be a password.
std::string AccountKey(const Guesser& guesser) {
  return "u" + crypto::Sha256(guesser.untrusted_name);
}
std::string AddressKey(const Guesser& guesser) { return "a" + NetworkOf(guesser.address); }

struct Failures {
  std::uint64_t count = 0;
  WallTime last;
};

Result<Failures> Read(sqlite::Database& database, const std::string& key, WallTime now) {
  sqlite::Statement statement =
      database.Prepare("SELECT failures, last FROM guesser WHERE key = ?");
  statement.Blob(key);
  FIELDCOST_ASSIGN(const bool found, statement.Step());
  if (!found) return Failures{};
  Failures failures{statement.ColumnInt(0), TimeOfMicros(statement.ColumnInt(1))};
  if (now - failures.last >= kFailuresForgotten) failures.count = 0;
  return failures;
}

// A clock that was set back does not lengthen it.
std::chrono::seconds WaitOf(const Failures& failures, WallTime now) {
  const std::chrono::seconds wait = WaitAfter(failures.count);
  const auto since = std::max(now - failures.last, WallTime::duration(0));
  if (wait.count() == 0 || since >= wait) return std::chrono::seconds(0);
  return std::chrono::ceil<std::chrono::seconds>(wait - since);
}

Status Write(sqlite::Database& database, const std::string& key, std::uint64_t failures,
             WallTime last) {
  return database.Prepare("INSERT OR REPLACE INTO guesser (key, failures, last) VALUES (?, ?, ?)")
      .Blob(key)
      .Int(failures)
      .Int(MicrosOf(last))
      .Run();
}

}  // namespace

std::chrono::seconds WaitAfter(std::uint64_t failures) {
  if (failures < kFreeFailures) return std::chrono::seconds(0);
  const std::uint64_t doublings = std::min<std::uint64_t>(failures - kFreeFailures, 6);
  return std::min(kFirstWait * (1 << doublings), kLongestWait);
}

std::string NetworkOf(std::string_view untrusted_address) {
  const std::string text(untrusted_address);
  in6_addr v6{};
  if (::inet_pton(AF_INET6, text.c_str(), &v6) != 1) return text.substr(0, INET6_ADDRSTRLEN);
  if (IN6_IS_ADDR_V4MAPPED(&v6)) {
    std::array<char, INET_ADDRSTRLEN> v4{};
    ::inet_ntop(AF_INET, &v6.s6_addr[12], v4.data(), v4.size());
    return v4.data();
  }
  return HexEncode({&v6.s6_addr[0], 8});
}

Status BeginAttempt(sqlite::Database& database, const Guesser& guesser, WallTime now,
                    std::chrono::seconds& wait) {
  FIELDCOST_CHECK(database.InTransaction());
  const std::string account = AccountKey(guesser);
  const std::string address = AddressKey(guesser);
  FIELDCOST_ASSIGN(const Failures of_account, Read(database, account, now));
  FIELDCOST_ASSIGN(const Failures of_address, Read(database, address, now));
  wait = std::max(WaitOf(of_account, now), WaitOf(of_address, now));
  if (wait.count() != 0) {
    return Fail(ErrorCode::kUnavailable, "too many wrong passwords; try again in {} seconds",
                wait.count());
  }
  FIELDCOST_TRY(Write(database, account, of_account.count + 1, now));
  FIELDCOST_TRY(Write(database, address, of_address.count + 1, now));
  return {};
}

Status NoteSuccess(sqlite::Database& database, const Guesser& guesser) {
  FIELDCOST_CHECK(database.InTransaction());
  FIELDCOST_TRY(
      database.Prepare("DELETE FROM guesser WHERE key = ?").Blob(AccountKey(guesser)).Run());
  return database
      .Prepare("UPDATE guesser SET failures = failures - 1 WHERE key = ? AND failures > 0")
      .Blob(AddressKey(guesser))
      .Run();
}

Status ForgetOldFailures(sqlite::Database& database, WallTime now) {
  FIELDCOST_CHECK(database.InTransaction());
  FIELDCOST_TRY(database.Prepare("DELETE FROM guesser WHERE last <= ?")
                    .Int(MicrosOf(now - kFailuresForgotten))
                    .Run());
  return database
      .Prepare(
          "DELETE FROM guesser WHERE key NOT IN "
          "(SELECT key FROM guesser ORDER BY last DESC LIMIT ?)")
      .Int(kMaxGuessers)
      .Run();
}

}  // namespace fieldcost::probe_server
