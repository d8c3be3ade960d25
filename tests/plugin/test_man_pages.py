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
    made = {path.name[:-len(".md")] for path in setup.build.glob("docs/commands/*.md")}
    expect_equal("pages", {path.name for path in pages(setup)}, sources | made)


def test_groff_has_no_complaint(setup):
    """Nor does a line begin with an apostrophe: roff would take it for a request and leave it out."""
    for page in pages(setup):
        text = output(program("groff"), "-k", "-ww", "-man", "-Tutf8", "-z", page)
        wrong = [line for line in text.splitlines() if "cannot adjust" not in line]  # the reason is a long word in a table
        expect(not wrong, f"{page}: {wrong}")
        expect(not re.search("^'", page.read_text(), re.M), f"{page} has a line that begins with an apostrophe")


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
