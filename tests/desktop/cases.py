"""The cases: real programs, and how each is frozen. To add a case, add a row, and its packages to the group "desktop" of scripts/deps.

A command or an action may name in braces: the values of its means, {folder} (the run's own), {text}, {long}, {picture}, {document}. An
action is a word and its argument: "key" or "type" (xdotool), "run" (a command, not waited for), "sleep", "copy" (puts a file on the
clipboard).
"""
from dataclasses import dataclass

import means


@dataclass(frozen=True)
class Case:
    name: str
    toolkit: str
    command: tuple
    means: type
    arguments: tuple = ()
    before: tuple = ()  # actions before the recording begins
    use: tuple = ("type hello",)  # ordinary use, recorded
    freeze: tuple = ()  # actions after which the program freezes
    start_up: bool = False  # the program freezes while it starts
    thread: str = "main"  # which thread freezes; a row of THREADS in frozen_run.py
    environment: tuple = ()
    paper: str = ""  # the row of the Argus paper's table 1 to which this case is closest
    settle_s: float = 3  # how long the program takes to start


EMACS = ("emacs", "-Q", "{text}")


def lisp(code):
    """Makes emacs evaluate `code`."""
    return ("key alt+colon", "sleep 0.5", f"type {code}", "sleep 0.3", "key Return")


CHROMIUM = ("chromium", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
            "--disable-sync", "--disable-web-security", "--user-data-dir={folder}/chromium")
APT = "apt-get -o Dir::State={folder}/apt -o Dir::State::status={folder}/apt/status -o DPkg::Lock::Timeout=30 -q remove nothing"
OPEN_MOUSEPAD = "run gdbus call --session --dest org.xfce.mousepad --object-path /org/xfce/mousepad --method" \
                " org.freedesktop.Application.Open ['file://{picture}'] {}"
TELL_BRIDGE = (("NO_AT_BRIDGE", "0"), ("GTK_A11Y", "atspi"))
TYPED = ("type a", "key BackSpace")  # into a terminal

TK = "import socket, tkinter; top = tkinter.Tk(); text = tkinter.Text(top); text.pack(); text.focus_force(); " \
     "top.bind('<F2>', lambda _: socket.create_connection(('127.0.0.1', 7802)).recv(1)); top.mainloop()"
WX = "import fcntl, sys, wx; app = wx.App(); top = wx.Frame(None, title='text'); text = wx.TextCtrl(top); " \
     "top.Bind(wx.EVT_CHAR_HOOK, lambda e: e.Skip() if e.GetKeyCode() != wx.WXK_F2 else fcntl.flock(open(sys.argv[1]), fcntl.LOCK_EX)); " \
     "top.Show(); text.SetFocus(); app.MainLoop()"

TK_UNIX = TK.replace("socket.create_connection(('127.0.0.1', 7802)).recv(1)", "ask()").replace(
    "top = tkinter", "import sys; ask = lambda: (lambda s: (s.connect(sys.argv[1]), s.sendall(b'x'), s.recv(1)))(socket.socket(socket.AF_UNIX)); top = tkinter", 1)
WX_SEMAPHORE = "import ctypes, sys, wx; library = ctypes.CDLL(None); library.sem_open.restype = ctypes.c_void_p; " \
    "take = lambda: library.sem_wait(ctypes.c_void_p(library.sem_open(sys.argv[1].encode(), 0))); app = wx.App(); top = wx.Frame(None, title='text'); " \
    "text = wx.TextCtrl(top); top.Bind(wx.EVT_CHAR_HOOK, lambda e: e.Skip() if e.GetKeyCode() != wx.WXK_F2 else take()); " \
    "top.Show(); text.SetFocus(); app.MainLoop()"

CASES = [
    # Files served by another process.
    Case("geany-slow-file", "GTK 3", ("geany", "-i", "{text}"), means.SlowFiles,
         freeze=("key ctrl+o", "sleep 1.5", "type {slow}/slow.c", "sleep 0.5", "key Return")),
    Case("geany-slow-save", "GTK 3", ("geany", "-i", "{slow}/slow.c"), means.SlowFiles, ("write", "busy"), freeze=("key ctrl+s",)),
    Case("mousepad-slow-file", "GTK 3", ("mousepad", "{text}"), means.SlowFiles, freeze=("run mousepad {slow}/slow.txt",)),
    Case("gpicview-slow-file", "GTK 3", ("gpicview", "{slow}/slow.png"), means.SlowFiles, start_up=True),
    Case("l3afpad-slow-file", "GTK 3", ("l3afpad", "{slow}/slow.txt"), means.SlowFiles, ("open",), start_up=True),
    Case("libreoffice-slow-file", "VCL (GTK 3)", ("soffice", "--norestore", "--nologo", "--writer"), means.SlowFiles, ("read", "busy"),
         freeze=("run soffice {slow}/slow.txt",), settle_s=8),
    Case("xpdf-slow-file", "Xt", ("xpdf", "{slow}/slow.pdf"), means.SlowFiles, start_up=True),
    Case("idle-slow-file", "Tk", ("idle-python3.11", "{slow}/slow.txt"), means.SlowFiles, start_up=True),
    Case("sqlitebrowser-slow-file", "Qt 5", ("sqlitebrowser", "{slow}/slow.db"), means.SlowFiles, ("read", "busy"), start_up=True),
    Case("qpdfview-slow-file", "Qt 5", ("qpdfview", "{slow}/slow.pdf"), means.SlowFiles, start_up=True),
    Case("fluid-slow-file", "FLTK", ("fluid", "{slow}/slow.txt"), means.SlowFiles, start_up=True),
    Case("kwrite-slow-file", "Qt 5 (KDE)", ("kwrite", "{slow}/slow.txt"), means.SlowFiles, start_up=True),
    Case("kate-slow-file", "Qt 5 (KDE)", ("kate", "-b", "{slow}/slow.txt"), means.SlowFiles, start_up=True),
    Case("okular-slow-file", "Qt 5 (KDE)", ("okular", "{slow}/slow.pdf"), means.SlowFiles, start_up=True),
    Case("xfwrite-slow-file", "FOX", ("xfwrite", "{slow}/slow.txt"), means.SlowFiles, start_up=True),
    Case("xfe-slow-folder", "FOX", ("xfe", "{slow}"), means.SlowFiles, ("readdir",), start_up=True),
    Case("nedit-slow-file", "Motif", ("nedit", "{slow}/slow.txt"), means.SlowFiles, start_up=True),
    Case("mupdf-slow-file", "Xlib", ("mupdf", "{slow}/slow.pdf"), means.SlowFiles, start_up=True),
    Case("zathura-slow-file", "GTK 3 (girara)", ("zathura", "{slow}/slow.pdf"), means.SlowFiles, start_up=True),
    Case("scite-slow-file", "GTK 3 (Scintilla)", ("SciTE", "{slow}/slow.c"), means.SlowFiles, start_up=True),
    Case("inkscape-slow-file", "GTK 3 (gtkmm)", ("inkscape", "{slow}/slow.svg"), means.SlowFiles, start_up=True),
    Case("abiword-slow-file", "GTK 3 (AbiWord)", ("abiword", "{slow}/slow.txt"), means.SlowFiles, start_up=True),
    Case("gnumeric-slow-file", "GTK 3", ("gnumeric", "{slow}/slow.txt"), means.SlowFiles, start_up=True),
    Case("textedit-slow-file", "GNUstep", ("TextEdit", "-GSFilePath", "{slow}/slow.txt"), means.SlowFiles, start_up=True),
    Case("keepass-slow-settings", "Windows Forms", ("keepass2", "-cfg-local:{slow}/slow.xml"), means.SlowFiles, start_up=True),
    Case("audacity-slow-file", "wxWidgets", ("sh", "-c", "rm -rf /var/tmp/audacity-root; exec audacity {slow}/slow.wav"), means.SlowFiles, start_up=True),
    Case("linguist-slow-file", "Qt 6", ("/usr/lib/qt6/bin/linguist", "{slow}/slow.ts"), means.SlowFiles, start_up=True),
    Case("feh-slow-file", "Imlib 2", ("feh", "{slow}/slow.png"), means.SlowFiles, start_up=True),
    Case("viewnior-slow-file", "GTK 2", ("viewnior", "{slow}/slow.png"), means.SlowFiles, start_up=True),
    Case("xournalpp-slow-file", "GTK 3", ("xournalpp", "{slow}/slow.pdf"), means.SlowFiles, start_up=True),
    Case("dosbox-slow-file", "SDL", ("dosbox", "-conf", "{slow}/slow.txt"), means.SlowFiles, start_up=True),
    Case("xmessage-slow-file", "Athena", ("xmessage", "-file", "{slow}/slow.txt"), means.SlowFiles, start_up=True),
    Case("xedit-slow-file", "Athena", ("xedit", "{slow}/slow.txt"), means.SlowFiles, start_up=True),
    Case("display-slow-file", "Xlib (ImageMagick)", ("display", "{slow}/slow.png"), means.SlowFiles, start_up=True),
    Case("tkdiff-slow-file", "Tk", ("tkdiff", "{slow}/slow.txt", "{text}"), means.SlowFiles, start_up=True),
    Case("meld-slow-file", "GTK 3 (Python)", ("meld", "{slow}/slow.txt", "{text}"), means.SlowFiles, start_up=True),
    Case("xfig-slow-file", "Athena", ("/usr/libexec/xfig/xfig", "{slow}/slow.txt"), means.SlowFiles, start_up=True),
    Case("mtpaint-slow-file", "GTK 2", ("mtpaint", "{slow}/slow.png"), means.SlowFiles, start_up=True),
    Case("dia-slow-file", "GTK 3 (Dia)", ("dia", "{slow}/slow.xml"), means.SlowFiles, start_up=True),
    Case("xmgrace-slow-file", "Motif", ("xmgrace", "{slow}/slow.txt"), means.SlowFiles, start_up=True),
    Case("gv-slow-file", "Xaw 3D", ("gv", "{slow}/slow.pdf"), means.SlowFiles, start_up=True),
    Case("xchm-slow-file", "wxWidgets", ("xchm", "{slow}/slow.txt"), means.SlowFiles, start_up=True),
    Case("ddrescueview-slow-file", "Lazarus (GTK 2)", ("ddrescueview", "{slow}/slow.txt"), means.SlowFiles, start_up=True),
    Case("tea-slow-file", "Qt 5", ("tea", "{slow}/slow.txt"), means.SlowFiles, start_up=True),
    Case("zim-slow-folder", "GTK 3 (Python)", ("zim", "--standalone", "{slow}"), means.SlowFiles, ("readdir",), start_up=True),
    Case("texmaker-slow-file", "Qt 5", ("texmaker", "{slow}/slow.txt"), means.SlowFiles, start_up=True),
    # The clipboard's owner is stopped.
    Case("wish-paste", "Tk", ("wish", "{programs}/wish.tcl"), means.StoppedClipboard, freeze=("key ctrl+v",)),
    Case("emacs-paste", "GTK 3 (own loop)", EMACS, means.StoppedClipboard, freeze=("key ctrl+y",)),
    Case("gvim-paste", "GTK 3", ("gvim", "-f", "{text}"), means.StoppedClipboard, use=("key Down",), freeze=('type "+p',)),
    Case("featherpad-paste", "Qt 5", ("featherpad", "{text}"), means.StoppedClipboard, freeze=("key ctrl+v",)),
    Case("jedit-paste", "Java (Swing)", ("jedit", "-noserver", "{text}"), means.StoppedClipboard, freeze=("key ctrl+v",), thread="event queue",
         settle_s=15),
    Case("firefox-paste", "Firefox", ("firefox-esr", "--no-remote", "--profile", "{folder}/home", "file://{folder}/loop.html"),
         means.StoppedClipboard, freeze=("key ctrl+v",), settle_s=12),
    # Locks.
    Case("emacs-flock", "GTK 3 (own loop)", EMACS, means.Held, ("flock", "{folder}/lock"),
         freeze=("key alt+exclam", "sleep 0.5", "type flock {held} true", "key Return")),
    Case("gvim-apt-lock", "GTK 3", ("gvim", "-f", "{text}"), means.Held, ("record_lock", "{folder}/apt/lock-frontend"), use=("key Down",),
         freeze=(f"type :call system('{APT}')", "key Return"), paper="1-SystemPref"),
    Case("emacs-database", "GTK 3 (own loop)", EMACS, means.Held, ("database", "{folder}/source.db"),
         freeze=("key alt+exclam", "sleep 0.5", "type sqlite3 -cmd '.timeout 20000' {held} 'insert into t values(2)'", "key Return")),
    Case("filezilla-lock", "wxWidgets", ("filezilla",), means.Held, ("record_lock", "{folder}/home/.config/filezilla/lockfile"), start_up=True),
    Case("gvim-lock-file", "GTK 3", ("gvim", "-f", "{text}"), means.Held, ("lock_file", "{folder}/lock"), use=("key Down",),
         freeze=("type :call system('lockfile -1 -r 20 {held}')", "key Return")),
    Case("perl-flock", "Perl/Tk", ("perl", "{programs}/perl_tk.pl", "{folder}/lock"), means.Held, ("flock", "{folder}/lock"), freeze=("key F2",)),
    Case("gtk4-database", "GTK 4 (Python)", ("/usr/bin/python3", "{programs}/gtk4.py", "{folder}/source.db"), means.Held,
         ("database", "{folder}/source.db"), freeze=("key F2",)),
    Case("swing-lock", "Java (Swing)", ("java", "-cp", "/usr/share/java/bsh.jar", "-Dpath={folder}/lock", "bsh.Interpreter", "{programs}/swing.bsh"),
         means.Held, ("record_lock", "{folder}/lock"), freeze=("key F2",), thread="event queue", settle_s=6),
    # Silent servers, pipes and services.
    Case("emacs-connection", "GTK 3 (own loop)", EMACS, means.Held, ("tcp", "7801"), paper="2-SequelPro",
         freeze=lisp('(url-retrieve-synchronously "http://127.0.0.1:7801/")')),
    Case("emacs-resolver", "GTK 3 (own loop)", EMACS, means.Resolver,
         freeze=lisp('(open-network-stream "a" nil "some.host.example" 80)')),
    Case("gvim-git-remote", "GTK 3", ("gvim", "-f", "{text}"), means.Held, ("tcp", "7801"), use=("key Down",),
         freeze=("type :call system('git ls-remote git://127.0.0.1:7801/x')", "key Return")),
    Case("gvim-pipe", "GTK 3", ("gvim", "-f", "{text}"), means.Held, ("pipe", "{folder}/fifo"), use=("key Down",),
         freeze=("type :call system('cat {held}')", "key Return")),
    Case("emacs-git-hook", "GTK 3 (own loop)", EMACS, means.Held, ("pipe", "{folder}/fifo"),
         freeze=("key ctrl+x", "key ctrl+f", "sleep 0.5", "type {folder}/repository/a", "key Return")),
    Case("chromium-request", "Chromium", (*CHROMIUM, "file://{folder}/ask.html"), means.Held, ("tcp", "7801"), freeze=("key F2",),
         thread="renderer", settle_s=6),
    Case("mousepad-accessibility", "GTK 3", ("mousepad", "{text}"), means.StoppedAccessibility, start_up=True, environment=TELL_BRIDGE,
         paper="4-Installer"),
    Case("calculator-bus", "GTK 4", ("gnome-calculator",), means.StoppedBus, start_up=True),
    Case("gitk-settings", "Tk (git)", ("sh", "-c", "cd repository && GIT_CONFIG_GLOBAL={folder}/fifo exec gitk"), means.Held,
         ("pipe", "{folder}/fifo"), start_up=True),
    Case("emacs-ssh", "GTK 3 (own loop)", EMACS, means.Held, ("tcp", "7801"),
         freeze=("key alt+exclam", "sleep 0.5", "type ssh -F /dev/null -p 7801 127.0.0.1 true", "key Return")),
    Case("gvim-psql", "GTK 3", ("gvim", "-f", "{text}"), means.Held, ("tcp", "7801"), use=("key Down",),
         freeze=("type :call system('psql -h 127.0.0.1 -p 7801 -c x')", "key Return")),
    Case("gvim-bus", "GTK 3", ("gvim", "-f", "{text}"), means.StoppedBus, use=("key Down",),
         freeze=("type :call system('dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.ListNames')", "key Return")),
    Case("emacs-method", "GTK 3 (own loop)", EMACS, means.Held, ("service", "org.example.held"),
         freeze=lisp('(progn (require (quote dbus)) (dbus-call-method :session "org.example.held" "/" "org.example.held" "Held" :timeout 5000))')),
    Case("pyqt6-service", "Qt 6 (Python)", ("/usr/bin/python3", "{programs}/pyqt6.py", "org.example.held"), means.Held,
         ("service", "org.example.held"), freeze=("key F2",)),
    Case("wish-child", "Tk", ("sh", "-c", "exec wish {programs}/wish.tcl {child}"), means.SleepingChild, freeze=("key F2",)),
    # Commands in other languages.
    Case("gvim-java-tool", "GTK 3 (Java)", ("gvim", "-f", "{text}"), means.SlowFiles, use=("key Down",),
         freeze=("type :call system('keytool -list -storepass secret -keystore {slow}/slow.txt')", "key Return")),
    Case("gvim-node-tool", "GTK 3 (Node)", ("gvim", "-f", "{text}"), means.SlowFiles, use=("key Down",),
         freeze=("type :call system('node {slow}/slow.js')", "key Return")),
    Case("emacs-go-tool", "GTK 3 (Go)", EMACS, means.SlowFiles,
         freeze=("key alt+exclam", "sleep 0.5", "type go-md2man -in {slow}/slow.txt -out /dev/null", "key Return")),
    Case("tk-connection", "Tk (Python)", ("/usr/bin/python3", "-c", TK), means.Held, ("tcp", "7802"), use=("type a",), freeze=("key F2",)),
    Case("wx-flock", "wxPython", ("/usr/bin/python3", "-c", WX, "{folder}/lock"), means.Held, ("flock", "{folder}/lock"), use=("type a",), freeze=("key F2",)),
    # Programs in a terminal.
    Case("nano-slow-file", "terminal", ("xterm", "-e", "nano", "{text}"), means.SlowFiles, use=TYPED, thread="terminal",
         freeze=("key ctrl+r", "sleep 0.5", "type {slow}/slow.txt", "key Return")),
    Case("mc-slow-folder", "terminal", ("xterm", "-e", "mc", "-u"), means.SlowFiles, ("readdir",), use=TYPED, thread="terminal",
         freeze=("type cd {slow}", "key Return")),
    Case("sqlite-shell-lock", "terminal", ("xterm", "-e", "sqlite3", "-cmd", ".timeout 20000", "{folder}/source.db"), means.Held,
         ("database", "{folder}/source.db"), use=TYPED, thread="terminal", freeze=("type insert into t values(3);", "key Return")),
    Case("python-flock", "terminal", ("xterm", "-e", "/usr/bin/python3"), means.Held, ("flock", "{folder}/lock"), use=TYPED, thread="terminal",
         freeze=("type import fcntl; fcntl.flock(open('{held}'), fcntl.LOCK_EX)", "key Return")),
    Case("vim-pipe", "terminal", ("xterm", "-e", "vim", "{text}"), means.Held, ("pipe", "{folder}/fifo"), use=("key Down",), thread="terminal",
         freeze=("type :call system('cat {held}')", "key Return")),
    Case("less-pipe", "terminal", ("xterm", "-e", "less", "-f", "{text}"), means.Held, ("pipe", "{folder}/fifo"), use=("key Down",), thread="terminal",
         freeze=("type :e {held}", "key Return")),
    Case("joe-slow-file", "terminal", ("xterm", "-e", "joe", "{text}"), means.SlowFiles, use=TYPED, thread="terminal",
         freeze=("key ctrl+k", "key e", "sleep 0.5", "type {slow}/slow.txt", "key Return")),
    Case("r-connection", "terminal", ("xterm", "-e", "R", "--vanilla", "-q"), means.Held, ("tcp", "7801"), use=TYPED, thread="terminal", settle_s=5,
         freeze=("type readLines(socketConnection(port = 7801, open = 'r+', blocking = TRUE), 1)", "key Return")),
    Case("gnuplot-pipe", "terminal", ("xterm", "-e", "gnuplot"), means.Held, ("pipe", "{folder}/fifo"), use=TYPED, thread="terminal",
         freeze=("type plot '< cat {held}'", "key Return")),
    Case("lua-pipe", "terminal", ("xterm", "-e", "lua5.4"), means.Held, ("pipe", "{folder}/fifo"), use=TYPED, thread="terminal",
         freeze=("type io.open('{held}'):read()", "key Return")),
    Case("irb-pipe", "terminal (Ruby)", ("xterm", "-e", "irb", "--nomultiline"), means.Held, ("pipe", "{folder}/fifo"), use=TYPED, thread="terminal",
         freeze=("type File.read('{held}')", "key Return")),
    Case("php-pipe", "terminal (PHP)", ("xterm", "-e", "php", "-a"), means.Held, ("pipe", "{folder}/fifo"), use=TYPED, thread="terminal",
         freeze=("type file_get_contents('{held}');", "key Return")),
    Case("tclsh-child", "terminal (Tcl)", ("xterm", "-e", "tclsh"), means.SleepingChild, use=TYPED, thread="terminal",
         freeze=("type exec {child}", "key Return")),
    Case("node-pipe", "terminal (Node)", ("xterm", "-e", "node"), means.Held, ("pipe", "{folder}/fifo"), use=TYPED, thread="terminal",
         freeze=("type fs.readFileSync('{held}')", "key Return")),
    Case("zile-slow-file", "terminal", ("xterm", "-e", "zile", "{text}"), means.SlowFiles, use=TYPED, thread="terminal",
         freeze=("key ctrl+x", "key ctrl+f", "sleep 0.5", "key ctrl+a", "key ctrl+k", "type {slow}/slow.txt", "key Return")),
    Case("nvim-pipe", "terminal (libuv)", ("xterm", "-e", "nvim", "{text}"), means.Held, ("pipe", "{folder}/fifo"), use=("key Down",), thread="terminal",
         freeze=("type :call system('cat {held}')", "key Return")),
    Case("w3m-connection", "terminal", ("xterm", "-e", "w3m", "{text}"), means.Held, ("tcp", "7801"), use=("key Down",), thread="terminal",
         freeze=("type U", "sleep 0.5", "key ctrl+u", "type http://127.0.0.1:7801/", "key Return")),
    Case("nnn-slow-folder", "terminal", ("xterm", "-e", "nnn", "{folder}"), means.SlowFiles, ("readdir",), use=("key Down",), thread="terminal",
         freeze=("type /mnt", "key Return", "key Return")),
    Case("jed-slow-save", "terminal", ("xterm", "-e", "jed", "{slow}/slow.txt"), means.SlowFiles, ("write",), thread="terminal",
         freeze=("key ctrl+x", "key ctrl+s")),
    Case("bc-power", "terminal", ("xterm", "-e", "bc", "-q"), means.Itself, use=TYPED, thread="terminal",
         freeze=("type x = 3 ^ 800000; 1", "key Return")),
    # The X server.
    Case("mousepad-grab", "GTK 3", ("mousepad", "{text}"), means.Grab, freeze=(OPEN_MOUSEPAD,)),
    Case("mousepad-server", "GTK 3", ("mousepad", "{text}"), means.StoppedServer, freeze=(OPEN_MOUSEPAD,)),
    # The program itself computes.
    Case("geany-upper-case", "GTK 3", ("geany", "-i", "{huge}"), means.Itself, before=("key ctrl+a",), use=("sleep 1",),
         freeze=("key ctrl+alt+u",), paper="10-CotEditor"),
    Case("geany-long-line", "GTK 3", ("geany", "-i", "{line}"), means.Itself, start_up=True, paper="5-Notes"),
    Case("mousepad-copy", "GTK 3", ("mousepad", "{huge}"), means.Itself, before=("key ctrl+a",), use=("sleep 1",), freeze=("key ctrl+c",),
         paper="6-TextEdit"),
    Case("l3afpad-paste", "GTK 3", ("l3afpad",), means.Itself, before=("copy {long}",), freeze=("key ctrl+v",), paper="9-TextMate"),
    Case("featherpad-copy-paste", "Qt 5", ("featherpad", "{longer}"), means.Itself, before=("key ctrl+a", "key ctrl+c", "sleep 6"), use=("sleep 1",),
         freeze=("key ctrl+v",), paper="8-SIText"),
    Case("libreoffice-copy", "VCL (GTK 3)", ("soffice", "--norestore", "--nologo", "--writer", "{pages}"), means.Itself,
         before=("key ctrl+a", "sleep 3"), use=("sleep 1",), freeze=("key ctrl+c",), settle_s=15, paper="7-MSWord"),
    Case("emacs-revert", "GTK 3 (own loop)", ("emacs", "-Q", "--eval", "(setq large-file-warning-threshold nil)", "--eval",
                                                "(global-auto-revert-mode)", "{enormous}"), means.Itself,
         use=("key Down",), freeze=("prepend {long} {enormous}", "sleep 2.5"), settle_s=8, paper="3-TeXStudio"),
    Case("emacs-sort", "GTK 3 (own loop)", ("emacs", "-Q", "--eval", "(setq large-file-warning-threshold nil)", "{longer}"), means.Itself,
         use=("key Down",), freeze=lisp('(sort-regexp-fields nil "^.*$" "[0-9]+" (point-min) (point-max))')),
    Case("xpdf-heavy-page", "Xt", ("xpdf", "{heavy}"), means.Itself, use=("sleep 1",), freeze=("key n",)),
    Case("falkon-script", "Qt WebEngine", ("env", "QTWEBENGINE_DISABLE_SANDBOX=1", "falkon", "--portable", "file://{folder}/loop.html"), means.Itself,
         freeze=("key F2",), thread="renderer", settle_s=10),
    Case("chromium-script", "Chromium", (*CHROMIUM, "file://{folder}/loop.html"), means.Itself, freeze=("key F2",), thread="renderer",
         settle_s=6),
    Case("firefox-script", "Firefox", ("firefox-esr", "--no-remote", "--profile", "{folder}/home", "file://{folder}/loop.html"), means.Itself,
         freeze=("key F2",), thread="renderer", settle_s=12),
    # The program gets no CPU.
    Case("geany-no-cpu", "GTK 3", ("geany", "-i", "{text}"), means.NoCpu, freeze=("type some words",)),
    Case("zim-full-cpu", "GTK 3 (Python)", ("taskset", "-c", "0", "zim", "--standalone", "{folder}/source"), means.FullCpu, start_up=True),
    Case("geany-priority", "GTK 3", ("taskset", "-c", "0", "geany", "-i", "{text}"), means.LowPriority, freeze=("type some words",)),
    Case("thunar-quota", "GTK 3", ("thunar", "/usr/share"), means.Quota, use=("key Down",), freeze=("key F5", "key Down", "key Page_Down")),
    # The disk is busy with another program's data.
    Case("gvim-fsync", "GTK 3", ("gvim", "-f", "{text}"), means.BusyDisk, use=("key Down",), freeze=("type :w {disk}/file", "key Return")),
    # What the kernel holds back for somebody else.
    Case("love-pipe", "SDL 2", ("love", "{programs}/love", "{folder}/fifo"), means.Held, ("pipe", "{folder}/fifo"), freeze=("key F2",)),
    Case("taskmanager-settings", "GTK 3 (Xfce)", ("xfce4-taskmanager",), means.StoppedSettings, start_up=True),
    Case("surf-script", "WebKitGTK", ("surf", "file://{folder}/loop.html"), means.Itself, freeze=("key F2",), thread="renderer", settle_s=8),
    Case("galculator-stopped", "GTK 3", ("galculator",), means.HeldProgram, ("stop", "stopped by hold-stop"), use=("key 1",), freeze=("key 2",)),
    Case("pluma-freezer", "GTK 3 (MATE)", ("pluma", "{text}"), means.HeldProgram, ("freezer", "control group that was frozen"), freeze=("type words",)),
    Case("perl-semaphore", "Perl/Tk", ("perl", "{programs}/perl_semaphore.pl", "4711"), means.Held, ("semaphore", "4711"), freeze=("key F2",)),
    Case("gvim-linked-lock", "GTK 3", ("gvim", "-f", "{text}"), means.Held, ("linked_lock", "{folder}/lock"), use=("key Down",),
         freeze=("type :call system('dotlockfile -l -i 1 -r 20 {held}')", "key Return")),
    Case("emacs-lock-folder", "GTK 3 (own loop)", EMACS, means.Held, ("lock_folder", "{folder}/lock"),
         freeze=("key alt+exclam", "sleep 0.5", "type until mkdir {held}; do sleep 0.2; done", "key Return")),
    Case("gvim-rsync", "GTK 3", ("gvim", "-f", "{text}"), means.SlowFiles, use=("key Down",),
         freeze=("type :call system('rsync -a {slow}/slow.txt copy')", "key Return")),
    Case("gvim-curl-node", "GTK 3 (Node)", ("gvim", "-f", "{text}"), means.Server, ("node", "{programs}/server.js", "{fifo}"), use=("key Down",),
         freeze=("type :call system('curl -s http://127.0.0.1:7803/')", "key Return")),
    Case("emacs-java-server", "GTK 3 (Java)", EMACS, means.Server,
         ("java", "-cp", "/usr/share/java/bsh.jar", "-Dpath={fifo}", "bsh.Interpreter", "{programs}/server.bsh"),
         freeze=("key alt+exclam", "sleep 0.5", "type curl -s http://127.0.0.1:7804/a & sleep 0.5; curl -s http://127.0.0.1:7804/b", "key Return")),
    Case("swing-deadlock", "Java (Swing)", ("java", "-cp", "/usr/share/java/bsh.jar", "bsh.Interpreter", "{programs}/deadlock.bsh"),
         means.Itself, freeze=("key F2",), thread="event queue", settle_s=6),
    Case("gtk4-condition", "GTK 4 (Python)", ("/usr/bin/python3", "{programs}/gtk4_workers.py", "condition", "{folder}/lock"), means.Held,
         ("flock", "{folder}/lock"), freeze=("key F2",)),
    Case("gtk4-output", "GTK 4 (Python)", ("/usr/bin/python3", "{programs}/gtk4_workers.py", "output", "{folder}/fifo"), means.Held,
         ("reader", "{folder}/fifo"), freeze=("key F2",)),
    Case("galculator-debugger", "GTK 3", ("galculator",), means.Debugger, use=("key 1",), freeze=("key 2",)),
    Case("gvim-lease", "GTK 3", ("gvim", "-f", "{text}"), means.Held, ("lease", "{folder}/loop.html"), use=("key Down",),
         freeze=("type :e {held}", "key Return")),
    Case("emacs-scanner", "GTK 3 (own loop)", EMACS, means.Held, ("scanner", "{folder}/loop.html"),
         freeze=("key ctrl+x", "key ctrl+f", "sleep 0.5", "type {held}", "key Return")),
    # Message queues, shared memory, sockets of one machine; commands of debuggers and editors in a terminal.
    Case("tk-unix-server", "Tk (Python)", ("/usr/bin/python3", "-c", TK_UNIX, "{folder}/socket"), means.Held, ("unix", "{folder}/socket"),
         use=("type a",), freeze=("key F2",)),
    Case("wx-posix-semaphore", "wxPython", ("/usr/bin/python3", "-c", WX_SEMAPHORE, "/argus-desktop"), means.Held,
         ("posix_semaphore", "/argus-desktop"), use=("type a",), freeze=("key F2",)),
    Case("perl-queue", "Perl/Tk", ("perl", "{programs}/perl_queue.pl", "4712"), means.Held, ("queue", "4712"), freeze=("key F2",)),
    Case("awt-pipe", "Java (AWT)", ("java", "-cp", "/usr/share/java/bsh.jar", "-Dpath={folder}/fifo", "bsh.Interpreter", "{programs}/awt.bsh"),
         means.Held, ("pipe", "{folder}/fifo"), freeze=("key F2",), thread="event queue", settle_s=6),
    Case("gdb-pipe", "terminal", ("xterm", "-e", "gdb", "-q"), means.Held, ("pipe", "{folder}/fifo"), use=("type p 1", "key Return"), thread="terminal",
         freeze=("type shell cat {held}", "key Return")),
    Case("emacs-terminal-pipe", "terminal", ("xterm", "-e", "emacs", "-nw", "-Q", "{text}"), means.Held, ("pipe", "{folder}/fifo"), thread="terminal",
         freeze=("key Escape", "type !", "sleep 0.5", "type cat {held}", "key Return"), settle_s=5),
    Case("guile-pipe", "terminal (Scheme)", ("xterm", "-e", "guile"), means.Held, ("pipe", "{folder}/fifo"), use=("type 1", "key Return"),
         thread="terminal", freeze=('type (read-char (open-input-file "{held}"))', "key Return"), settle_s=5),
]
