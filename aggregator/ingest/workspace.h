#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "aggregator/ingest/ingest.h"
#include "common/wire/batch.h"

namespace fieldcost::ingest {

// A thread's buffers, kept from batch to batch. For this folder's sources only.
struct Ingest::Workspace {
  wire::BatchDecoder decoder;
  wire::UntrustedRow row;
  stats::RowKey key;
  std::string key_bytes;
  std::string greatest_key;
  std::unordered_set<std::string> seen;  // filled only if rows do not come in ascending order
  store::AcceptedRows accepted;
  wire::BatchAnswer answer;
  std::vector<std::uint32_t> refused;  // all of them; the answer lists only some

  // Before the rows of a decoded batch are looked at.
  void Start();
  // Brings `row`, which has been checked, into `key_bytes`.
  void MakeKey();
  // True if a row with this key was accepted before in this batch.
  bool IsDuplicate();
};

// The answer for an error, with Retry-After if it is 503.
http::Response Refuse(int status, const Error& error);
http::Response Refuse(const Error& error);
http::Response AnswerJson(std::string json);

}  // namespace fieldcost::ingest
