#include "aggregator/probe_server/accounts/guessing.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"

namespace fieldcost::probe_server {
namespace {

constexpr std::chrono::microseconds kBudgetTime = kFailuresForgotten;
constexpr std::chrono::microseconds kBudgetStep = kBudgetTime / kDailyBudget;

// Untrusted names have any length, and a mistyped name may be a password.
std::string NameKey(std::string_view untrusted_name) { return crypto::Sha256(untrusted_name); }

struct Keys {
  std::string pair;
  std::string account;
  std::string network;

  explicit Keys(const Guesser& guesser) {
    const std::string name = NameKey(guesser.untrusted_name);
    const std::string place = guesser.in_session ? "session" : NetworkOf(guesser.address);
    pair = "p" + name + place;
    account = "a" + name;
    network = "n" + place;
  }
};

struct Row {
  std::uint64_t failures = 0;
  // For a pair: the last failure. For a budget: when it will be full again.
  WallTime time;
};

Result<Row> Read(sqlite::Database& database, const std::string& key) {
  sqlite::Statement statement =
      database.Prepare("SELECT failures, last FROM guesser WHERE key = ?");
  statement.Blob(key);
  FIELDCOST_ASSIGN(const bool found, statement.Step());
  if (!found) return Row{};
  return Row{statement.ColumnInt(0), TimeOfMicros(statement.ColumnInt(1))};
}

Result<std::uint64_t> PairFailures(sqlite::Database& database, const std::string& key, WallTime now,
                                   WallTime& last) {
  FIELDCOST_ASSIGN(const Row row, Read(database, key));
  last = row.time;
  return now - row.time >= kFailuresForgotten ? 0 : row.failures;
}

Status Write(sqlite::Database& database, const std::string& key, std::uint64_t failures,
             WallTime time) {
  return database.Prepare("INSERT OR REPLACE INTO guesser (key, failures, last) VALUES (?, ?, ?)")
      .Blob(key)
      .Int(failures)
      .Int(MicrosOf(time))
      .Run();
}

// Setting the clock back does not lengthen the wait.
std::chrono::seconds PairWait(std::uint64_t failures, WallTime last, WallTime now) {
  const std::chrono::seconds wait = WaitAfter(failures);
  const auto since = std::max(now - last, WallTime::duration(0));
  if (since >= wait) return std::chrono::seconds(0);
  return std::chrono::ceil<std::chrono::seconds>(wait - since);
}

// When the budget would be full again if nothing were taken from it. Tolerates a clock that was set
// back, as above.
Result<WallTime> FullAt(sqlite::Database& database, const std::string& key, WallTime now) {
  FIELDCOST_ASSIGN(const Row row, Read(database, key));
  return std::clamp(row.time, now, now + kBudgetTime);
}

// The time until one more failure fits in the budget.
std::chrono::seconds BudgetWait(WallTime full_at, WallTime now) {
  const auto over = full_at + kBudgetStep - now - kBudgetTime;
  return std::chrono::ceil<std::chrono::seconds>(std::max(over, WallTime::duration(0)));
}

Result<bool> IsKnown(sqlite::Database& database, const Guesser& guesser, WallTime now) {
  if (guesser.in_session) return true;
  sqlite::Statement statement = database.Prepare(
      "SELECT 1 FROM known_network JOIN user ON user.id = known_network.user WHERE user.name = ? "
      "AND network = ? AND used > ?");
  statement.Text(guesser.untrusted_name).Text(NetworkOf(guesser.address));
  statement.Int(MicrosOf(now - kNetworkForgotten));
  return statement.Step();
}

// Returns failures to a budget.
Status GiveBack(sqlite::Database& database, const std::string& key, std::uint64_t failures,
                WallTime now) {
  FIELDCOST_ASSIGN(const WallTime full_at, FullAt(database, key, now));
  return Write(database, key, 0, full_at - kBudgetStep * failures);
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

bool IsAddress(const std::string& untrusted_text) {
  in6_addr address{};
  return ::inet_pton(AF_INET, untrusted_text.c_str(), &address) == 1 ||
         ::inet_pton(AF_INET6, untrusted_text.c_str(), &address) == 1;
}

Status BeginAttempt(sqlite::Database& database, const Guesser& guesser, WallTime now,
                    Attempt& attempt) {
  FIELDCOST_CHECK(database.InTransaction());
  const Keys keys(guesser);
  WallTime last;
  FIELDCOST_ASSIGN(const std::uint64_t failures, PairFailures(database, keys.pair, now, last));
  FIELDCOST_ASSIGN(const bool is_known, IsKnown(database, guesser, now));
  attempt.wait = PairWait(failures, last, now);
  attempt.wait_if_wrong = WaitAfter(failures + 1);
  std::vector<std::pair<std::string, WallTime>> budgets;
  for (const std::string& key : {keys.account, keys.network}) {
    if (is_known) break;
    FIELDCOST_ASSIGN(const WallTime full_at, FullAt(database, key, now));
    budgets.emplace_back(key, full_at + kBudgetStep);
    attempt.wait = std::max(attempt.wait, BudgetWait(full_at, now));
    attempt.wait_if_wrong = std::max(attempt.wait_if_wrong, BudgetWait(full_at + kBudgetStep, now));
  }
  if (attempt.wait.count() != 0) {
    return Fail(ErrorCode::kUnavailable, "too many wrong passwords; try again in {} seconds",
                attempt.wait.count());
  }
  FIELDCOST_TRY(Write(database, keys.pair, failures + 1, now));
  for (const auto& [key, full_at] : budgets) FIELDCOST_TRY(Write(database, key, 0, full_at));
  return {};
}

Status NoteSuccess(sqlite::Database& database, const Guesser& guesser, WallTime now) {
  FIELDCOST_CHECK(database.InTransaction());
  const Keys keys(guesser);
  WallTime last;
  FIELDCOST_ASSIGN(const std::uint64_t failures, PairFailures(database, keys.pair, now, last));
  FIELDCOST_TRY(database.Prepare("DELETE FROM guesser WHERE key = ?").Blob(keys.pair).Run());
  if (guesser.in_session) return {};
  FIELDCOST_ASSIGN(const bool is_known, IsKnown(database, guesser, now));
  for (const std::string& key : {keys.account, keys.network}) {
    if (is_known) break;
    FIELDCOST_TRY(GiveBack(database, key, std::min(failures, kFreeFailures), now));
  }
  sqlite::Statement find = database.Prepare("SELECT id FROM user WHERE name = ?");
  FIELDCOST_ASSIGN(const bool found, find.Text(guesser.untrusted_name).Step());
  if (!found) return {};
  return AddKnownNetwork(database, UserId(find.ColumnInt(0)), guesser.address, now);
}

Status Unlock(sqlite::Database& database, std::string_view name) {
  FIELDCOST_CHECK(database.InTransaction());
  const std::string key = NameKey(name);
  return database
      .Prepare("DELETE FROM guesser WHERE key = ?1 OR (key >= ?2 AND substr(key, 1, ?3) = ?2)")
      .Blob("a" + key)
      .Blob("p" + key)
      .Int(key.size() + 1)
      .Run();
}

Status AddKnownNetwork(sqlite::Database& database, UserId user, std::string_view address,
                       WallTime now) {
  FIELDCOST_CHECK(database.InTransaction());
  FIELDCOST_TRY(
      database
          .Prepare("INSERT OR REPLACE INTO known_network (user, network, used) VALUES (?, ?, ?)")
          .Int(user.value())
          .Text(NetworkOf(address))
          .Int(MicrosOf(now))
          .Run());
  return database
      .Prepare(
          "DELETE FROM known_network WHERE user = ?1 AND network NOT IN (SELECT network FROM "
          "known_network WHERE user = ?1 ORDER BY used DESC, network LIMIT ?2)")
      .Int(user.value())
      .Int(kMaxKnownNetworks)
      .Run();
}

Status ForgetOldFailures(sqlite::Database& database, WallTime now) {
  FIELDCOST_CHECK(database.InTransaction());
  FIELDCOST_TRY(database.Prepare("DELETE FROM known_network WHERE used <= ?")
                    .Int(MicrosOf(now - kNetworkForgotten))
                    .Run());
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
