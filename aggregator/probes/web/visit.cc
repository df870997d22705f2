#include "aggregator/probes/web/visit.h"

#include <utility>

#include "aggregator/probes/pages/layout.h"

namespace fieldcost::probe_server {

Frame Visit::PageFrame(std::string title) const {
  Frame frame{.title = std::move(title)};
  if (!viewer || viewer->session.empty()) return frame;
  frame.user = viewer->name;
  frame.form_token = FormToken(viewer->session);
  return frame;
}

}  // namespace fieldcost::probe_server
