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

// Who guesses passwords has to wait: after 5 failures a minute, then twice as long each time, at
// most an hour; of one account, and of one address. What failed is forgotten after a day. Names
// that nobody has are counted as all others, so that nobody learns which there are.

inline constexpr std::uint64_t kFreeFailures = 5;
inline constexpr std::chrono::seconds kFirstWait{60};
inline constexpr std::chrono::seconds kLongestWait{3600};
inline constexpr std::chrono::hours kFailuresForgotten{24};
inline constexpr std::size_t kMaxGuessers = 65'536;  // names and addresses; the oldest go first

// How long one waits after that many failures in a row. Pure.
std::chrono::seconds WaitAfter(std::uint64_t failures);

// The network that an address is counted as: IPv6 by its first 64 bits. Pure.
std::string NetworkOf(std::string_view untrusted_address);

struct Guesser {
  std::string untrusted_name;  // of the account
  std::string address;
};

// Counts an attempt as failed before anybody looks at it, so that many at once are no way around
// the limit. kUnavailable: it must not be looked at; `wait` says for how long. REQUIRES, as the two
// below: a transaction.
Status BeginAttempt(sqlite::Database& database, const Guesser& guesser, WallTime now,
                    std::chrono::seconds& wait);
// Notes that it was right: forgets the account's failures, but of the address only this attempt,
// since whoever has an account could otherwise go on guessing those of others.
Status NoteSuccess(sqlite::Database& database, const Guesser& guesser);
Status ForgetOldFailures(sqlite::Database& database, WallTime now);

}  // namespace fieldcost::probe_server
