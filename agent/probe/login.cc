// The login file: five lines, each terminated by "\n": url, user, device, token, CA file (may be
// empty).
#include "agent/probe/login.h"

#include <array>
#include <cerrno>
#include <system_error>

#include "agent/settings/system_policy.h"
#include "common/base/file.h"
#include "common/base/secret_file.h"
#include "common/base/text.h"

namespace fieldcost::probe {
namespace {

constexpr std::size_t kMaxLoginBytes = 8192;

Status CheckLine(std::string_view what, const std::string& text) {
  if (text.find_first_of("\r\n") == std::string::npos) return {};
  return Fail(ErrorCode::kInvalidArgument, "{} \"{}\" has more than one line", what,
              EscapeControl(text));
}

}  // namespace

std::filesystem::path SpoolFile(const settings::AgentPaths& paths) {
  return paths.state_dir / "probe.db";
}
std::filesystem::path ConsentFile(const settings::AgentPaths& paths) {
  return paths.state_dir / "probe_consent";
}
std::filesystem::path LoginFile(const settings::AgentPaths& paths) {
  return paths.state_dir / "probe_login";
}
std::filesystem::path WorkFile(const settings::AgentPaths& paths) {
  return paths.state_dir / "probe_work";
}

Result<settings::Consent> ProbeConsent(const settings::AgentPaths& paths) {
  FIELDCOST_ASSIGN(settings::Consent consent, settings::LoadConsent(ConsentFile(paths)));
  if (!CheckProbesPermitted(paths)) consent.mode = settings::Mode::kOff;
  return consent;
}

Status CheckProbesPermitted(const settings::AgentPaths& paths) {
  const auto policy = settings::LoadSystemPolicy(paths.system_file);
  if (policy && policy->permit_probe) return {};
  const std::string file = paths.system_file.string();
  if (policy) {
    return Fail(ErrorCode::kPermissionDenied,
                "probe points are not permitted on this machine: {} has permit = false below "
                "[probe]; only the machine's administrator can change that",
                file);
  }
  return Fail(ErrorCode::kPermissionDenied,
              "probe points are not permitted on this machine because {} cannot be understood "
              "({}); only the machine's administrator can change that",
              file, policy.error().message);
}

Status CheckMaySendProbes(const settings::AgentPaths& paths) {
  FIELDCOST_TRY(CheckProbesPermitted(paths));
  FIELDCOST_ASSIGN(const settings::Consent consent, ProbeConsent(paths));
  if (consent.mode == settings::Mode::kOn) return {};
  return Fail(ErrorCode::kPermissionDenied,
              "sending of probe points is off: switch it on with fieldcost probe on");
}

Status SaveProbeConsent(const settings::AgentPaths& paths, settings::Mode mode, WallTime now) {
  FIELDCOST_TRY(MakeDirectories(paths.state_dir, 0700));
  if (mode == settings::Mode::kOff) return settings::WithdrawConsent(ConsentFile(paths), now);
  return settings::SaveConsent(ConsentFile(paths), {.mode = mode, .since = now});
}

Result<Login> LoadLogin(const settings::AgentPaths& paths) {
  const auto text = ReadSecretFile("login file", LoginFile(paths), kMaxLoginBytes);
  if (!text) {
    if (text.error().code != ErrorCode::kNotFound) return text.error();
    return Fail(ErrorCode::kNotFound,
                "no server for probe points is known: log in with fieldcost probe login URL");
  }
  Login login;
  std::array<std::string, 5> lines;
  std::string_view rest = *text;
  for (std::string& line : lines) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) {
      return Fail(ErrorCode::kCorrupt,
                  "login file {} is damaged: log in again with fieldcost probe login URL",
                  LoginFile(paths).string());
    }
    line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
  }
  login = {.url = lines[0],
           .user = lines[1],
           .device = lines[2],
           .token = lines[3],
           .ca_file = lines[4]};
  return login;
}

Status SaveLogin(const settings::AgentPaths& paths, const Login& login) {
  std::string text;
  for (const std::string& line :
       {login.url, login.user, login.device, login.token, login.ca_file.string()}) {
    FIELDCOST_TRY(CheckLine("login", line));
    text += line + "\n";
  }
  FIELDCOST_TRY(MakeDirectories(paths.state_dir, 0700));
  return WriteFileAtomically(LoginFile(paths), text, 0600);
}

Status RemoveLogin(const settings::AgentPaths& paths) {
  std::error_code error;
  std::filesystem::remove(LoginFile(paths), error);
  if (error) return ErrnoError("remove", LoginFile(paths), error.value());
  return {};
}

}  // namespace fieldcost::probe
