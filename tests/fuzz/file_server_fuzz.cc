// Requests to the aggregator's public files. Nothing outside the directory may be sent, and each
// response must be a part of the requested file.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "aggregator/publish/file_server.h"
#include "common/base/check.h"
#include "common/base/file.h"
#include "tests/fuzz/request_text.h"
#include "tests/support/temp_dir.h"

namespace {

using namespace fieldcost;

constexpr std::string_view kContent = "0123456789";

// A directory of publications, next to a file that must not be sent.
class Published {
 public:
  Published() {
    const std::string hash(64, 'a');
    for (const char* const folder : {"publish/root", "publish/snapshots", "publish/fragments"}) {
      std::filesystem::create_directories(dir_.path() / folder);
    }
    for (const std::string& file : {std::string("publish/timestamp"), std::string("publish/root/1"),
                                    "publish/snapshots/" + hash, "publish/fragments/" + hash}) {
      Write(file, kContent);
    }
    Write("secret", "SECRET");
  }
  http::Response Handle(const http::Request& untrusted_request) const {
    return files_.Handle(untrusted_request);
  }

 private:
  void Write(const std::string& name, std::string_view bytes) {
    FIELDCOST_CHECK(WriteFileAtomically(dir_.path() / name, bytes, 0600).has_value());
  }
  const testing::TempDir dir_;
  const publish::FileServer files_{dir_.path() / "publish", 1};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Published published;
  const http::Request request = fuzz::RequestOf({reinterpret_cast<const char*>(data), size});
  const http::Response response = published.Handle(request);
  switch (response.status) {
    case 200:
      FIELDCOST_CHECK(request.method == "HEAD" || response.body == kContent);
      break;
    case 206:
      FIELDCOST_CHECK(!response.body.empty());
      FIELDCOST_CHECK(kContent.find(response.body) != std::string_view::npos);
      break;
    case 304:
      FIELDCOST_CHECK(response.body.empty());
      break;
    default:
      FIELDCOST_CHECK(response.status == 404 || response.status == 405 || response.status == 416);
  }
  return 0;
}
