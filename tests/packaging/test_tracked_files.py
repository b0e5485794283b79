"""Nothing that belongs to one machine, and no address of a registry, is in what we publish."""

import re
import subprocess

import pytest

from scripts.requirements import ROOT

# Written so that this file does not name what it forbids.
HOSTS = "|".join(["pypi[.]org", "pythonhosted[.]org", "download[.]pytorch", "npmjs[.]org", "deb[.]debian"])
OPTIONS = r"--(?:extra-)?index[-]url|--find[-]links"
HOME_FOLDERS = r"(?<![\w.~/}-])/(?:work|root|opt/wheels|home/\w+|Users/\w+)/"
FORBIDDEN = re.compile(f"{HOSTS}|{OPTIONS}|{HOME_FOLDERS}")


def tracked_files() -> list[str]:
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listing.returncode:
        pytest.skip("this is not a git checkout")
    return [name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_no_tracked_file_names_a_registry_or_a_folder_of_one_machine() -> None:
    found = []
    for name in tracked_files():
        text = (ROOT / name).read_bytes().decode("utf-8", errors="ignore")
        found += [f"{name}: {match[0]}" for match in FORBIDDEN.finditer(text)]
    assert found == []


@pytest.mark.parametrize(
    ("text", "is_forbidden"),
    [
        ("https://pypi" + ".org/simple", True),
        ("pip install --index" + "-url x", True),
        ("cd /wor" + "k/main", True),
        ("'/hom" + "e/ann/runs'", True),
        ("runs/work/mnist", False),
        ("../root/x", False),
        ("https://example.com/home/x/", False),
    ],
)
def test_the_pattern_tells_machines_from_examples(text: str, is_forbidden: bool) -> None:
    assert bool(FORBIDDEN.search(text)) is is_forbidden
