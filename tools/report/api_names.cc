#include "tools/report/api_names.h"

#include "common/draw/name_text.h"
#include "common/names/cxx_name.h"

namespace fieldcost::report {

ApiNames::Key ApiNames::KeyOf(const stats::ApiKey& api) {
  return {api.soname, api.package_version, names::ShortName(api.symbol)};
}

std::string ApiNames::Of(const stats::ApiKey& api, const draw::Style& style) const {
  std::string name = names::ShortName(api.symbol);
  if (count_.at(KeyOf(api)) != 1) {
    name = names::DemangledName(api.symbol);
    if (!api.symbol_version.empty()) name += "@" + api.symbol_version;
  }
  return draw::ShortenName(name, kMaxApiWidth, style);
}

draw::TextColumn LibraryColumn(unsigned rank) {
  return {.heading = "LIBRARY",
          .rank = rank,
          .least = kLeastLibraryWidth,
          .keeps = draw::TextColumn::Keeps::kLibrary};
}

}  // namespace fieldcost::report
