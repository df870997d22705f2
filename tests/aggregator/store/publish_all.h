#pragma once

#include <map>
#include <string>

#include "aggregator/store/published_update.h"
#include "aggregator/store/store.h"

namespace fieldcost::store {

// A publication without a threshold, so that tests of the store need few agents: each unit gets a
// cut of everything that is in its rows and not in its live cuts. A unit with a marked withdrawal
// loses all cuts first. Stores `version` as the number "version". kCorrupt: the cuts of a unit
// without a mark are not in its rows.
Status PublishAll(Store& store, std::uint64_t version);

// The same, in steps: adds the changes of a publication that has begun.
Status PutAll(PublishedUpdate& update);

// The whole table at the moment of a new snapshot, by key.
std::map<PublishedKey, PublishedEntry> PublishedOf(Store& store);

// A valid unit with one cut of these sums, of all records up to `number`.
PublishedUnit UnitOf(const CompactRow& sums, std::uint64_t number);

// The key of the unit that a row belongs to.
PublishedKey UnitKeyOf(const stats::RowKey& row);

}  // namespace fieldcost::store
