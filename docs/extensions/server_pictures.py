"""Takes the pictures of docs/server.md with a headless Chromium: python docs/extensions/server_pictures.py.

A server of its own with the examples computes; the pictures are kept in docs/images, since browsers differ by version.
"""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

DOCS = Path(__file__).parent.parent
EXAMPLES = DOCS.parent / "examples"
WIDTH = 1100


@contextlib.contextmanager
def server(folder: str) -> Iterator[str]:
    """The address of one that computes; programs show the token in TROPALIGN_TOKEN."""
    command = [sys.executable, "-m", "tropalign.cli.main", "serve", "--port", "0", "--folder", folder, "-q"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        address, _, token = process.stdout.readline().strip().partition("/login?token=")
        os.environ["TROPALIGN_TOKEN"] = token
        yield address
    finally:
        process.terminate()
        process.wait(60)


def asked(url: str, data: Any = None) -> Any:
    """The JSON that the API answers with."""
    body = None if data is None else json.dumps(data).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ['TROPALIGN_TOKEN']}"}
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as answer:
        return json.load(answer)


def computed(address: str, verb: str, dest: str, name: str, **more: Any) -> str:
    """The id of a job that is done."""
    item = {"text": (EXAMPLES / name).read_text(), "name": name}
    data = {"verb": verb, "inputs": {dest: [item]}, "options": {}, "format": more.pop("format"), "outputs": [], **more}
    job = asked(f"{address}/api/v1/jobs", data)
    while job["state"] in ("queued", "running"):
        time.sleep(0.2)
        job = asked(f"{address}/api/v1/jobs/{job['id']}")
    if job["state"] != "done":
        raise SystemExit(f"{job['state']}: {job['message']}")
    return str(job["id"])


def save(browser: Any, url: str, path: Path, height: int) -> None:
    """A picture of the page in 128 colours."""
    browser.get(url)
    time.sleep(1.5)  # reports draw themselves
    browser.set_window_size(WIDTH, height)
    time.sleep(0.5)
    picture = Image.open(io.BytesIO(browser.get_screenshot_as_png())).convert("RGB")
    picture.quantize(128, method=Image.Quantize.MEDIANCUT).save(path, optimize=True)
    print(path.name, path.stat().st_size)


def main() -> None:
    """Takes all of them."""
    options = webdriver.ChromeOptions()
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", f"--window-size={WIDTH},900", "--hide-scrollbars"):
        options.add_argument(word)
    with tempfile.TemporaryDirectory() as folder, server(folder) as address:
        computed(address, "msa", "family", "efp.fasta", format="fasta", title="EF-P, aligned", tags=["efp"])
        job = computed(
            address, "pairs", "queries", "efp.fasta", format="tsv", outputs=["report"], title="EF-P, all pairs",
            tags=["efp", "identity"],
        )  # fmt: skip
        browser = webdriver.Chrome(options, Service("/usr/bin/chromedriver"))
        try:
            browser.get(f"{address}/login?token={os.environ['TROPALIGN_TOKEN']}")
            save(browser, f"{address}/new/pairs", DOCS / "images" / "server_form.png", 760)
            save(browser, f"{address}/jobs/{job}", DOCS / "images" / "server_job.png", 1000)
            save(browser, f"{address}/jobs", DOCS / "images" / "server_jobs.png", 420)
        finally:
            browser.quit()


if __name__ == "__main__":
    main()
