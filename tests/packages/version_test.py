"""The version in a git clone, between two tags, before the first one, and in a source tarball: version_test.py CMAKE VERSION_CMAKE"""
import pathlib
import subprocess
import sys
import tempfile

cmake, script = sys.argv[1], sys.argv[2]
fallback = "0.1.0"


def git(folder, *arguments):
    subprocess.run(["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@localhost", *arguments], check=True,
                   stdout=subprocess.DEVNULL)


def commit(folder):
    git(folder, "commit", "-q", "--allow-empty", "-m", "empty")


def version_of(folder):
    done = subprocess.run([cmake, "-P", script], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout.strip()


def expect(what, folder, pattern):
    code, text = version_of(folder)
    if code or not pathlib.PurePath(text).match(pattern):
        sys.exit(f"{what}: '{text}' (exit code {code}), not {pattern}")


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    expect("neither git nor VERSION", folder, fallback)
    git(folder, "init", "-q")
    commit(folder)
    expect("no tag", folder, fallback)
    git(folder, "tag", "v1.2.3")
    expect("at the tag", folder, "1.2.3")
    git(folder, "tag", "other-9")
    commit(folder)
    commit(folder)
    expect("two commits later", folder, "1.2.3+2.g???????")
    (folder / "VERSION").write_text("2.0.1+7.g0123456\n")
    expect("a source tarball", folder, "2.0.1+7.g0123456")
    (folder / "VERSION").write_text("none\n")
    code, text = version_of(folder)
    if not code or "does not begin with a number" not in text:
        sys.exit(f"a bad VERSION: '{text}', exit code {code}")
