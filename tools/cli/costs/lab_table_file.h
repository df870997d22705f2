#pragma once

#include <filesystem>

#include "common/base/result.h"
#include "common/wire/lab_table.h"

namespace fieldcost::cli {

// Lab tables as files, readable only by the user, like all local measurements.

// Errors as ReadFile() and wire::DecodeLabTable(); the message names the file.
Result<wire::LabTable> ReadLabTable(const std::filesystem::path& file);
// Replaces the file atomically; returns its size in bytes. Errors as wire::EncodeLabTable() and
// WriteFileAtomically().
Result<std::size_t> WriteLabTable(const std::filesystem::path& file, const wire::LabTable& table);

// The number of all calls of the table's map runs.
std::uint64_t CallsOf(const wire::LabTable& table);

}  // namespace fieldcost::cli
