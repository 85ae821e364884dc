"""The Ray cluster selected by the options of `opsinfo bisect`."""

from __future__ import annotations

import os
from typing import NamedTuple

from ...bisect.places.ray_cluster import LOG, RayPlace
from ...bisect.places.ray_options import address_of, require_absolute, resources_of
from ...errors import UsageFault
from .options import RunOptions

_RESOURCES = "NPU=1"


class Cluster(NamedTuple):
    """:param log: a file for Ray's output
    :param keeps: whether the folders of trials are kept on its nodes
    """

    address: str
    resources: dict[str, float]
    log: str
    keeps: bool

    @property
    def place(self) -> RayPlace:
        """:raises MissingPackage: if Ray is not installed"""
        return RayPlace(self.address, self.resources, self.log, self.keeps)


def cluster_of(options: RunOptions, command: tuple[str, ...]) -> Cluster | None:
    """Return the cluster of ``--ray``; None: trials run on this machine.

    :raises UsageFault: if options contradict each other or are invalid, or the command uses local files
    """
    if options.ray is None:
        given = {"--resources": options.resources is not None, "--keep-folders": options.keep_folders}
        for name, is_given in given.items():
            if is_given:
                raise UsageFault(f"{name} requires --ray")
        return None
    for name, value in {"--jobs": options.jobs, "--devices": options.devices}.items():
        if value is not None:
            hint = "--resources sets what a trial takes; as many run as the cluster has room for"
            raise UsageFault(f"{name} cannot be combined with --ray", hint=hint)
    require_absolute(command)
    return Cluster(
        address_of(options.ray),
        resources_of(_RESOURCES if options.resources is None else options.resources),
        os.path.join(os.path.abspath(options.journal), LOG),
        options.keep_folders,
    )
