"""Adapters: the only code that touches a framework's own objects. One package per framework, imported when used."""
