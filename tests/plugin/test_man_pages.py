"""Every built man page is one that man-db finds: `whatis argus-diverge` says what it is."""
import re
import shutil
import subprocess

from harness import Skip, expect, expect_equal, expect_in, main


def pages(setup):
    found = sorted(setup.build.glob("docs/*.[1-8]"))
    if not found:
        raise Skip("no man page is built: go-md2man is missing")
    return found


def program(name):
    path = shutil.which(name)
    if not path:
        raise Skip(f"{name} is not installed (package man-db)")
    return path


def output(*words):
    done = subprocess.run(list(map(str, words)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=60)
    expect(done.returncode == 0, f"{' '.join(map(str, words))} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def test_every_source_is_built(setup):
    sources = {path.name[:-len(".md")] for path in setup.source.glob("docs/man/*.md")}
    expect_equal("pages", {path.name for path in pages(setup)}, sources)


def test_lexgrog_reads_every_name(setup):
    for page in pages(setup):
        text = output(program("lexgrog"), page)
        expect(re.search(rf': "{page.stem} - \S', text), f"lexgrog does not find '{page.stem} - …' in {page}:\n{text}")


def test_whatis_knows_every_page(setup):
    tree = setup.folder / "man"
    for page in pages(setup):
        place = tree / f"man{page.suffix[1:]}"
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(page, place)
    output(program("mandb"), "--user-db", "--create", "--quiet", tree)
    for page in pages(setup):
        expect_in(f"{page.stem} ({page.suffix[1:]})", output(program("whatis"), "-M", tree, page.stem))


main()
