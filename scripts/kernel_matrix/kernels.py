"""Which kernels the matrix boots, and where they come from.

A kernel is a package of a distribution, downloaded by apt and unpacked, never installed. apt runs with folders of its own, so
this machine's package lists and sources stay as they are. The mirrors are those of this machine and of debootstrap.
"""
import dataclasses
import gzip
import lzma
import pathlib
import re
import shutil
import subprocess

# To add a kernel, add a row. `package` is a regular expression; of several versions the newest is taken. `variant` is what the
# package's name has after the version. `records`: "bpf", or "perf" where the kernel is known to be too old for BPF.


@dataclasses.dataclass(frozen=True)
class Kernel:
    name: str
    architecture: str  # as Debian calls it
    distribution: str
    suite: str
    package: str
    records: str = "bpf"
    in_ci: bool = False
    folder: str = None  # unpacked there by hand

    @property
    def key(self):
        return self.name if self.architecture == "amd64" else f"{self.architecture}-{self.name}"


KERNELS = [
    Kernel("5.10", "amd64", "debian", "bullseye", r"linux-image-5\.10\.0-\d+-amd64-unsigned", records="perf"),
    Kernel("5.15", "amd64", "ubuntu", "jammy", r"linux-image-unsigned-5\.15\.0-\d+-generic", in_ci=True),
    Kernel("5.19", "amd64", "ubuntu", "jammy-updates", r"linux-image-unsigned-5\.19\.0-\d+-generic"),
    Kernel("6.1", "amd64", "debian", "bookworm", r"linux-image-6\.1\.0-\d+-amd64-unsigned", in_ci=True),
    Kernel("6.2", "amd64", "ubuntu", "jammy-updates", r"linux-image-unsigned-6\.2\.0-\d+-generic"),
    Kernel("6.5", "amd64", "ubuntu", "jammy-updates", r"linux-image-unsigned-6\.5\.0-\d+-generic"),
    Kernel("6.8", "amd64", "ubuntu", "noble", r"linux-image-unsigned-6\.8\.0-\d+-generic", in_ci=True),
    Kernel("6.11", "amd64", "ubuntu", "noble-updates", r"linux-image-unsigned-6\.11\.0-\d+-generic"),
    Kernel("6.12", "amd64", "debian", "trixie", r"linux-image-6\.12\.\d+\+deb13-amd64-unsigned"),
    Kernel("6.12-rt", "amd64", "debian", "trixie", r"linux-image-6\.12\.\d+\+deb13-rt-amd64-unsigned"),
    Kernel("6.14", "amd64", "ubuntu", "noble-updates", r"linux-image-unsigned-6\.14\.0-\d+-generic"),
    Kernel("6.17", "amd64", "ubuntu", "noble-updates", r"linux-image-unsigned-6\.17\.0-\d+-generic"),
    Kernel("7.0", "amd64", "ubuntu", "noble-updates", r"linux-image-unsigned-7\.0\.0-\d+-generic"),
    Kernel("sid", "amd64", "debian", "sid", r"linux-image-[\d.]+\+deb\d+-amd64"),
    Kernel("newest", "amd64", "debian", "trixie-backports", r"linux-image-[\d.]+\+deb13-amd64", in_ci=True),
    Kernel("6.1", "arm64", "debian", "bookworm", r"linux-image-6\.1\.0-\d+-arm64-unsigned"),
    Kernel("6.12", "arm64", "debian", "trixie", r"linux-image-6\.12\.\d+\+deb13-arm64-unsigned"),
    Kernel("6.12-16k", "arm64", "debian", "trixie", r"linux-image-6\.12\.\d+\+deb13-arm64-16k-unsigned"),
    Kernel("newest", "arm64", "debian", "trixie-backports", r"linux-image-[\d.]+\+deb13-arm64"),
]

FIRST_WITH_BPF = [5, 15]

DEBOOTSTRAP_SCRIPTS = pathlib.Path("/usr/share/debootstrap/scripts")
# Which of debootstrap's scripts says the mirror of a distribution that is not this machine's.
MIRROR_SCRIPTS = {"debian": "sid", "ubuntu": "gutsy"}


class Missing(Exception):
    """Something that cannot be had here; the text says what."""


@dataclasses.dataclass
class Unpacked:
    """A kernel as it lies in the cache."""
    image: pathlib.Path
    modules: pathlib.Path  # …/lib/modules/RELEASE
    config: pathlib.Path
    release: str


def choose(names):
    """The rows for what the user names: 6.1, arm64-6.1, ci, all."""
    if not names or "all" in names:
        return list(KERNELS)
    if "ci" in names:
        return [k for k in KERNELS if k.in_ci]
    chosen = [k for name in names for k in KERNELS if k.key == name]
    unknown = [name for name in names if all(k.key != name for k in KERNELS)]
    if unknown:
        raise Missing(f"no kernel '{unknown[0]}': there are {', '.join(k.key for k in KERNELS)}, and 'ci' and 'all'")
    return chosen


def unpacked_row(folder):
    """A row for a kernel that was unpacked by hand. The name of its release tells the architecture and the age."""
    release = find_parts(pathlib.Path(folder)).release
    architecture = "arm64" if re.search("arm64|aarch64", release) else "amd64"
    version = [int(number) for number in re.match(r"(\d+)\.(\d+)", release).groups()]
    return Kernel(pathlib.Path(folder).absolute().name, architecture, "", "", "", folder=str(folder),
                  records="bpf" if version >= FIRST_WITH_BPF else "perf")


def mirror_of_this_machine(distribution):
    """The first mirror in apt's own configuration that serves `distribution`; None: this machine is another one."""
    done = subprocess.run(["apt-get", "indextargets", "--format", "$(ORIGIN) $(REPO_URI)", "Created-By: Packages"],
                          capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        origin, _, uri = line.rpartition(" ")
        if origin.lower() == distribution and "security" not in uri:
            return uri
    return None


def mirror_of(distribution, architecture):
    own = mirror_of_this_machine(distribution)
    if own and (distribution == "debian" or architecture == "amd64"):
        return own
    script = DEBOOTSTRAP_SCRIPTS / MIRROR_SCRIPTS[distribution]
    if not script.exists():
        raise Missing(f"the mirror of {distribution} is not known: install debootstrap")
    found = re.findall(r"default_mirror\s+(\S+)", script.read_text(encoding="utf-8"))
    found = [uri for uri in found if "old-releases" not in uri and ("ports" in uri) == (architecture != "amd64")]
    if not found and distribution == "debian":
        found = re.findall(r"DEF_MIRROR=\"?(http[^\"\s]+)", pathlib.Path("/usr/sbin/debootstrap").read_text(encoding="utf-8"))
    if not found:
        raise Missing(f"debootstrap does not say where {distribution}'s packages are")
    return found[0]


def keyring_option(distribution):
    """Debian's and Ubuntu's keys where they are installed. A kernel that is only booted in an emulator may come without."""
    for ring in (f"/usr/share/keyrings/{distribution}-archive-keyring.gpg",):
        if pathlib.Path(ring).exists():
            return f"signed-by={ring}"
    return "trusted=yes"


class Archive:
    """One suite of a distribution, through apt with its own folders."""

    def __init__(self, cache, kernel):
        self.architecture = kernel.architecture
        self.folder = cache / "apt" / f"{kernel.suite}-{kernel.architecture}"
        for part in ("lists/partial", "cache/archives/partial", "etc"):
            (self.folder / part).mkdir(parents=True, exist_ok=True)
        (self.folder / "status").touch()
        source = (f"deb [arch={kernel.architecture} {keyring_option(kernel.distribution)}] "
                  f"{mirror_of(kernel.distribution, kernel.architecture)} {kernel.suite} main\n")
        (self.folder / "etc/sources.list").write_text(source, encoding="utf-8")

    def apt(self, program, *arguments, cwd=None):
        folder = self.folder
        options = {
            "Dir::Etc::SourceList": folder / "etc/sources.list", "Dir::Etc::SourceParts": "/dev/null",
            "Dir::State": folder, "Dir::State::Lists": folder / "lists", "Dir::State::Status": folder / "status",
            "Dir::Cache": folder / "cache", "APT::Architecture": self.architecture,
            "APT::Architectures": self.architecture, "APT::Sandbox::User": "root",
            "Acquire::Check-Valid-Until": "false", "Acquire::Languages": "none", "Acquire::Retries": "3",
        }
        words = [word for key, value in options.items() for word in ("-o", f"{key}={value}")]
        done = subprocess.run([program, *words, *arguments], capture_output=True, text=True, cwd=cwd, check=False)
        if done.returncode:
            raise Missing(f"{program} {arguments[0]}: {done.stderr.strip().splitlines()[-1:] or 'failed'}")
        return done.stdout

    def update(self):
        self.apt("apt-get", "update", "-q")

    def newest(self, pattern):
        names = self.apt("apt-cache", "pkgnames", "linux-image-").split()
        fitting = [name for name in names if re.fullmatch(pattern, name)]
        if not fitting:
            raise Missing(f"the archive has no package {pattern}")
        return max(fitting, key=lambda name: [int(n) for n in re.findall(r"\d+", name)])

    def parts(self, package):
        """The package and those that it is split into: the boot image and the modules can be packages of their own."""
        version = re.search(r"\d+\.\d+.*", package)[0].replace("-unsigned", "")
        needed = self.apt("apt-cache", "depends", package)
        split = re.findall(rf"Depends: (linux-(?:binary|modules)-{re.escape(version)})$", needed, re.MULTILINE)
        return [package, *split]

    def download(self, package, folder):
        self.apt("apt-get", "download", package, cwd=folder)


def unpack_package(package, folder):
    subprocess.run(["dpkg-deb", "-x", package, folder], check=True)


def get(cache, kernel, say):
    """The kernel's files, downloaded when they are not in `cache` yet."""
    folder = cache / kernel.key
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        archive = Archive(cache, kernel)
        say(f"{kernel.key}: asking {kernel.distribution}'s archive ({kernel.suite})")
        archive.update()
        package = archive.newest(kernel.package)
        say(f"{kernel.key}: downloading {package}")
        for part in archive.parts(package):
            archive.download(part, folder)
        for deb in folder.glob("*.deb"):
            unpack_package(deb, folder / "root")
            deb.unlink()
        (folder / "complete").touch()
    return find_parts(folder / "root")


def find_parts(root):
    images = [path for pattern in ("boot/vmlinu*", "usr/lib/modules/*/vmlinuz", "lib/modules/*/vmlinuz")
              for path in root.glob(pattern)]
    modules = [path for pattern in ("lib/modules/*", "usr/lib/modules/*") for path in root.glob(pattern) if path.is_dir()]
    if not images or not modules:
        raise Missing(f"no kernel in {root}")
    release = modules[0].name
    configs = [path for pattern in (f"boot/config-{release}", f"usr/lib/modules/{release}/config",
                                    f"lib/modules/{release}/config") for path in root.glob(pattern)]
    return Unpacked(images[0], modules[0], configs[0] if configs else None, release)


def read_module(path):
    """A module's bytes, unpacked: distributions compress them, and busybox's insmod cannot."""
    data = path.read_bytes()
    if path.suffix == ".xz":
        return lzma.decompress(data)
    if path.suffix == ".gz":
        return gzip.decompress(data)
    if path.suffix == ".zst":
        return subprocess.run(["zstd", "-dcq"], input=data, capture_output=True, check=True).stdout
    return data


def module_order(unpacked, wanted):
    """The module files for `wanted` (names) with what they depend on, in the order of loading. Built-in ones are left out."""
    depends, order = {}, []
    table = unpacked.modules / "modules.dep"
    if not table.exists():
        subprocess.run(["depmod", "-b", unpacked.modules.parents[2], unpacked.release], check=False)
    for line in table.read_text(encoding="utf-8").splitlines() if table.exists() else ():
        path, _, needs = line.partition(":")
        depends[path] = needs.split()
    by_name = {re.sub(r"\.ko.*", "", pathlib.Path(path).name).replace("-", "_"): path for path in depends}

    def add(path):
        if path in order:
            return
        for needed in depends[path]:
            add(needed)
        order.append(path)

    for name in wanted:
        if name.replace("-", "_") in by_name:
            add(by_name[name.replace("-", "_")])
    return [unpacked.modules / path for path in order]
