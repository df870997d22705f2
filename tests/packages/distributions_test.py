"""Plants mistakes in the files for other distributions, and checks that distributions.py reports each."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAM = Path(__file__).with_name("distributions.py")
FILES = ("CMakeLists.txt", "deploy/arch/PKGBUILD", "deploy/dependencies.tsv", "deploy/nix/flake.nix",
         "deploy/packages.sh", "deploy/rpm/fieldcost.spec")


class DistributionsTest(unittest.TestCase):
    def check(self, file="", before="", after=""):
        with tempfile.TemporaryDirectory() as directory:
            for name in FILES:
                (Path(directory) / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, Path(directory) / name)
            if file:
                text = (Path(directory) / file).read_text()
                self.assertIn(before, text)
                (Path(directory) / file).write_text(text.replace(before, after, 1))
            done = subprocess.run([sys.executable, PROGRAM, directory], capture_output=True, text=True)
            return done.returncode, done.stdout + done.stderr

    def test_the_files_as_they_are_agree(self):
        status, output = self.check()
        self.assertEqual(status, 0, output)

    def test_each_list_must_have_each_dependency(self):
        for file, before, name in (("deploy/packages.sh", "librocksdb-dev ", "librocksdb-dev"),
                                   ("deploy/arch/PKGBUILD", " rocksdb ", "rocksdb"),
                                   ("deploy/rpm/fieldcost.spec", "BuildRequires:  rocksdb-devel\n", "rocksdb-devel"),
                                   ("deploy/nix/flake.nix", "          rocksdb\n", "rocksdb")):
            status, output = self.check(file, before, "\n")
            self.assertEqual((status, output), (1, f"{file}: lacks {name}, which deploy/dependencies.tsv has\n"))

    def test_a_new_dependency_must_be_in_the_table(self):
        status, output = self.check("deploy/packages.sh", "librocksdb-dev", "librocksdb-dev libnew-dev")
        self.assertEqual((status, output), (1, "deploy/packages.sh: libnew-dev is not in deploy/dependencies.tsv\n"))

    def test_versions_must_agree(self):
        status, output = self.check("CMakeLists.txt", "fieldcost VERSION 0.", "fieldcost VERSION 9.")
        self.assertEqual((status, len(output.splitlines())), (1, 3), output)

    def test_files_must_be_well_formed(self):
        for tool, file, before, after in (("bash", "deploy/arch/PKGBUILD", "package() {", "package() {{"),
                                          ("rpmspec", "deploy/rpm/fieldcost.spec", "%description", "%if"),
                                          ("nix-instantiate", "deploy/nix/flake.nix", "description =", "description")):
            if shutil.which(tool):
                status, output = self.check(file, before, after)
                self.assertEqual(status, 1, output)
                self.assertIn(f"{file}: {tool}: ", output)


if __name__ == "__main__":
    unittest.main()
