#include "agent/refresh/sync_options.h"

#include "common/http/proxy.h"

namespace fieldcost::refresh {

catalog::SyncOptions SyncOptionsOf(const settings::AgentPaths& paths,
                                   const settings::AgentConfig& config) {
  catalog::SyncOptions options;
  options.catalog_file = paths.catalog_file;
  options.root_file = paths.catalog_root_file;
  options.server.url = config.url;
  options.server.ca_file = config.catalog_urls.empty() ? config.ca_file : config.catalog_ca_file;
  for (const std::string& url : config.catalog_urls) {
    options.mirrors.push_back({.url = url, .proxy_url = http::ChooseProxy(url, config.proxy)});
  }
  options.server.proxy_url = http::ChooseProxy(config.url, config.proxy);
  return options;
}

}  // namespace fieldcost::refresh
