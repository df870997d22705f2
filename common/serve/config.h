#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/log.h"
#include "common/config/toml_file.h"
#include "common/http/server.h"

namespace fieldcost::serve {

// What the configuration files of all servers have in common. Keys that are absent leave the
// options as they are; errors are the file's (TomlFile).

// [server]: where to listen, and how much one address may ask. A hundred machines behind one
// address get along with what is set without the file's saying so.
void ReadListener(config::TomlFile& file, http::ServerOptions& options);

// [admin]: where the operator asks, on a loopback address; none without the table.
std::optional<http::ServerOptions> ReadAdminListener(config::TomlFile& file, std::uint16_t port);

// Refuses that both listen at the same place.
void CheckApart(config::TomlFile& file, const http::ServerOptions& server,
                const http::ServerOptions& admin);

// [log]. `format` is none for the journal if stderr is one, else text.
void ReadLog(config::TomlFile& file, std::optional<LogFormat>& format, LogLevel& level);
// Logs as was read.
void UseLog(std::optional<LogFormat> format, LogLevel level);

// A number of MiB, as bytes.
void ReadMib(config::TomlFile& file, std::string_view key, std::uint64_t least_mib,
             std::uint64_t most_mib, std::uint64_t& bytes);
// The same for the room that is to stay free on the disk of the data; 0 = no limit.
void ReadMinFree(config::TomlFile& file, std::string_view key, std::uint64_t& bytes);

bool IsLoopback(const std::string& address);

}  // namespace fieldcost::serve
