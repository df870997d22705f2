#include "aggregator/probe_server/web/visit.h"

#include <utility>

#include "aggregator/probe_server/pages/layout.h"

namespace fieldcost::probe_server {

Frame Visit::PageFrame(std::string title) const {
  Frame frame{.title = std::move(title)};
  if (!viewer || viewer->session.empty()) return frame;
  frame.user = viewer->name;
  frame.form_token = FormToken(viewer->session);
  return frame;
}

Result<std::string> Visit::ViewerName() const {
  if (!viewer->name.empty()) return viewer->name;
  sqlite::Statement find = data.database().Prepare("SELECT name FROM user WHERE id = ?");
  FIELDCOST_ASSIGN(const bool found, find.Int(viewer->user.value()).Step());
  return found ? find.ColumnText(0) : std::string();
}

AuditEntry Visit::Audited(std::string what, std::string account, std::string object) const {
  AuditEntry entry{.time = site.clock.Now(),
                   .what = std::move(what),
                   .account = std::move(account),
                   .address = untrusted_request.peer_address,
                   .object = std::move(object)};
  LogAudit(entry);
  return entry;
}

}  // namespace fieldcost::probe_server
