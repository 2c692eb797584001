"""Makes the images of docs/xray.md: python tests/browser/screenshots.py FOLDER"""

import os
import shutil
import sys
import tempfile
from io import BytesIO
from pathlib import Path

from example import example
from PIL import Image
from playwright.sync_api import sync_playwright


def main(folder: Path) -> None:
    """Three images: light, dark and a phone's."""
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        example()  # a first call loads what it needs, and the images show the time
        page = Path(temporary) / "page.html"
        page.write_bytes(example().xray().encode())
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM") or shutil.which("chromium"),
            args=["--no-sandbox"] if os.geteuid() == 0 else [],
        )
        for name, scheme, width, height, start in (
            ("light", "light", 1200, 1500, None),
            ("dark", "dark", 1200, 1500, "#passages"),
            ("phone", "light", 390, 1500, None),
        ):
            shown = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            shown.goto(page.as_uri())
            if start:
                shown.locator(start).evaluate("node => node.scrollIntoView()")
            image = Image.open(BytesIO(shown.screenshot()))
            image.quantize(256).save(folder / f"xray-{name}.png", optimize=True)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
