"""What a diagnosis says of watched variables with the names of the program's code."""
import pathlib
import sys

from harness import expect_in, main

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "diagnose"))
import scenes_of_flags  # noqa: E402

CODE = 0x400000


def test_place_of_the_last_write(setup):
    made = scenes_of_flags.forgotten(pc=CODE + 0x1234)
    made.tables += [f"image pid 10 start {CODE:#x} end {CODE + 0x10000:#x} path /nowhere/app",
                    "name path /nowhere/app place 0x1233 function decode_done source /nowhere/decoder.c line 88"]
    path = setup.trace("forgotten", made.text())
    said = " ".join(setup.run("diagnose", path, "--process", "app", "--auto", code=0).stdout.split())
    expect_in("without setting decoded in app; it was last set 70.0 ms before the loop, in decode_done (decoder.c:88)", said)
    made = scenes_of_flags.forgotten(pc=CODE + 0x1234, process=11)
    made.tables += [f"image pid 11 start {CODE:#x} end {CODE + 0x10000:#x} path /nowhere/decoder",
                    "name path /nowhere/decoder place 0x1233 function decode_done source /nowhere/decoder.c line 88"]
    path = setup.trace("forgotten-by-another", made.text())
    said = " ".join(setup.run("diagnose", path, "--process", "app", "--auto", code=0).stdout.split())
    expect_in("it was last set 70.0 ms before the loop, in decode_done (decoder.c:88)", said)


def test_last_write_in_an_inlined_function(setup):
    """The line belongs to the inlined function, so that one is named."""
    made = scenes_of_flags.forgotten(pc=CODE + 0x1234)
    made.tables += [f"image pid 10 start {CODE:#x} end {CODE + 0x10000:#x} path /nowhere/app",
                    "name path /nowhere/app place 0x1233 function decode source /nowhere/app/flag.c line 88",
                    "name path /nowhere/app place 0x1233 level 1 function set_flag source /nowhere/app/decoder.c line 7"]
    path = setup.trace("forgotten", made.text())
    said = " ".join(setup.run("diagnose", path, "--process", "app", "--auto", code=0).stdout.split())
    expect_in("before the loop, in set_flag (flag.c:88)", said)


if __name__ == "__main__":
    main()
