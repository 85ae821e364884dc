"""Rules on the text itself, for mixlists and libraries alike."""

from __future__ import annotations

from ..engine_files import GENERATOR, JSON_READER, MANUAL, MIXLIST, STORE
from ..rule import Rule

RULES = (
    Rule(
        "T001",
        "syntax",
        "both",
        "error",
        "refuses",
        "The engine reads strict JSON (RFC 8259) only: no single quotes, no NaN, no bytes that are not "
        "UTF-8, no lone surrogates. One wrong character makes the engine refuse the whole file; a library fails its "
        "whole store.",
        "{'black-list': {}}",
        '{"black-list": {}}',
        f"{JSON_READER}:26-53; {MIXLIST}:186-206; error E21002",
    ),
    Rule(
        "T002",
        "comment",
        "both",
        "error",
        "refuses",
        "JSON has no comments. The manuals show them in their samples, and the engine refuses those samples. "
        "`opsinfo fmt` removes comments and leaves the rest unchanged.",
        '{\n  "black-list": {  // keeps float32\n    "to-add": ["Log"]\n  }\n}',
        '{\n  "black-list": {\n    "to-add": ["Log"]\n  }\n}',
        f"{MIXLIST}:186-206; {JSON_READER}:26-53; error E21002; samples with comments: {MANUAL}:81-100",
    ),
    Rule(
        "T003",
        "trailing-comma",
        "both",
        "error",
        "refuses",
        "A comma before a closing bracket is legal in Python and JavaScript, not in JSON. `opsinfo fmt` removes it.",
        '{"black-list": {"to-add": ["Log",]}}',
        '{"black-list": {"to-add": ["Log"]}}',
        f"{MIXLIST}:186-206; {JSON_READER}:26-53; error E21002",
    ),
    Rule(
        "T004",
        "missing-comma",
        "both",
        "error",
        "refuses",
        "Two values or members follow each other without a comma, as in a sample of the ATC manual. "
        "`opsinfo fmt` adds it.",
        '{"black-list": {"to-add": ["Log" "Pow"]}}',
        '{"black-list": {"to-add": ["Log", "Pow"]}}',
        f"{MIXLIST}:186-206; {JSON_READER}:26-53; error E21002; the sample: {MANUAL}:118-126",
    ),
    Rule(
        "T005",
        "trailing-text",
        "both",
        "warning",
        "accepts",
        "The engine stops reading after the first value, so text after it has no effect; the vendor's own generator "
        "can leave such text. Other JSON readers refuse the file. An edit keeps the text, `opsinfo fmt` removes it.",
        '{"black-list": {"to-add": ["Log"]}} }',
        '{"black-list": {"to-add": ["Log"]}}',
        f"{JSON_READER}:26-53; {MIXLIST}:197; the generator: {GENERATOR}:294-301",
    ),
    Rule(
        "T006",
        "bom",
        "both",
        "note",
        "accepts",
        "The file begins with a UTF-8 byte order mark. The engine skips it; not every JSON reader does. "
        "`opsinfo fmt` removes it from a mixlist.",
        '\ufeff{"black-list": {"to-add": ["Log"]}}',
        '{"black-list": {"to-add": ["Log"]}}',
        f"{JSON_READER}:26-53 (nlohmann::json skips a byte order mark)",
    ),
    Rule(
        "T007",
        "duplicate-key",
        "both",
        "warning",
        "ignores",
        "The same key appears twice in one object. The last one wins and the earlier one is silently dropped, "
        "perhaps a whole list of operators. opsinfo does not edit an entry that appears twice.",
        '{"black-list": {"to-add": ["Log"]}, "black-list": {"to-add": ["Pow"]}}',
        '{"black-list": {"to-add": ["Log", "Pow"]}}',
        f"{JSON_READER}:26-53 (nlohmann::json keeps the last of equal keys)",
    ),
    Rule(
        "T008",
        "empty-file",
        "both",
        "error",
        "refuses",
        "An empty or blank file fails the start of the engine without a clear message (E29999). "
        "`{}` is the empty mixlist.",
        "",
        "{}",
        f"{MIXLIST}:62-77, 118-121",
    ),
    Rule(
        "T009",
        "wrong-type",
        "both",
        "error",
        "refuses",
        "The engine expects another type here: objects of arrays of strings in a mixlist, objects of objects of "
        "strings in a library. A number or `true` without quotes fails the whole store.",
        '{"black-list": {"to-add": "Log"}}',
        '{"black-list": {"to-add": ["Log"]}}',
        f"{STORE}:144-188; {MIXLIST}:133-184",
    ),
)
