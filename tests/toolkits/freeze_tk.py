"""freeze_tk.py MODE: a window of Tk that freezes at F5.

    own        owns the clipboard; others wait for it when it is stopped
    clipboard  F5 asks for the text of the clipboard, which runs the loop again until it comes
"""
import ctypes
import sys
import tkinter


def say(word):
    print(word, flush=True)


def read_clipboard(_):
    try:
        root.clipboard_get()
    except tkinter.TclError:
        pass
    say("done")


mode = sys.argv[1]
ctypes.CDLL(None).prctl(15, b"slowowner" if mode == "own" else b"freeze-tk", 0, 0, 0)
root = tkinter.Tk()
root.title("frozen")
text = tkinter.Text(root)
text.pack()
text.focus_set()
if mode == "own":
    root.withdraw()
    root.clipboard_append("text")
root.bind("<F5>", read_clipboard)
root.update()
say("serves" if mode == "own" else "ready")
root.mainloop()
