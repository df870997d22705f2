#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "common/wire/lab_table.h"

namespace fieldcost::cli {

// What commands about lab tables print with --json; names are stable.

// Of a table that was written there.
std::string WrittenTableJson(const std::filesystem::path& file, std::uint64_t size_bytes,
                             const wire::LabTable& table);

}  // namespace fieldcost::cli
