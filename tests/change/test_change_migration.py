"""Records of an older vault are linked by their hashes, whatever the stored times are."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from opsinfo_cli.change.migration import link
from opsinfo_cli.change.record import Changed, Record

PATH = "/opp/library.json"


def changed(number: int, before: str, after: str, time: int, state: str = "done") -> Record:
    file = Changed(PATH, before, after, "lineage")
    return Record(f"{number:03}", "move", [], f"{time:03}", "user", 1, state, [file])


@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=9), st.randoms(use_true_random=False))
def test_a_file_that_was_changed_back_and_forth_is_linked_without_a_gap(contents: list[str], chance: object) -> None:
    steps = list(pairwise(["first", *contents]))
    times = list(range(len(steps)))
    chance.shuffle(times)  # type: ignore[attr-defined]
    records = [changed(number, *step, time) for number, (step, time) in enumerate(zip(steps, times, strict=True))]
    (head,) = link(records).values()
    by_id = {record.id: record for record in records}
    found: list[Record] = []
    name = head.last
    while name is not None:
        found.append(by_id[name])
        name = found[-1].files[0].previous
    assert len(found) == len(records)
    assert found[-1].files[0].before == "first"
    assert all(after.files[0].before == before.files[0].after for after, before in pairwise(found))
    assert [record.order for record in found] == list(range(len(records), 0, -1))
