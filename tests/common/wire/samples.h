#pragma once

#include <vector>

#include "common/crypto/ed25519.h"
#include "common/wire/batch.h"
#include "common/wire/fragment.h"
#include "common/wire/metadata.h"
#include "common/wire/policy.h"

namespace fieldcost::wire {

// The worked examples in common/wire/README.md and of the golden files.
BatchContent SampleBatch();
std::vector<stats::StatRow> SampleRows();          // as published before weights existed
std::vector<stats::StatRow> WeightedSampleRows();  // the same with weights
std::vector<stats::StatRow> BoundedSampleRows();   // and with bounded sums
std::vector<stats::StatRow> WeekSampleRows();      // and with fullest quarters
// A total of seven machines, and the rows of the two classes that six of them belong to.
std::vector<stats::StatRow> PartlyPublishedRows();
std::vector<stats::StatRow> PeriodSampleRows();  // two periods of one metric, one of another

// Keys from the fixed seeds 01..01, 02..02, ...
crypto::PrivateKey SampleKey(char seed);
RootMetadata SampleRoot();  // root keys 1 and 2 (both needed), timestamp 3, snapshot 4
TimestampMetadata SampleTimestamp();
SnapshotMetadata SampleSnapshot();
RootMetadata SampleRootWithPolicy();  // like SampleRoot(), with policy key 5
PolicyMetadata SamplePolicy();

// A batch of `rows` different rows.
BatchContent ManyRows(std::size_t rows);

}  // namespace fieldcost::wire
