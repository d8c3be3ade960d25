"""cmake --build BUILD --target uninstall removes the installed files, and nothing else."""
import shutil

from harness import expect, expect_equal, expect_in, main
from manifest import cmake, keep_manifest


def names(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def uninstall(setup, code=0, **environment):
    return cmake(setup, "-DARGUS_BINARY_DIR=" + str(setup.build), "-P", setup.source / "cmake/uninstall_files.cmake", code=code, **environment)


def test_an_empty_prefix_is_gone(setup):
    prefix = setup.folder / "new" / "prefix"

    def work():
        cmake(setup, "--install", setup.build, "--prefix", prefix)
        expect((prefix / "bin/argus").exists(), "nothing was installed")
        uninstall(setup)
        expect_equal("left", names(setup.folder / "new") if (setup.folder / "new").exists() else [], [])
        expect_in("nothing to uninstall", uninstall(setup, code=1).stdout)

    keep_manifest(setup, work)


def test_what_was_there_before_stays(setup):
    root = setup.folder / "root"
    prefix = root / "opt/argus"
    for name in "bin/other", "share/man/man1/other.1", "share/argus/mine":
        (prefix / name).parent.mkdir(parents=True, exist_ok=True)
        (prefix / name).touch()
    (prefix / "include").mkdir()  # empty, but not created by the install
    before = names(root)

    def work():
        for _ in range(2):  # the second time all folders exist
            cmake(setup, "--install", setup.build, "--prefix", "/opt/argus", DESTDIR=str(root))
        (prefix / "share/bash-completion/completions/another").touch()
        uninstall(setup, DESTDIR=str(root))
        (prefix / "share/bash-completion/completions/another").unlink()
        shutil.rmtree(prefix / "share/bash-completion")
        expect_equal("left", names(root), before)

    keep_manifest(setup, work)


def test_the_target_runs_it(setup):
    text = cmake(setup, "--build", setup.build, "--target", "help").stdout
    expect("uninstall" in text, "there is no target uninstall")


main()
