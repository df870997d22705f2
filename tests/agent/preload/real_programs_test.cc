#include <unistd.h>

#include <ostream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/agent/preload/real_program.h"

// Installed programs, each with one deterministic workload, while slice after slice of a library's
// functions is measured: their output and exit status must not change.

namespace fieldcost::testing {
namespace {

struct Program {
  std::string name;
  std::string path;
  // Run by /bin/sh without the library; $RUN is the program with it, $VICTIMS the directory of the
  // victims.
  std::string script;
  std::string input = {};
  int exit_status = 0;
  std::vector<AtLeast> at_least = {};
};

void PrintTo(const Program& program, std::ostream* out) { *out << program.name; }

constexpr char kPython[] = R"sh($RUN -c '
import collections, decimal, hashlib, heapq, itertools, json, re, sqlite3, struct, threading, zlib
d = {str(i): [i * 0.5, chr(97 + i % 26)] for i in range(500)}
t = json.dumps(d)
assert json.loads(t) == d
print(zlib.crc32(zlib.compress(t.encode())), hashlib.sha256(t.encode()).hexdigest())
base = sqlite3.connect(":memory:")
base.create_function("twice", 1, lambda x: 2 * x)
print(len(re.findall("[a-f]", t)), base.execute("select twice(21)").fetchone())
print(decimal.Decimal(2) ** decimal.Decimal("0.5"), struct.pack("<dI", 1.5, 7))
print(collections.Counter(t).most_common(3), heapq.nlargest(2, range(100)))
class A:
    def __del__(self): print("deleted")
a = A(); a.me = a; del a
import gc; gc.collect()
w = [threading.Thread(target=sorted, args=(list(d),)) for _ in range(4)]
[x.start() for x in w]; [x.join() for x in w]
def numbers():
    try: yield from itertools.count()
    finally: print("closed")
g = numbers(); next(g); g.close()
raise ValueError(len(t))')sh";

constexpr char kNode[] = R"sh($RUN -e '
const zlib = require("zlib"), crypto = require("crypto"), fs = require("fs");
const { Worker } = require("worker_threads");
const text = fs.readFileSync("text");
const back = zlib.inflateSync(zlib.deflateSync(text));
console.log(crypto.createHash("sha256").update(back).digest("hex"));
console.log(text.toString().match(/7/g).length, new Intl.NumberFormat("de").format(12345.678));
const worker = new Worker("require(\"worker_threads\").parentPort.postMessage(6 * 7)",
                          { eval: true });
worker.on("message", async (m) => {
  console.log(m, (await fs.promises.readFile("text")).length);
  try { JSON.parse("{"); } catch (e) { console.log(e.name); }
  process.exit(3);
});')sh";

constexpr char kCmake[] = R"sh(cat > script.cmake << 'END'
file(STRINGS text lines)
list(LENGTH lines count)
foreach(i RANGE 300)
  list(GET lines ${i} line)
  string(REGEX REPLACE "([0-9]+) ([0-9]+)" "\\2-\\1" line "${line}")
  string(SHA256 sum "${sum}${line}")
endforeach()
string(JSON made SET "{}" key "[1, 2.5, \"three\"]")
file(ARCHIVE_CREATE OUTPUT a.tar.gz PATHS text COMPRESSION GZip MTIME 1700000000)
file(ARCHIVE_EXTRACT INPUT a.tar.gz DESTINATION out)
file(MD5 out/text copy)
math(EXPR product "6 * 7")
message("${count} ${sum} ${made} ${copy} ${product}")
message(FATAL_ERROR "the end")
END
$RUN -P script.cmake)sh";

constexpr char kOpenssl[] = R"sh([ -f key ] || openssl genrsa -out key 2048 2> errors
$RUN dgst -blake2b512 text
$RUN enc -aes-256-cbc -K $(seq -s "" 10 25) -iv $(seq -s "" 10 25) -in text -out coded && md5sum coded
$RUN enc -d -aes-256-cbc -K $(seq -s "" 10 25) -iv $(seq -s "" 10 25) -in coded | cmp - text
$RUN enc -chacha20 -pbkdf2 -S 0011223344556677 -k word -in text | md5sum
$RUN dgst -sha256 -sign key -out signed text
$RUN dgst -sha256 -prverify key -signature signed text
$RUN rsa -in key -noout -check
$RUN req -x509 -new -key key -subj /CN=a -days 2 -set_serial 7 -out certificate
$RUN verify -CAfile certificate certificate
$RUN prime 1000003; $RUN prime -no-such-option)sh";

// Each runs in its own directory, which contains `text` with 2,000 lines.
const Program kPrograms[] = {
    {.name = "sqlite3",
     .path = "/usr/bin/sqlite3",
     .script = "$RUN :memory:",
     .input = R"(create table t(a integer primary key, b text); begin;
insert into t select value, hex(value * 7919) from generate_series(1, 2000); commit;
create index i on t(b); select count(*), min(b), max(b), sum(length(b)) from t;
select printf('%.6f', avg(a * 1.5)) from t where b like '3%'; select * from missing;
select a, row_number() over (order by b) from t limit 3; select json_group_array(a) from
(select a from t limit 5); delete from t where a % 3 = 0; vacuum; pragma integrity_check;
.dump
)",
     .exit_status = 1,
     .at_least = {{"libsqlite3.so.0", 100}}},
    {.name = "python3", .path = "/usr/bin/python3", .script = kPython, .exit_status = 1},
    {.name = "libpython",
     .path = kVictims + "embed",
     .script = kPython,
     .exit_status = 1,
     .at_least = {{"libpython3.11.so.1.0", 1}}},
    {.name = "gdb",
     .path = "/usr/bin/gdb",
     .script =
         R"($RUN -nx -q -batch -ex 'info functions victim_noop' -ex 'print sizeof(VictimBig)' \
  -ex 'ptype VictimMixed' -ex 'print 6 * 7' -ex 'disassemble victim_noop' \
  -ex 'python print(sum(i * i for i in range(1000)), gdb.parameter("language"))' \
  -ex 'python print(sorted(str(f.type) for f in gdb.lookup_type("VictimPair").fields()))' \
  -ex 'python raise gdb.GdbError("raised")' -ex 'print missing' $VICTIMS/libvictim.so.1)",
     .exit_status = 1,
     .at_least = {{"libpython3.11.so.1.0", 100}, {"libstdc++.so.6", 50}}},
    {.name = "git",
     .path = "/usr/bin/git",
     .script = "export HOME=$PWD GIT_AUTHOR_DATE=@1700000000 GIT_COMMITTER_DATE=@1700000000; "
               "rm -rf repo; $RUN init -q -b m repo && cp text repo/ && $RUN -C repo add text && "
               "$RUN -C repo -c user.name=a -c user.email=b commit -q -m c && "
               "$RUN -C repo log --stat && $RUN -C repo fsck --strict && $RUN -C repo gc -q && "
               "$RUN -C repo grep -c 7 && $RUN -C repo archive HEAD | md5sum && "
               "$RUN -C repo diff HEAD~9",
     .exit_status = 128,
     .at_least = {{"libz.so.1", 5}}},
    {.name = "openssl",
     .path = "/usr/bin/openssl",
     .script = kOpenssl,
     .exit_status = 1,
     .at_least = {{"libcrypto.so.3", 500}, {"libssl.so.3", 100}}},
    {.name = "curl",
     .path = "/usr/bin/curl",
     .script = "$RUN -sS file://$PWD/text; $RUN -sS file://$PWD/missing",
     .exit_status = 37,
     .at_least = {{"libcurl.so.4", 10}}},
    {.name = "gzip",
     .path = "/usr/bin/gzip",
     .script = "$RUN -nc9 text | md5sum; $RUN -nc text | $RUN -dc; $RUN -d text",
     .exit_status = 2},
    {.name = "xz",
     .path = "/usr/bin/xz",
     .script = "$RUN -c1 -T2 text | md5sum; $RUN -c0 text | $RUN -dc; $RUN -d text",
     .exit_status = 1,
     .at_least = {{"liblzma.so.5", 10}}},
    {.name = "zstd",
     .path = "/usr/bin/zstd",
     .script = "$RUN -qc -T2 text | md5sum; $RUN -qc19 text | $RUN -qdc; $RUN -qd text",
     .exit_status = 1},
    {.name = "perl",
     .path = "/usr/bin/perl",
     .script = R"($RUN -e 'open F, "text"; my %h; while (<F>) { $h{$1}++ while /(\d)/g }
print "$_ $h{$_}\n" for sort keys %h; eval { die "x\n" }; print $@; exit 3')",
     .exit_status = 3},
    {.name = "sort",
     .path = "/usr/bin/sort",
     .script = "$RUN -k2 -n text; $RUN --parallel=2 -u text; $RUN missing",
     .exit_status = 2},
    {.name = "grep",
     .path = "/usr/bin/grep",
     .script = "$RUN -cE '(7|3){2}' text; $RUN -o 'line 1.*9' text; $RUN -P '(?<=1)7$' text"},
    {.name = "sed",
     .path = "/usr/bin/sed",
     .script = R"($RUN -n 's/\(l\)ine \([0-9]*\)7/\2\1/p' text)"},
    {.name = "gcc",
     .path = "/usr/bin/gcc",
     .script = "echo 'int f(int a) { return a * 3; }' | $RUN -xc -O2 -S -o- -; "
               "echo 'int main() { return 7; }' | $RUN -xc -o made - && ./made; echo $?; "
               "echo 'int f( {' | $RUN -xc -fsyntax-only -",
     .exit_status = 1},
    {.name = "cmake",
     .path = "/usr/bin/cmake",
     .script = kCmake,
     .exit_status = 1,
     .at_least = {{"libstdc++.so.6", 100}}},
    {.name = "vim",
     .path = "/usr/bin/vim",
     .script = "$RUN -es -N -u NONE -i NONE -c 'g/7/s/line/LINE/' -c 'sort n /[0-9]* /' "
               "-c '%!tac' -c 'let x = range(9)' "
               "-c 'call append(0, string(map(x, \"v:val*v:val\")))' -c 'w! out' -c 'cq 4' text; "
               "echo $?; md5sum out"},
    {.name = "node", .path = "/usr/bin/node", .script = kNode, .exit_status = 3},
};

class RealProgramTest : public RealProgramFixture, public ::testing::WithParamInterface<Program> {
 protected:
  ProcessResult Run(const std::string& pick, bool sampled = false) const {
    const Program& program = GetParam();
    std::string run = program.path;
    if (!pick.empty()) {
      std::string settings = "env";
      for (const auto& [name, value] : MeasuredEnvironment(pick, sampled)) {
        settings += " " + name + "=" + value;
      }
      run = settings + " " + run;
    }
    return RunProcess({.arguments = {"/bin/sh", "-f", "-c", program.script},
                       .environment = {{"RUN", run}, {"LC_ALL", "C"}, {"VICTIMS", kVictims}},
                       .directory = work_.path(),
                       .input = program.input});
  }
};

TEST_P(RealProgramTest, PrintsTheSameUnderEveryMeasurement) {
  if (::access(GetParam().path.c_str(), X_OK) != 0)
    GTEST_SKIP() << GetParam().path << " is not here";
  const ProcessResult plain = Run("");
  EXPECT_NE(plain.output + plain.errors, "");
  EXPECT_EQ(plain.exit_status, GetParam().exit_status) << plain.errors;
  // Every second slice is sampled; whether the even or the odd ones depends on the program.
  bool sampled = GetParam().name[0] % 2 != 0;
  for (const char* const slice : kSlices) {
    sampled = !sampled;
    SCOPED_TRACE(std::string(slice) + (sampled ? ", sampled" : ""));
    const ProcessResult measured = Run(slice, sampled);
    EXPECT_EQ(measured.output, plain.output);
    EXPECT_EQ(measured.errors, plain.errors);
    EXPECT_EQ(measured.exit_status, plain.exit_status);
    EXPECT_EQ(measured.signal, plain.signal);
    CollectPicks();
  }
  ExpectPicked(GetParam().name, GetParam().at_least);
}

INSTANTIATE_TEST_SUITE_P(Programs, RealProgramTest, ::testing::ValuesIn(kPrograms),
                         [](const auto& program) { return program.param.name; });

}  // namespace
}  // namespace fieldcost::testing
