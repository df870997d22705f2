#include "tools/cli/costs/header_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "common/base/file.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::cli {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

TEST(DeclaredFunctionsTest, FindsTheUsualFormsOfDeclarations) {
  EXPECT_THAT(DeclaredFunctions("int f(int);"), ElementsAre("f"));
  EXPECT_THAT(DeclaredFunctions("extern char *\nf (void);"), ElementsAre("f"));
  EXPECT_THAT(DeclaredFunctions("std::vector<int> f();"), ElementsAre("f"));
  EXPECT_THAT(DeclaredFunctions("int (f)(int);"), ElementsAre("f"));
  EXPECT_THAT(DeclaredFunctions("void (*f(int))(int);"), Contains("f"));
  EXPECT_THAT(DeclaredFunctions("int a(int b(int), int c);"), ElementsAre("a", "b"));
  // zlib, libpng, expat
  EXPECT_THAT(DeclaredFunctions("ZEXTERN int ZEXPORT inflate OF((z_streamp strm, int flush));"),
              Contains("inflate"));
  EXPECT_THAT(DeclaredFunctions("PNG_EXPORT(1, png_uint_32, png_access_version_number, (void));"),
              ElementsAre("png_access_version_number"));
  EXPECT_THAT(DeclaredFunctions("XMLPARSEAPI(enum XML_Status)\nXML_SetBase(XML_Parser p);"),
              ElementsAre("XML_SetBase"));
  EXPECT_THAT(DeclaredFunctions("#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f(void);\n}"),
              ElementsAre("f"));
}

TEST(DeclaredFunctionsTest, IgnoresEverythingElse) {
  for (const char* text :
       {"", "f(1);", "int f;", "int x = 1;", "/* int f(int); */", "// int f(int);",
        "const char* text = \"int f(int);\";", "#define g(x) int f(x)",
        "#define g(x) \\\n  int f(x)", "#define g(x) \\\r\n  int f(x)", "#include <int f(>",
        "struct s { int (*f)(int); int g(int); };", "static inline int a_ { return f(1) + *g(2); }",
        "namespace n { int f(int); }", "int (*f)(int);", "}}}}", "int f", "("}) {
    EXPECT_THAT(DeclaredFunctions(text), IsEmpty()) << text;
  }
  EXPECT_THAT(DeclaredFunctions("#define x \\\n y\nint f(int);"), ElementsAre("f"));
  EXPECT_THAT(DeclaredFunctions("inline int a() { return b(c(1)); }\nint f();"),
              ElementsAre("a", "f"));
}

class ReadHeadersTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = directory_.path() / name;
    std::filesystem::create_directories(file.parent_path());
    ASSERT_TRUE(WriteFileAtomically(file, text, 0600).has_value());
  }
  std::string Failure(const std::filesystem::path& path, ErrorCode code) const {
    const auto headers = ReadHeaders(path);
    if (headers) return "";
    EXPECT_EQ(headers.error().code, code);
    return headers.error().message;
  }

  testing::TempDir directory_;
};

TEST_F(ReadHeadersTest, NamesTheFirstHeaderByItsPathBelowTheDirectory) {
  Write("b.h", "int f(void); int g(void);");
  Write("a/z.hpp", "int g(void);");
  Write("c.c", "int h(void);");
  Write("readme", "int h(void);");
  std::filesystem::create_directory_symlink(directory_.path(), directory_.path() / "loop");
  const auto headers = ReadHeaders(directory_.path());
  ASSERT_TRUE(headers) << headers.error().message;
  EXPECT_THAT(*headers, ElementsAre(Pair("f", "b.h"), Pair("g", "a/z.hpp")));
  EXPECT_EQ(ReadHeaders(directory_.path() / "").value(), *headers);
  const auto one = ReadHeaders(directory_.path() / "b.h");
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_THAT(*one, ElementsAre(Pair("f", "b.h"), Pair("g", "b.h")));
}

TEST_F(ReadHeadersTest, ReportsPathsThatAreNoHeaders) {
  EXPECT_THAT(Failure(directory_.path() / "none", ErrorCode::kNotFound),
              AllOf(HasSubstr("none"), HasSubstr("does not exist")));
  EXPECT_THAT(Failure(directory_.path(), ErrorCode::kNotFound), HasSubstr("no file NAME.h"));
  Write("big.h", std::string(kMaxHeaderFileBytes + 1, ' '));
  EXPECT_THAT(Failure(directory_.path(), ErrorCode::kTooLarge), HasSubstr("big.h"));
  EXPECT_NE(Failure("/dev/null", ErrorCode::kInvalidArgument), "");
}

// Headers that the project's own build needs, and others where they are installed.
TEST_F(ReadHeadersTest, FindsTheFunctionsOfRealHeaders) {
  const auto declares = [](const char* file, std::initializer_list<const char*> functions) {
    if (!std::filesystem::exists(file)) return false;
    const auto headers = ReadHeaders(file);
    EXPECT_TRUE(headers) << headers.error().message;
    for (const char* function : functions) {
      EXPECT_TRUE(headers->contains(function)) << file << ": " << function;
    }
    return true;
  };
  EXPECT_TRUE(declares("/usr/include/zlib.h",
                       {"adler32", "compress2", "crc32", "deflate", "deflateEnd", "deflateInit_",
                        "gzclose", "gzopen", "inflate", "inflateInit2_", "uncompress"}));
  EXPECT_TRUE(declares("/usr/include/sqlite3.h",
                       {"sqlite3_open_v2", "sqlite3_prepare_v2", "sqlite3_step",
                        "sqlite3_column_text", "sqlite3_errmsg", "sqlite3_mprintf"}));
  declares("/usr/include/expat.h", {"XML_ParserCreate", "XML_Parse", "XML_ErrorString"});
  declares("/usr/include/libpng16/png.h", {"png_read_row", "png_error", "png_set_sRGB"});
  declares("/usr/include/libxml2/libxml/parser.h", {"xmlReadMemory", "xmlParseDocument"});
}

}  // namespace
}  // namespace fieldcost::cli
