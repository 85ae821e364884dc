"""The resulting lists of a search, written by the safe writer or to the run folder."""

from __future__ import annotations

import os

from ...bisect.trial import RunFolder
from ...change.output_file import require_writable, write_file
from ...errors import UsageFault
from ...report.terminal.output import Output
from ...text.source import Source
from ..line.outputs import is_input, is_same
from ..shared.common_options import WriteOptions
from ..shared.mixlist_output import built
from ..shared.targets import require_no_library
from ..shared.writing import WriteRun
from .nodes import keep_dtype_text

BEST, KEPT = "best.json", "best.keep_dtype.cfg"


class Delivery:
    """:param out: the path of the list; None: ``best.json`` in the run folder
    :param base: the mixlist that it extends
    """

    def __init__(
        self, out: str | None, base: str | None, folder: RunFolder, writing: WriteOptions, output: Output
    ) -> None:
        self.out = out
        self.base = base
        self.folder = folder
        self.writing = writing
        self.output = output

    def require_possible(self) -> None:
        """Check before the search that the list can be written.

        :raises UsageFault: if another kind of file exists there, or it belongs to the journal
        :raises Refused: if no file can be written there
        """
        if self.out is None:
            return
        within = os.path.realpath(self.out).startswith(os.path.join(os.path.realpath(self.folder.trials), ""))
        if within or is_same(self.out, self.folder.journal):
            raise is_input("-o", self.out)
        require_writable(self.out)
        if os.path.lexists(self.out):
            require_no_library(Source.read(self.out))

    def mixlist(self, text: str) -> str:
        """Write a mixlist.

        :returns: its path
        :raises Refused: if it cannot be written
        """
        if self.out is None:
            return self._into_run_folder(BEST, text)
        run = WriteRun("bisect", self.output, self.writing, undo=self.out)
        sources = [Source.read(self.base)] if self.base is not None else []
        for file in built(run, self.out, text, sources).files:
            if file.patch:
                backup = "" if file.is_new else f"; backup {file.backup}"
                self.output.tell(f"{'made' if file.is_new else 'wrote'} {self.out}{backup}")
            else:
                self.output.tell(f"{self.out} already contains this list")
        return self.out

    def keep_dtype(self, nodes: list[str]) -> str:
        """Write a keep_dtype file, beside ``out`` if it is given.

        :returns: its path
        :raises UsageFault: if another file exists there
        :raises Refused: if it cannot be written
        """
        text = keep_dtype_text(nodes)
        if self.out is None:
            return self._into_run_folder(KEPT, text)
        path = os.path.splitext(self.out)[0] + ".keep_dtype.cfg"
        if os.path.lexists(path):
            kept = self._into_run_folder(KEPT, text)
            said = f"{path} already exists and was not replaced; the file of this search is {kept}"
            raise UsageFault(said, name="exists")
        write_file(path, text.encode("utf-8"))
        self.output.tell(f"made {path}")
        return path

    def _into_run_folder(self, name: str, text: str) -> str:
        path = os.path.relpath(os.path.join(self.folder.path, name))
        write_file(path, text.encode("utf-8"))
        self.output.tell(f"wrote {path}")
        return path
