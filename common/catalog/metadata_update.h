#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/catalog/catalog_schema.h"
#include "common/catalog/mirrors.h"
#include "common/wire/metadata.h"

namespace fieldcost::catalog {

// The client workflow of The Update Framework 1.0, §5.3-5.5: root chain, timestamp, snapshot. Each
// file is stored as soon as it is verified, so that an older version is never accepted later.
// `state` is the catalogue's state and is kept equal to what is stored. Starts from `pinned_root`,
// which may be missing once the catalogue has roots. Returns the snapshot if it differs from the
// stored one, else nullopt. Errors as for Sync().
// Roots and the timestamp come from the current mirror, which the caller skips after an error; the
// snapshot, which the timestamp names by its hash, from any.
Result<std::optional<wire::SnapshotMetadata>> UpdateMetadata(
    MirrorConnection& mirror, sqlite::Database& database, SyncState& state,
    const std::filesystem::path& pinned_root, WallTime now);

}  // namespace fieldcost::catalog
