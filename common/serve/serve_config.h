#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/log.h"
#include "common/config/toml_file.h"
#include "common/http/http_server.h"

namespace fieldcost::serve {

// The parts common to all servers' configuration files. Absent keys leave the options unchanged;
// errors are reported by the file (TomlFile).

// [server]: where to listen, and the limits per client address. The defaults suffice for a hundred
// machines behind one address.
void ReadListener(config::TomlFile& file, http::ServerOptions& options);

// [admin]: the operator's listener, on a loopback address; nullopt without the table.
std::optional<http::ServerOptions> ReadAdminListener(config::TomlFile& file, std::uint16_t port);

// Rejects a configuration in which both listen on the same address and port.
void CheckApart(config::TomlFile& file, const http::ServerOptions& server,
                const http::ServerOptions& admin);

// [log]. `format` is nullopt for the default: the journal's format if stderr is one, else text.
void ReadLog(config::TomlFile& file, std::optional<LogFormat>& format, LogLevel& level);
// Applies the settings that ReadLog() has read.
void UseLog(std::optional<LogFormat> format, LogLevel level);

// A number of MiB, as bytes.
void ReadMib(config::TomlFile& file, std::string_view key, std::uint64_t least_mib,
             std::uint64_t most_mib, std::uint64_t& bytes);
// The same for the space to keep free on the data disk; 0 = no limit.
void ReadMinFree(config::TomlFile& file, std::string_view key, std::uint64_t& bytes);

bool IsLoopback(const std::string& address);

}  // namespace fieldcost::serve
