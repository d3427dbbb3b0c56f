"""A headless Chromium, where the system has one."""
from __future__ import annotations

import shutil
import warnings

import pytest


def chromium(width=1300, height=1000):
    """The driver of a browser; the test is skipped where there is none."""
    pytest.importorskip("selenium", reason="selenium, which drives a browser, is not installed")
    browser, driver = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip("there is no browser: apt-get install chromium chromium-driver")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--window-size={width},{height}",
                     "--force-prefers-reduced-motion"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return webdriver.Chrome(options, Service(driver))
