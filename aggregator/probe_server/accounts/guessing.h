#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "aggregator/probe_server/accounts/names.h"
#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/sqlite/sqlite.h"

namespace fieldcost::probe_server {

// Limits password guessing. There are three counters, so that no outsider can lock users out:
//
// - Pair: the failures of one account from one network. After 5 failures the next attempt must wait
//   a minute, then twice as long after each failure, up to an hour. A success clears the counter,
//   and it expires a day after the last failure. It is independent of other networks and accounts.
// - Account and network: the failures of one account from all networks, and of all accounts from
//   one network. Each is a budget of 50, refilled at 50 per day. A success gives back at most 5
//   failures, and only those of its own pair, so a guesser who has an account gains nothing.
//
// A network from which the account has logged in before is *known*: there, only the pair counts. So
// even when strangers have used up the budgets, users can log in from their usual networks;
// sessions and devices are not affected. `user unlock` clears an account or makes a network known.
//
// Bounds on guesses per account: from one network, 33 within the first day and 24 on each later day
// (plus 5 each time the account itself logs in from there); from all networks where it has never
// logged in together, 100 within the first day and 50 on each later day. From one network on all
// accounts that have never logged in there: the same 100 and 50.
//
// Nonexistent names are counted like all others, so outsiders do not learn which names exist.

inline constexpr std::uint64_t kFreeFailures = 5;
inline constexpr std::chrono::seconds kFirstWait{60};
inline constexpr std::chrono::seconds kLongestWait{3600};
inline constexpr std::chrono::hours kFailuresForgotten{24};
inline constexpr std::uint64_t kDailyBudget = 50;       // per account, and per network
inline constexpr std::size_t kMaxGuessers = 65'536;     // counters; the oldest are removed first
inline constexpr std::uint64_t kMaxKnownNetworks = 32;  // per user; the oldest are removed first
inline constexpr std::chrono::hours kNetworkForgotten{90 * 24};  // after the last login from there

// How long a pair must wait after this many consecutive failures. Pure.
std::chrono::seconds WaitAfter(std::uint64_t failures);

// The network of an address; for IPv6, its first 64 bits. Pure.
std::string NetworkOf(std::string_view untrusted_address);
// Whether the text is an IPv4 or IPv6 address. Pure.
bool IsAddress(const std::string& untrusted_text);

struct Guesser {
  std::string untrusted_name;  // of the account
  std::string address;
  // The attempt comes from a session of the account; counted separately, like a known network.
  bool in_session = false;
};

struct Attempt {
  std::chrono::seconds wait{0};           // not 0: the password must not be checked
  std::chrono::seconds wait_if_wrong{0};  // before the next attempt if this one fails
};

// Counts an attempt as failed before the password is checked, so that concurrent attempts cannot
// evade the limit. kUnavailable: `attempt.wait` is not 0. REQUIRES (also below): a transaction.
Status BeginAttempt(sqlite::Database& database, const Guesser& guesser, WallTime now,
                    Attempt& attempt);
// Records that the password was right: clears the pair and makes its network known to the account.
Status NoteSuccess(sqlite::Database& database, const Guesser& guesser, WallTime now);
// Clears the account's counters for all networks.
Status Unlock(sqlite::Database& database, std::string_view name);
// Makes the address's network known to the user, as a login from there would.
Status AddKnownNetwork(sqlite::Database& database, UserId user, std::string_view address,
                       WallTime now);
Status ForgetOldFailures(sqlite::Database& database, WallTime now);

}  // namespace fieldcost::probe_server
