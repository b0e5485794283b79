"""Builds the empty page that ours is compared with: Svelte and Vite as ours, and nothing but a heading."""

from __future__ import annotations

from pathlib import Path

from scripts.node import run_node
from scripts.requirements import ROOT

__all__ = ["build_blank_page"]

UI = ROOT / "ui"
FILES = {
    "index.html": '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Blank</title></head>'
    '<body><div id="app"></div><script type="module" src="/main.js"></script></body></html>\n',
    "main.js": "import { mount } from 'svelte';\nimport App from './App.svelte';\n"
    "mount(App, { target: document.getElementById('app') });\n",
    "App.svelte": "<h1>Blank</h1>\n",
    "vite.config.js": "import { svelte } from '@sveltejs/vite-plugin-svelte';\n"
    "export default { plugins: [svelte()] };\n",
}


def build_blank_page(folder: Path) -> Path:
    """Return the folder of the built page. `folder` lies inside the checkout, so that ui/node_modules can be linked."""
    folder.mkdir(parents=True)
    (folder / "node_modules").symlink_to(UI / "node_modules")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    done = run_node(UI / "node_modules" / "vite" / "bin" / "vite.js", ["build"], folder=folder)
    if done.returncode:
        raise RuntimeError(f"the blank page could not be built: {done.stdout.strip()[-300:]}")
    return folder / "dist"
