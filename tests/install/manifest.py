"""Installs a build folder for a test."""
import os
import subprocess

from harness import expect


def cmake(setup, *words, code=0, **environment):
    done = subprocess.run(["cmake", *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=300, env={**os.environ, **environment})
    expect(done.returncode == code or code is None, f"cmake {' '.join(map(str, words))} ended with {done.returncode}:\n{done.stdout}")
    return done


def keep_manifest(setup, work):
    """Restores the build folder's lists of installed files, which belong to the developer."""
    names = "install_manifest.txt", "install_folders.txt"
    kept = {name: (setup.build / name).read_bytes() for name in names if (setup.build / name).exists()}
    try:
        for name in names:
            (setup.build / name).unlink(missing_ok=True)
        work()
    finally:
        for name in names:
            (setup.build / name).unlink(missing_ok=True)
        for name, text in kept.items():
            (setup.build / name).write_bytes(text)
