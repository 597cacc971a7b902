"""Reports as their tests see them in a browser."""

import time

from formats.page import Opened

#: Seconds until a page that does not open fails its test.
PATIENCE = 60


class OpenedReport(Opened):
    def wait(self):
        end = time.monotonic() + PATIENCE
        while not self("document.documentElement.dataset.ready"):
            assert time.monotonic() < end, "the report does not open"
            time.sleep(0.01)

    def rows(self):
        script = """[...document.querySelectorAll(".grid .body .line")]
            .sort((a, b) => a.ariaRowIndex - b.ariaRowIndex)
            .map((line) => [...line.children].map((cell) => cell.textContent))"""
        return self(script)

    def type(self, label, text):
        field = self.browser.find_element("css selector", f".grid input[aria-label^='{label}:']")
        field.clear()
        field.send_keys(text)
        return field

    def sort(self, title):
        for button in self.browser.find_elements("css selector", ".grid .top button"):
            if button.text.rstrip(" ▲▼") == title:
                button.click()
                return
        raise AssertionError(title)

    def lines(self):
        """The alignment as (query, middle, target), places aside."""
        blocks = self("""[...document.querySelectorAll("pre.alignment")].map((pre) => {
            const copy = pre.cloneNode(true);
            for (const place of copy.querySelectorAll(".place"))
              place.replaceWith(place.textContent.includes("\\n") ? "\\n" : "");
            return copy.textContent.split("\\n");
        })""")
        return tuple("".join(block[k] for block in blocks) for k in range(3))
