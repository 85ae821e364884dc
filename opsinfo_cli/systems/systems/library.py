"""Ascend's operator libraries: the op types of a TARGET."""

from ..system import System

SYSTEMS = (System("library", "Ascend operator library", "ascend", reads="a TARGET", input="target"),)
