"""The building blocks of the scenes of test_hangs.py.

A scene is a function that makes a trace; it returns the Scene and a list of questions: options of `argus hangs`, and the
expected list. It may return a list of scenes, each with one question. To add one: a function with @scene in one of the files
that test_hangs.py names.
"""
from scene import Scene

SCENES = {}


def scene(function):
    SCENES[function.__name__] = function
    return function


class Loop(Scene):
    """A scene with an editor that has returned to its poll() several times, each time for the keyboard. With `begun` false the scene is
    empty."""

    editor, keyboard = 10, 20

    def __init__(self, turns=5, frames=None, begun=True):
        super().__init__()
        self.frames = frames
        if begun:
            self.begin(turns)

    def begin(self, turns):
        self.thread(self.editor, "editor")
        self.thread(self.keyboard, "keyboard")
        self.wait(self.keyboard, "read")
        self.home()
        for _ in range(turns):
            self.key()
            self.home()

    def home(self):
        """The editor waits in its loop."""
        self.wait(self.editor, "poll", frames=self.frames)

    def device(self, tid):
        """An interrupt makes a thread run."""
        self._record(self.cpus[tid], 0, "interrupt_start irq=1")
        self._record(self.cpus[tid], 0, f"make_runnable thread={tid} context=hardirq")
        self._record(self.cpus[tid], 0, "interrupt_end irq=1")

    def interrupt(self, tid):
        """An interrupt ends the system call in which a thread waits."""
        self.device(tid)
        self._comes_back(tid, 1)

    def type(self):
        """An interrupt wakes the keyboard, which runs until rest()."""
        self.interrupt(self.keyboard)

    def rest(self):
        """The keyboard waits for the next key."""
        self.wait(self.keyboard, "read")

    def key(self, after_ms=20):
        self.for_ms(after_ms)
        self.type()
        self.wake(self.keyboard, self.editor)
        self.rest()

    def visit(self):
        """A poll() of the editor that returns at once."""
        self.raw(self.editor, "syscall_start nr=poll arg1=5 arg2=1")
        self.raw(self.editor, "syscall_end nr=poll result=1")

    def pipe_message(self, tid, flags, position, channel=99):
        self.raw(tid, f"message channel={channel} bytes=8 kind=pipe flags={flags} position={position}")

    def sends(self, position):
        """The keyboard sends a message, and wakes no thread."""
        self.type()
        self.raw(self.keyboard, "syscall_start nr=write arg1=6")
        self.pipe_message(self.keyboard, "sent", position)
        self.raw(self.keyboard, "syscall_end nr=write result=8")
        self.rest()

    def takes(self, position):
        self.raw(self.editor, "syscall_start nr=read arg1=5")
        self.pipe_message(self.editor, "received", position)
        self.raw(self.editor, "syscall_end nr=read result=8")

    def end(self):
        self.home()
        self.key(500)
        self.home()


def hang(process="editor", type="LongRunning", nature=None, awaited=True, **more):
    return {"process": process, "type": type, "nature": nature, "awaited": awaited, **more}
