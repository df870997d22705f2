#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "agent/settings/consent.h"
#include "agent/settings/paths.h"
#include "common/base/result.h"

namespace fieldcost::probe {

// Probe points have a road of their own, which shares nothing with the anonymous data but the state
// directory: this consent, these credentials, this database.
std::filesystem::path SpoolFile(const agent::AgentPaths& paths);    // state/probe.db
std::filesystem::path ConsentFile(const agent::AgentPaths& paths);  // state/probe_consent
std::filesystem::path LoginFile(const agent::AgentPaths& paths);    // state/probe_login
// Exists while something is to be collected or sent; its presence starts `fieldcost-probe collect`.
std::filesystem::path WorkFile(const agent::AgentPaths& paths);  // state/probe_work

// Off or on; only what began since then falls under it. Off where the administrator says so
// (`[probe] permit` in system.toml).
Result<agent::Consent> ProbeConsent(const agent::AgentPaths& paths);
// kPermissionDenied: names the file, what it says, and who can change it.
Status CheckProbesPermitted(const agent::AgentPaths& paths);
// Asked before each piece of a request. kPermissionDenied unless the consent in force is `on`.
Status CheckMaySendProbes(const agent::AgentPaths& paths);
Status SaveProbeConsent(const agent::AgentPaths& paths, agent::Mode mode, WallTime now);

// The server, and how it knows this machine.
struct Login {
  std::string url;
  std::string user;
  std::string device;             // the server's number of this machine
  std::string token;              // secret
  std::filesystem::path ca_file;  // empty: the system's trust store
};

// kNotFound: nobody has logged in (the message says how); kPermissionDenied: others could read it;
// kCorrupt.
Result<Login> LoadLogin(const agent::AgentPaths& paths);
Status SaveLogin(const agent::AgentPaths& paths, const Login& login);
// Does nothing if there is none.
Status RemoveLogin(const agent::AgentPaths& paths);

}  // namespace fieldcost::probe
