#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "aggregator/ingest/contribution_check.h"
#include "aggregator/ingest/ingest.h"
#include "aggregator/ingest/row_check.h"
#include "common/wire/batch.h"

namespace fieldcost::ingest {

// A thread's buffers, reused for each batch. For this folder's sources only.
struct Ingest::Workspace {
  wire::BatchDecoder decoder;
  wire::UntrustedRow row;
  stats::RowKey key;
  std::string key_bytes;
  std::string greatest_key;
  // Filled only if rows are not in ascending order. Not a hash table: senders choose the keys.
  std::set<std::string, std::less<>> seen;
  RowCheck rows;
  ContributionCheck contributions;
  store::AcceptedRows accepted;
  wire::BatchAnswer answer;
  std::vector<std::uint32_t> refused;  // all of them; the response lists only some
  std::array<std::uint32_t, kRowProblems> problems{};

  // Prepares for the rows of a decoded batch.
  void Start();
  // Moves the key of `row` into `key` and `key_bytes`. REQUIRES: the row was checked.
  void MakeKey();
  // True if a row with this key was already accepted in this batch.
  bool IsDuplicate();
  void RefuseRow(std::size_t index, RowRefusal refusal);
  // Whether the batch counts towards the end of probation: some row is accepted, and no refused row
  // is one that no honest agent sends.
  bool IsHonest() const;
  // Whether a refused row is one that no honest agent sends.
  bool IsDishonest() const;
};

// The response to an error, with Retry-After if it is 503.
http::Response Refuse(int status, const Error& error);
http::Response Refuse(const Error& error);
// The response 429, with the time to wait.
http::Response TryLater(const Error& error, std::chrono::seconds wait);
http::Response AnswerJson(std::string json);

}  // namespace fieldcost::ingest
