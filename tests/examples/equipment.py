"""What examples need: catalogues, recordings, servers, programs. Each maker fills a box once per list, and the box is
copied for each example that names the maker."""

import http.server
import json
import os
import shutil
import threading

MAKERS = {}


def maker(*needs, each=False):
    """Registers a maker. Its box already contains the results of the makers in `needs`. With `each` it fills each box
    anew: copies of one device would send different batches with the same number."""
    def register(function):
        function.needs, function.each = needs, each
        MAKERS[function.__name__] = function
        return function
    return register


def served(house, box, directory):
    """Starts the aggregator of `directory`, and makes this box's user trust it."""
    process, line = house.start(box, f"fieldcost-aggregator serve --config {directory}/aggregator.toml",
                                r"listening on https://")
    address = directory / "address"  # written according to init's configuration
    url = address.read_text().strip() if address.exists() else line[line.index("https://"):]
    box.write("home/.config/fieldcost/agent.toml",
              f'[aggregator]\nurl = "{url}"\nca_file = "{directory}/ca.pem"\n')
    root = directory / ("publish" if (directory / "publish").exists() else "data/publish") / "root" / "1"
    state = box.home / ".local" / "share" / "fieldcost"
    state.mkdir(parents=True, exist_ok=True)
    shutil.copy(root, state / "catalog_root")
    return process


@maker()
def fleet(house, box):
    """The running service of a synthetic fleet; a user who trusts it and has fetched nothing."""
    directory = house.directory / "fleet"
    house.must(box, f"fieldcost-aggregator demo --data {directory} --agents 120 --profile demo.profile")
    served(house, box, directory)


@maker("fleet")
def catalogue(house, box):
    """The catalogue of that fleet, fetched."""
    house.must(box, "fieldcost sync --full")


@maker()
def doxygen_pages(house, box):
    """Doxygen's pages for the real zlib.h."""
    box.write("work/Doxyfile", "INPUT = /usr/include/zlib.h\nGENERATE_LATEX = NO\nGENERATE_TAGFILE = zlib.tag\n"
              "EXTRACT_ALL = YES\nQUIET = YES\nWARNINGS = NO\nHAVE_DOT = NO\nPREDEFINED = ZEXTERN= OF(x)=x ZEXPORT=\n"
              "MACRO_EXPANSION = YES\nEXPAND_ONLY_PREDEF = YES\n")
    house.must(box, "doxygen Doxyfile")


@maker()
def sphinx_pages(house, box):
    """Sources of a Sphinx documentation in docs; the extension is where the packages install it, on Python's path."""
    box.write("work/docs/conf.py", f"import sys\nsys.path.append('{house.source}/tools/cli/docs')\n")
    box.write("work/docs/index.rst", "zlib\n====\n\n.. c:function:: int inflate(z_stream *stream, int flush)\n\n"
              "   Decompresses.\n\n.. c:function:: int other(void)\n")


@maker()
def rustdoc_pages(house, box):
    """Pages of two external functions, as rustdoc 1.63 writes them (DocsTest runs rustdoc itself)."""
    for name in ("inflate", "other"):
        box.write(f"work/target/doc/z_sys/fn.{name}.html", '<div class="docblock item-decl"><pre class="rust fn"><code>'
                  f"pub unsafe extern &quot;C&quot; fn {name}()</code></pre></div>\n")


# Selects every run for the field, however busy the machine.
EAGER = """[selection]
selection_probability = 1.0
picks_per_run = 512
max_load_per_core_percent = 10000
max_cpu_pressure_percent = 200
overhead_percent = 0
max_programs = 0
"""


@maker()
def service(house, box):
    """A new service, running; a user who trusts it and has not opted in."""
    directory = house.directory / "service"
    house.must(box, f"fieldcost-aggregator init --dir {directory} --host localhost --port 0 --admin-port 0 --open")
    config = directory / "aggregator.toml"
    text = config.read_text().replace('mode = "open"', 'mode = "open"\ntoken_files = ["invitation"]')
    config.write_text(text + "[ingest]\nprobation_batches = 0\n[publish]\ncontribution_threshold = 1\n")
    (directory / "invitation").write_text("correct-horse\n")
    (directory / "invitation").chmod(0o600)
    box.write("work/token.txt", "correct-horse\n", 0o600)
    box.write("home/secrets/fieldcost", "correct-horse\n", 0o600)
    served(house, box, directory)
    with open(box.home / ".config" / "fieldcost" / "agent.toml", "a", encoding="utf-8") as settings:
        settings.write(EAGER)


@maker("service")
def joinable(house, box):
    """A user who has not joined that service, with the files that its operator hands out."""
    directory = house.directory / "service"
    (box.home / ".config" / "fieldcost" / "agent.toml").unlink()
    (box.home / ".local" / "share" / "fieldcost" / "catalog_root").unlink()
    shutil.copy(directory / "ca.pem", box.work / "ca.pem")
    shutil.copy(directory / "address", box.work / "address")
    house.must(box, f"sha256sum < {directory}/data/publish/root/1 | cut -d ' ' -f 1 > root.sha256")


@maker("service", "database")
def contributor(house, box):
    """A user of that service who has sent seven batches and has measured since."""
    house.must(box, "fieldcost agent on")
    for _ in range(7):
        house.must(box, "fieldcost run -- sqlite3 my.db < script.sql && fieldcostd --once --flush")
    house.must(box, "fieldcost run -- sqlite3 my.db < script.sql && fieldcostd --once")


@maker()
def local(house, box):
    """A user who measures on this machine only."""
    house.must(box, "fieldcost agent local")


@maker()
def database(house, box):
    """An SQLite database and a script that reads it."""
    box.write("work/script.sql", "select name, (select count(*) from item as other where other.number > item.number) "
              "from item where number % 5 = 2;\n")
    insert = ("with recursive c(x) as (select 1 union all select x + 1 from c where x < 200) "
              "insert into t select x, hex(x) from c;\n")
    box.write("work/q.sql", "create table t(a, b);\n" + 24 * insert + "select sum(a), max(b) from t;\n")
    house.must(box, "sqlite3 my.db 'create table item(number, name); with recursive c(x) as (select 1 union all "
               "select x + 1 from c where x < 1000) insert into item select x, \"item \" || x from c'")


@maker()
def repository(house, box):
    """A git repository with some unpacked commits."""
    house.must(box, "git init -q . && git config user.name Ann && git config user.email ann@example.org",
               "for i in 1 2 3 4 5; do seq $i 9999 > file$i && git add . && git commit -q -m \"change $i\"; done")


@maker()
def makefile(house, box):
    """A Makefile that packs files and fills a database."""
    box.write("work/Makefile", "all: a.gz b.xz c.db\na.gz:\n\tseq 99999 | gzip > $@\nb.xz:\n\tseq 9999 | xz > $@\n"
              "c.db:\n\tsqlite3 $@ 'create table t(a)'\n")


@maker()
def report_script(house, box):
    """A Python script that uses SQLite and zlib."""
    box.write("work/report.py", "import json, sqlite3, zlib\ndata = sqlite3.connect(':memory:')\n"
              "data.execute('create table t(a)')\ndata.executemany('insert into t values (?)', [(i,) for i in "
              "range(500)])\ntotal = data.execute('select sum(a) from t').fetchone()[0]\n"
              "packed = zlib.compress(json.dumps([total] * 1000).encode())\nprint('report:', total, len(packed) > 0)\n")


@maker()
def json_program(house, box):
    """A program that calls Json::Reader::parse of a library."""
    box.write("work/reader.h", "namespace Json { struct Reader { bool parse(const char* text); }; }\n")
    box.write("work/reader.cc", '#include "reader.h"\nbool Json::Reader::parse(const char* text) '
              "{ return text[0] == '{'; }\n")
    box.write("work/main.cc", '#include "reader.h"\n#include <cstdio>\nint main() {\nJson::Reader reader;\n'
              'int good = 0;\n'
              'for (int i = 0; i < 100; ++i) good += reader.parse("{}"); std::printf("%d parsed\\n", good); }\n')
    house.must(box, "g++ -O1 -shared -fPIC -Wl,-soname,libreader.so.1 -o libreader.so.1 reader.cc",
               "g++ -O1 -o my-program main.cc ./libreader.so.1 -Wl,-rpath,'$ORIGIN'")


@maker()
def setuid_sudo(house, box):
    """A program `sudo` with other privileges than its user's: Debian's su; for root, one owned by another user."""
    (box.path / "bin").mkdir()
    if os.getuid() != 0:
        (box.path / "bin" / "sudo").symlink_to("/bin/su")
        return
    house.must(box, "cp /bin/su $BOX/bin/sudo && chown 1 $BOX/bin/sudo && chmod 4755 $BOX/bin/sudo")


@maker("local", "repository")
def measured(house, box):
    """A user who has measured git's calls of zlib."""
    house.must(box, "fieldcost run --pick 'libz.so.1!*' -- git gc --quiet && fieldcost top --local")


@maker()
def browser(house, box):
    """A FIFO through which the stand-in outside/xdg-open reports what the browser would show."""
    os.mkfifo(box.path / "browser")


@maker()
def pack_program(house, box):
    """Programs that call zlib: ./pack N compresses N times; ./parse FILE compresses and restores FILE."""
    house.must(box, "gcc -O1 -o pack $SOURCE/tests/examples/programs/pack.c -lz && cp pack parse",
               "seq -f '{\"item\": %g}' 5000 > big.json")


@maker("database")
def tables(house, box):
    """Tables of `fieldcost measure`: a.lab for q.sql on one in 100 of its rows, b.lab for q.sql, c.lab for a query;
    all.lab is the sum of a.lab and b.lab."""
    house.must(box, "sed 's/200/2/' q.sql > small.sql",
               "fieldcost measure --save a.lab -- sqlite3 :memory: '.read small.sql'",
               "fieldcost measure --rounds 2 --save b.lab -- sqlite3 :memory: '.read q.sql'",
               "fieldcost measure --rounds 2 --save c.lab -- sqlite3 my.db 'select count(*) from item'",
               "fieldcost merge -o all.lab a.lab b.lab")


@maker("pack_program")
def pack_tables(house, box):
    """before.lab: a program compresses, ten times, bytes that are quick to compress. after.lab (and all.lab): the same
    program compresses, twenty times, other bytes, which takes many times as long."""
    house.must(box, "fieldcost measure --save before.lab -- ./pack 10")
    house.must(box, "fieldcost measure --save after.lab -- ./pack 20 /bin/bash && cp after.lab all.lab")


@maker("pack_program", "local")
def slower_zlib(house, box):
    """A user whose calls of zlib cost little until 20 minutes ago, and much since then."""
    house.must(box, "LD_PRELOAD=/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1 FAKETIME=-20m "
               "FAKETIME_DONT_FAKE_MONOTONIC=1 fieldcost run --pick 'libz.so.1!*' -- ./pack 100",
               "fieldcost run --pick 'libz.so.1!*' -- ./pack 100 /bin/bash && fieldcost top --local")


@maker("catalogue", "database", "pack_program", "local")
def check_material(house, box):
    """Own measurements: steps of SQLite that cost many times more than in the fleet, allocations of zlib that do not;
    stacks that contain such steps."""
    house.must(box, "fieldcost run --pick 'libsqlite3.so.0!sqlite3_*' -- sqlite3 my.db < script.sql",
               "fieldcost run --pick 'libz.so.1!*' --metrics time,alloc -- ./pack 150",
               "fieldcost check --save before.profile")
    box.write("work/perf.folded", "app;main;sqlite3_step 70\napp;main;adler32 30\n")



@maker("catalogue")
def places(house, box):
    """A program that calls compress2 from two places, with four times as many bytes from Rarely(): its costs, which are
    worse than the fleet's, and its calls."""
    call = "./app compress2 120 524288 2097152"
    house.must(box, "cp $BUILD/victims/zlib_calls_traced app", f"fieldcost measure --save app.lab -- {call}",
               f"fieldcost trace --runs 12 --events 'functions,libz.so.1!*' -o app.fct -- {call}")


@maker()
def programs(house, box):
    """./app and ./old, the same program; ./new, in which digest() does four times the work; ./renamed."""
    build = "g++ -O1 -g1 -finstrument-functions $SOURCE/tests/examples/programs/app.cc -lz -o "
    house.must(box, f"{build} app & {build} new -DSLOWER & {build} renamed -DRENAMED & wait && cp app old")


@maker("programs")
def recordings(house, box):
    """Exact events: old.fct and new.fct with two runs each of ./old and ./new; one run of ./app under several names."""
    record = "fieldcost trace --rate 499 --events functions"
    house.must(box, f"{record} --runs 2 -o old.fct -- ./old && {record} --runs 2 -o new.fct -- ./new",
               f"{record} -o run1.fct -- ./app && {record} -o run2.fct -- ./app && {record} -o run3.fct -- ./app",
               "cp run1.fct monday.fct && cp run3.fct tuesday.fct && cp run1.fct trace.fct")


@maker("programs")
def sampled(house, box):
    """CPU time, which does not depend on the machine's other work: old.fct and new.fct with ten runs each."""
    record = "fieldcost trace --rate 499 --runs 10"
    house.must(box, f"{record} -o old.fct -- ./old && {record} -o new.fct -- ./new")


@maker("programs")
def long_recording(house, box):
    """a.fct with 15.5 seconds, mostly spent waiting; the same in other formats."""
    house.must(box, "fieldcost trace --events 'functions,libc.so.6!malloc' -o a.fct -- ./app 15.5",
               "cp a.fct server.fct",
               "fieldcost tree export a.fct --to pprof -o profile.pb.gz",
               "fieldcost tree export a.fct --to folded > stacks.folded")


@maker("programs")
def phases(house, box):
    """a.fct with five runs of 1.55 seconds, which load until 0.5 s."""
    house.must(box, "fieldcost trace --events functions --runs 5 -o a.fct -- ./app 1.55")


@maker("programs")
def renamed(house, box):
    """old.fct and new.fct: parse(char*) is called parse(text) in new.fct, and takes three times as long."""
    record = "fieldcost trace --rate 499 --runs 10"
    house.must(box, f"{record} -o old.fct -- ./old && {record} -o new.fct -- ./renamed")


@maker("makefile")
def idle_recordings(house, box):
    """a.fct, before.fct (old.fct), after.fct (new.fct), one.fct and other.fct of programs/idle_recordings.cc, because
    the idle time of real programs would depend on the machine's other work."""
    house.must(box, "$BUILD/tests/examples/example_idle_recordings . && cp before.fct old.fct && cp after.fct new.fct")


@maker()
def editor(house, box):
    """./editor with probe points, and a user of a probe server who has not logged in."""
    directory = house.directory / "probe-server"
    if not directory.exists():
        house.must(box, f"fieldcost-probe-server init --dir {directory} --host localhost --port 0 --admin-port 0")
        config = f"{directory}/probe-server.toml"
        house.must(box, f"echo 'correct horse battery' | fieldcost-probe-server user add ann --config {config}")
        _, line = house.start(box, f"fieldcost-probe-server --config {config}", r"listening on https://")
        house.addresses["https://probes.team.example"] = line[line.index("https://"):].replace("127.0.0.1", "localhost")
        house.addresses["environment"] = {"SSL_CERT_FILE": str(directory / "ca.pem")}
    box.write("home/secrets/probes", "correct horse battery\n", 0o600)
    box.write("work/probe.toml", '[[point]]\nlabel = "file of the index"\nevent = "index_open"\nat = "libc.so.6!open"\n'
              'stack = true\n')
    house.must(box, "cp $BUILD/victims/probe_editor editor")


@maker("editor")
def events(house, box):
    """Events of two builds and two tags: cold runs wait 60 ms longer, and those of build 1.3 another 240 ms longer; a
    copy of the database before build 1.3; the files `run` and `event` with the names of a run of them and of its
    index_open."""
    run = "fieldcost probe run --local --runs 6"
    house.must(box, f"{run} --tag warm --build 1.2 -- ./editor",
               f"{run} --tag cold --build 1.2 -- ./editor --scanner-delay-ms 60",
               "fieldcost probe list", "mkdir base",
               "cp $(find ~ -name 'probe.db*') base",
               f"{run} --tag cold --build 1.3 -- ./editor --scanner-delay-ms 300",
               "fieldcost probe list --label index_open --json | jq -r '.events[0].id' > event",
               "cut -c 1-8 event > run")


@maker("events", each=True)
def team_member(house, box):
    """The same user, logged in to the probe server, with sending switched on."""
    house.must(box, "pass show probes | fieldcost probe login " + house.addresses["https://probes.team.example"],
               "fieldcost probe on")


class Collector(http.server.BaseHTTPRequestHandler):
    """A stand-in for an OpenTelemetry collector: responds with the number of spans received."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        spans = [span["name"] for each in body["resourceSpans"] for scope in each["scopeSpans"]
                 for span in scope["spans"]]
        good = self.path == "/v1/traces" and self.headers["Content-Type"] == "application/json"
        self.send_response(200 if good else 400)
        self.end_headers()
        self.wfile.write(f"{len(spans)} spans, {spans.count('index_open')} of index_open\n".encode())

    def log_message(self, *arguments):
        pass


@maker()
def collector(house, box):
    """An OpenTelemetry collector on its own port."""
    server = http.server.HTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    house.servers.append(server)
    house.addresses["localhost:4318"] = f"127.0.0.1:{server.server_port}"


@maker()
def operator(house, box):
    """The data of a service for a synthetic fleet of 20 machines, with its aggregator.toml, not running; a medium for
    keys; another copy of aggregator.toml in /etc/fieldcost."""
    house.must(box, "cd $BOX && fieldcost-aggregator demo --data demo --agents 20 --last-week 2945 && rmdir work",
               "mv demo work && cd work && sed -i 's/^port = .*/port = 0/' aggregator.toml",
               "mkdir -p $BOX/media/key $BOX/srv $BOX/etc/fieldcost",
               "cp $SOURCE/deploy/config/policy.toml .",
               "sed 's#= \"certificate#= \"'$PWD'/certificate#; s#= \"private#= \"'$PWD'/private#; "
               "s#= \"[.]\"#= \"'$PWD'\"#' aggregator.toml > $BOX/etc/fieldcost/aggregator.toml")


@maker("operator")
def tree(house, box):
    """The same, and its publication as a tree in /srv/tree."""
    house.must(box, "fieldcost-aggregator publish --config aggregator.toml --to $BOX/srv/tree")


@maker("operator", each=True)
def tree_server(house, box):
    """The same service, running; the file `url` holds its address, and `root` is the root to pin."""
    _, line = house.start(box, "fieldcost-aggregator --config aggregator.toml", r"listening on https://")
    box.write("work/url", line[line.index("https://"):].split()[0] + "\n")
    house.must(box, "cp publish/root/1 root")


@maker("operator")
def inviting(house, box):
    """The same for invited agents only, with one invitation, whose name is in the file `invited`."""
    house.must(box, "printf '[enrolment]\nmode = \"token\"\n' >> aggregator.toml",
               "fieldcost-aggregator invitation make --config aggregator.toml --json > made",
               "jq --raw-output .name made > invited")


@maker("operator")
def exported(house, box):
    """The same with the root and policy keys on another medium."""
    house.must(box, "for key in root policy; do fieldcost-aggregator keys export-offline --config aggregator.toml $key "
               "--to $BOX/media/key; done")


@maker("operator", each=True)
def running(house, box):
    """The same service, running, with an admin listener and its token; server.pid contains its process id."""
    house.must(box, "echo secret-of-the-admin > token && chmod 600 token && printf '[admin]\nport = 0\n"
               "address_file = \"admin-address\"\ntoken_files = [\"token\"]\n' >> aggregator.toml")
    process, _ = house.start(box, "fieldcost-aggregator --config aggregator.toml", r"listening on https://")
    box.write("work/server.pid", str(process.pid))
    house.addresses["http://127.0.0.1:8444"] = (box.work / "admin-address").read_text().strip()


@maker()
def new_service(house, box):
    """/srv/fieldcost, newly created, on any free ports."""
    house.must(box, "mkdir $BOX/srv && fieldcost-aggregator init --dir $BOX/srv/fieldcost --host fieldcost.example.org "
               "--port 0 --admin-port 0")


@maker()
def demo_data(house, box):
    """demo: the data of a small synthetic fleet."""
    house.must(box, "fieldcost-aggregator demo --data demo --agents 20")


@maker("demo_data", each=True)
def demo_server(house, box):
    """The same, served."""
    house.start(box, "fieldcost-aggregator serve --config demo/aggregator.toml", r"listening on https://")


def put_where_certbot_does(house, box, directory, host):
    """Moves a server's new directory to where certbot keeps its certificate for that host."""
    house.must(box, "mkdir -p $BOX/etc/letsencrypt/live && cd $BOX/etc",
               f"mv {directory} letsencrypt/live/{host} && cd letsencrypt/live/{host}",
               "mv certificate.pem fullchain.pem && mv private_key.pem privkey.pem")


@maker("new_service")
def certbot(house, box):
    """A certificate for fieldcost.example.org, at certbot's location."""
    put_where_certbot_does(house, box, "../srv/fieldcost", "fieldcost.example.org")


@maker()
def certbot_of_probes(house, box):
    """The same for probes.example.org."""
    house.must(box, "mkdir $BOX/srv && cd $BOX/srv", "fieldcost-probe-server init --dir new --host probes.example.org")
    put_where_certbot_does(house, box, "../srv/new", "probes.example.org")


@maker("contributor", each=True)
def contributors_service(house, box):
    """The contributor's service: its directory in `service`, the agent's key in `agent`."""
    box.write("work/service", str(house.directory / "service"))
    house.must(box, "fieldcost agent status --json | jq -r .agent_public_key > agent")


@maker()
def probe_operator(house, box):
    """A probe server's data with a user and otherwise empty, not running; its configuration also in /etc."""
    house.must(box, "mkdir -p $BOX/srv $BOX/etc/fieldcost && cd $BOX && rmdir work",
               "fieldcost-probe-server init --dir work --host localhost --port 0 --admin-port 0 && cd work",
               "echo correct-horse-battery > password",
               "fieldcost-probe-server user add alice --config probe-server.toml < password",
               "sed 's#= \"certificate#= \"'$PWD'/certificate#; s#= \"private#= \"'$PWD'/private#; "
               "s#= \"data\"#= \"'$PWD'/data\"#; s#address_file = .*##' probe-server.toml "
               "> $BOX/etc/fieldcost/probe-server.toml")


@maker()
def new_probe_server(house, box):
    """A probe server without users: probe-server.toml."""
    house.must(box, "cd $BOX && rmdir work",
               "fieldcost-probe-server init --dir work --host localhost --port 0 --admin-port 0",
               "cp -a work probes && mv probes work")


@maker("team_member", each=True)
def team_server(house, box):
    """The team member's server: its configuration in `config`, the device's number in `device`."""
    config = house.directory / "probe-server" / "probe-server.toml"
    box.write("work/config", str(config))
    house.must(box, "fieldcost-probe-server device list --config $(cat config) > list",
               "grep -o '^[0-9]*' list | sort -n | tail -1 > device")
