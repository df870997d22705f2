#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "agent/settings/consent.h"
#include "agent/settings/paths.h"
#include "common/base/result.h"

namespace fieldcost::probe {

// Probe points are separate from the anonymous data: they have their own consent, credentials and
// database, and share only the state directory.
std::filesystem::path SpoolFile(const settings::AgentPaths& paths);    // state/probe.db
std::filesystem::path ConsentFile(const settings::AgentPaths& paths);  // state/probe_consent
std::filesystem::path LoginFile(const settings::AgentPaths& paths);    // state/probe_login
// Exists while there is data to collect or send; its presence starts `fieldcost-probe collect`.
std::filesystem::path WorkFile(const settings::AgentPaths& paths);  // state/probe_work

// The consent, off or on; covers only events that began at or after it. Off if the administrator
// forbids probe points (`[probe] permit` in system.toml).
Result<settings::Consent> ProbeConsent(const settings::AgentPaths& paths);
// kPermissionDenied: names the file, its setting, and who can change it.
Status CheckProbesPermitted(const settings::AgentPaths& paths);
// Checked before each piece of a request. kPermissionDenied unless the consent in force is `on`.
Status CheckMaySendProbes(const settings::AgentPaths& paths);
Status SaveProbeConsent(const settings::AgentPaths& paths, settings::Mode mode, WallTime now);

// The server, and this machine's credentials there.
struct Login {
  std::string url;
  std::string user;
  std::string device;             // this machine's number on the server
  std::string token;              // secret
  std::filesystem::path ca_file;  // empty: the system's trust store
};

// kNotFound: not logged in (the message explains how). kPermissionDenied: others could read it.
// kCorrupt.
Result<Login> LoadLogin(const settings::AgentPaths& paths);
Status SaveLogin(const settings::AgentPaths& paths, const Login& login);
// Does nothing if it does not exist.
Status RemoveLogin(const settings::AgentPaths& paths);

}  // namespace fieldcost::probe
