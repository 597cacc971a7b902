import os
import shutil
import signal
import sys
import sysconfig
import tempfile
from pathlib import Path

import pytest
from held import Held
from hypothesis import settings

import tropalign
from tropalign import _native

pytest_plugins = ["selection"]


def pytest_addoption(parser):
    parser.addoption("--installed", action="store_true", help="refuse to test anything but an installed package")
    parser.addoption("--write-golden", action="store_true", help="write the outputs of commands into tests/golden")
    parser.addoption("--golden-with", default="", help="options for the commands in tests/golden, as in '--threads 4'")


def pytest_configure(config):
    settings.register_profile("untimed", deadline=None)  # machines are slow and shared
    settings.load_profile("untimed")
    _hear_signals()
    _compile_once()
    _refuse_sources(config)


def _hear_signals():
    """In the background of a shell and under nohup, signals are ignored, and so they are by what tests start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)  # a program that is started then has the system's own
    signal.signal(signal.SIGTERM, _end)
    os.register_at_fork(after_in_child=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL))


def _end(number, frame):
    """End as Ctrl-C does, so that fixtures end the processes that they started. `timeout` sends the signal twice."""
    signal.signal(number, lambda *_: None)
    raise KeyboardInterrupt


def _compile_once():
    """What tests start compiles little, and not again and again."""
    # PoCL keeps what it compiles, a minute for all kernels, in one place, whichever folders tests give it.
    os.environ.setdefault("POCL_CACHE_DIR", str(Path(tempfile.gettempdir()) / f"tropalign-pocl-{os.getuid()}"))
    # Without it every start of the command compiles a hundred modules of a clone, half of the start's time.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False  # nor does pytest rewrite the assertions of all tests anew


def _refuse_sources(config):
    """A wheel's test that imports the sources by mistake would say nothing of the wheel."""
    imported = [Path(module.__file__) for module in (tropalign, _native)]
    installed = Path(sysconfig.get_path("platlib"))
    if config.getoption("--installed") and not all(path.is_relative_to(installed) for path in imported):
        raise pytest.UsageError(f"--installed: tropalign is imported from {imported[0].parent}, not from {installed}")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """Tests wait for servers, signals and browsers a third of their time: half as many workers again as cores."""
    return os.cpu_count() * 3 // 2


def pytest_report_header():
    return f"tropalign: {Path(tropalign.__file__).parent}"


@pytest.fixture(scope="session")
def opencl_name():
    """The first OpenCL device whose driver compiles a kernel. Skips where there is none."""
    from tropalign.devices import opencl
    from tropalign.errors import DeviceError

    reasons = []
    try:
        for info in opencl.find():
            try:
                opencl.open_device(info.name)
                return info.name
            except DeviceError as error:
                reasons.append(str(error))
    except DeviceError as error:
        reasons.append(str(error))
    pytest.skip("; ".join(reasons) or "no OpenCL driver has a device")


@pytest.fixture
def no_gpus(monkeypatch):
    """`tropalign devices` finds none: its tests of all kernels take a minute per OpenCL driver."""
    monkeypatch.setattr("tropalign.devices.registry.find_gpus", lambda: ([], ["no GPU is looked for"]))


@pytest.fixture(params=_native.supported_isas())
def isa(request, monkeypatch):
    """Each instruction set that this machine has, in turn."""
    monkeypatch.setenv("TROPALIGN_ISA", request.param)
    assert _native.selected_isa() == request.param
    return request.param


@pytest.fixture
def held(tmp_path_factory):
    """Commands of pairs wait in their seventh tile."""
    return Held(tmp_path_factory.mktemp("held"))


@pytest.fixture(scope="session")
def browser():
    """Chromium without a window. Skips where there is none."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("no browser: install chromium and chromedriver (Debian: chromium, chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "window-size=1300,800", "lang=en"):
        options.add_argument(f"--{argument}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    found = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield found
    found.quit()
