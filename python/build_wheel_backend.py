"""A build backend (PEP 517) for one package of Python files. It needs the standard library alone, so `pip install ./python` works
without a network. Names and version are those of pyproject.toml."""
import base64
import hashlib
import io
import pathlib
import re
import tarfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = "argus"
SUFFIXES = (".py", ".typed")


def _field(name):
    """A text of [project]; Python 3.9 has no parser for TOML."""
    text = (HERE / "pyproject.toml").read_text(encoding="utf-8")
    return re.search(rf'^{name} = "(.*)"$', text, re.M).group(1)


def _base():
    return f"{_field('name').replace('-', '_')}-{_field('version')}"


def _metadata():
    return (f"Metadata-Version: 2.1\nName: {_field('name')}\nVersion: {_field('version')}\nSummary: {_field('description')}\n"
            f"Requires-Python: {_field('requires-python')}\nLicense: Apache-2.0\n")


def _sources():
    return sorted(path for path in (HERE / PACKAGE).iterdir() if path.suffix in SUFFIXES)


def _record(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def _write(path, files):
    """A wheel with these files, and the list of them."""
    info = f"{_base()}.dist-info"
    files = [*files, (f"{info}/METADATA", _metadata().encode()),
             (f"{info}/WHEEL", b"Wheel-Version: 1.0\nGenerator: argus\nRoot-Is-Purelib: true\nTag: py3-none-any\n")]
    record = "".join(_record(name, data) for name, data in files) + f"{info}/RECORD,,\n"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in [*files, (f"{info}/RECORD", record.encode())]:
            wheel.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), data)  # the same sources, the same bytes
    return path.name


def _wheel_path(folder):
    return pathlib.Path(folder) / f"{_base()}-py3-none-any.whl"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _write(_wheel_path(wheel_directory), [(f"{PACKAGE}/{path.name}", path.read_bytes()) for path in _sources()])


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _write(_wheel_path(wheel_directory), [(f"{PACKAGE}.pth", f"{HERE}\n".encode())])


def build_sdist(sdist_directory, config_settings=None):
    path = pathlib.Path(sdist_directory) / f"{_base()}.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for source in [HERE / "pyproject.toml", HERE / "build_wheel_backend.py", *_sources()]:
            archive.add(source, f"{_base()}/{source.relative_to(HERE)}")
        info, data = tarfile.TarInfo(f"{_base()}/PKG-INFO"), _metadata().encode()
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return path.name
