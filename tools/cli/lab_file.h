#pragma once

#include <filesystem>

#include "common/base/result.h"
#include "common/wire/lab_table.h"

namespace fieldcost::cli {

// Lab tables as files of the user: readable by nobody else, as all that was measured here.

// As ReadFile() and wire::DecodeLabTable(); the message names the file.
Result<wire::LabTable> ReadLabTable(const std::filesystem::path& file);
// Replaces the file at once, or not at all; its size in bytes. As wire::EncodeLabTable() and
// WriteFileAtomically().
Result<std::size_t> WriteLabTable(const std::filesystem::path& file, const wire::LabTable& table);

// All of the table's calls, in its map runs.
std::uint64_t CallsOf(const wire::LabTable& table);

}  // namespace fieldcost::cli
