#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "aggregator/store/published_codec.h"
#include "aggregator/store/published_reader.h"
#include "aggregator/store/store.h"
#include "common/base/result.h"

namespace fieldcost::store {

// The store's side of a publication: the rows and the published units of one moment, and changes to
// the table of published units, which Commit() makes durable in one step. PUBLISHED.md explains the
// table.
//
// While this object exists, each withdrawal marks all units that it changes, because the
// publication may be writing the first records of some. One at a time. Several threads may use it,
// but AddPart() and Commit() must not run concurrently with anything else.
class PublishedUpdate {
 public:
  // Changes of a range of units. One thread at a time. They are written to files at once, so memory
  // does not grow with their number.
  class Part {
   public:
    ~Part();
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    // Stores the unit's record; an empty unit has none. REQUIRES: `key` is after all previous keys
    // of this part. kInvalidArgument: the unit is not valid (Validate()) or exceeds a limit of the
    // format; kIo.
    Status Put(const PublishedKey& key, const PublishedUnit& unit);
    Status Remove(const PublishedKey& key);  // REQUIRES and errors as Put()

   private:
    friend class PublishedUpdate;
    struct State;
    explicit Part(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
  };

  ~PublishedUpdate();  // without Commit(), nothing changes
  PublishedUpdate(const PublishedUpdate&) = delete;
  PublishedUpdate& operator=(const PublishedUpdate&) = delete;

  // The marks of Snapshot::ReadPublished() are those of withdrawals since the previous publication.
  const Store::Snapshot& snapshot() const;
  // Whether the store was restored from a backup since the last publication, so that more than its
  // published units may have been public.
  bool must_settle() const;

  // Adds a part for units that come after those of all parts before it.
  Part& AddPart();

  // Makes the changes of all parts durable, removes the marks that the snapshot has, notes that
  // this publication has settled, and stores `numbers` as Store::PutNumber() does: all of it in one
  // step. REQUIRES: called once, and nothing but the destructor afterwards. If the error is that of
  // the last step, the store has failed (Store::healthy()); otherwise nothing has changed.
  Status Commit(const std::map<std::string, std::uint64_t>& numbers = {});

 private:
  friend class Store;
  struct State;
  explicit PublishedUpdate(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fieldcost::store
