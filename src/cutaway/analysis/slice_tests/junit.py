"""Results as JUnit XML, which every CI system shows. Makes text; writes no file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from xml.etree import ElementTree as ET

from cutaway.analysis.slice_tests.running import TestResult, Verdict

__all__ = ["junit_xml"]


def junit_xml(
    results: Sequence[TestResult], *, suite: str, properties: Mapping[str, str] | None = None, seconds: float = 0.0
) -> bytes:
    """Return a JUnit file: a `testcase` for each result, a `failure` where it failed, an `error` where not judged.

    `seconds` is what all of them took together. Characters that XML has no place for become question marks.

    >>> junit_xml((), suite="digits").startswith(b"<?xml")
    True
    """
    failed = sum(one.verdict is Verdict.FAILED for one in results)
    not_judged = sum(one.verdict is Verdict.NOT_JUDGED for one in results)
    counts = {
        "tests": str(len(results)), "failures": str(failed), "errors": str(not_judged), "skipped": "0",
        "time": f"{seconds:.3f}",
    }  # fmt: skip
    root = ET.Element("testsuites", {"name": "cutaway test", **counts})
    inner = ET.SubElement(root, "testsuite", {"name": _clean(suite), **counts})
    listed = ET.SubElement(inner, "properties")
    for name, value in (properties or {}).items():
        ET.SubElement(listed, "property", {"name": _clean(name), "value": _clean(value)})
    for one in results:
        _append_case(inner, one, suite, seconds / len(results))
    ET.indent(root)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _append_case(suite: ET.Element, result: TestResult, group: str, seconds: float) -> None:
    name = {"name": _clean(result.test.title), "classname": _clean(group), "time": f"{seconds:.3f}"}
    case = ET.SubElement(suite, "testcase", name)
    kinds = {Verdict.FAILED: "failure", Verdict.NOT_JUDGED: "error"}
    if result.verdict in kinds:
        about = {"message": _clean(result.reason), "type": str(result.verdict)}
        ET.SubElement(case, kinds[result.verdict], about).text = _clean(f"{result.test.text}\n{result.reason}")
    else:
        ET.SubElement(case, "system-out").text = _clean(f"{result.test.text}\n{result.reason}")
    figures = {"value": result.value, "low": result.low, "high": result.high, "bound": result.test.bound}
    listed = ET.Element("properties")
    for key, value in {**figures, "samples": result.count}.items():
        if math.isfinite(value):
            ET.SubElement(listed, "property", {"name": key, "value": str(value)})
    case.insert(0, listed)


def _clean(text: str) -> str:
    """Replace what XML 1.0 has no place for: control characters, lone surrogates and two noncharacters."""
    return "".join(char if _is_allowed(ord(char)) else "?" for char in text)


def _is_allowed(code: int) -> bool:
    return code in (0x9, 0xA, 0xD) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000
