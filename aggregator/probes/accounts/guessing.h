#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "aggregator/probes/accounts/names.h"
#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/sqlite/sqlite.h"

namespace fieldcost::probe_server {

// Limits the guessing of passwords. Three counters, so that no outsider locks others out:
//
// - Pair: the failures of one account from one network. After 5 failures it waits a minute, then
//   twice as long each time, at most an hour. A success clears it; it is forgotten a day after the
//   last failure. Nothing that happens in other networks or to other accounts changes it.
// - Account and network: the failures of one account from all networks, and of all accounts from
//   one network. Each is a budget of 50, refilled at 50 a day. A success gives back the failures of
//   its own pair, at most 5, and no others: a guesser who has an account gains nothing by it.
//
// A network from which the account has logged in before is *known*: there, only the pair counts. So
// while strangers use up the budgets, users still log in from where they did before; sessions and
// devices do not depend on any of this. `user unlock` clears an account, or makes a network known.
//
// Bounds on guesses, per account: from one network 33 within the first day and 24 on each later one
// (and 5 more each time the account itself logs in from there); from all networks where it never
// logged in together 100 within the first day and 50 on each later one. From one network to all
// accounts that never logged in there: the same 100 and 50.
//
// Names that no user has are counted as all others, so outsiders do not learn which names exist.

inline constexpr std::uint64_t kFreeFailures = 5;
inline constexpr std::chrono::seconds kFirstWait{60};
inline constexpr std::chrono::seconds kLongestWait{3600};
inline constexpr std::chrono::hours kFailuresForgotten{24};
inline constexpr std::uint64_t kDailyBudget = 50;       // of an account, and of a network
inline constexpr std::size_t kMaxGuessers = 65'536;     // counters; the oldest are removed first
inline constexpr std::uint64_t kMaxKnownNetworks = 32;  // of a user; the oldest are removed first
inline constexpr std::chrono::hours kNetworkForgotten{90 * 24};  // after the last login from there

// How long a pair waits after that many failures in a row. Pure.
std::chrono::seconds WaitAfter(std::uint64_t failures);

// The network that an address is counted as: IPv6 by its first 64 bits. Pure.
std::string NetworkOf(std::string_view untrusted_address);
// Whether the text is an address of IPv4 or IPv6. Pure.
bool IsAddress(const std::string& untrusted_text);

struct Guesser {
  std::string untrusted_name;  // of the account
  std::string address;
  // The attempt comes from a session of the account: counted by itself, as a known network.
  bool in_session = false;
};

struct Attempt {
  std::chrono::seconds wait{0};           // not 0: the password must not be looked at
  std::chrono::seconds wait_if_wrong{0};  // what the next attempt waits if this one fails
};

// Counts an attempt as failed before the password is looked at, so that concurrent attempts do not
// evade the limit. kUnavailable: `attempt.wait` is not 0. REQUIRES, as all below: a transaction.
Status BeginAttempt(sqlite::Database& database, const Guesser& guesser, WallTime now,
                    Attempt& attempt);
// Notes that the password was right: clears the pair, and makes its network known to the account.
Status NoteSuccess(sqlite::Database& database, const Guesser& guesser, WallTime now);
// Clears the account's counters, of all its networks.
Status Unlock(sqlite::Database& database, std::string_view name);
// Makes the address's network known to the user, as a login from there does.
Status AddKnownNetwork(sqlite::Database& database, UserId user, std::string_view address,
                       WallTime now);
Status ForgetOldFailures(sqlite::Database& database, WallTime now);

}  // namespace fieldcost::probe_server
