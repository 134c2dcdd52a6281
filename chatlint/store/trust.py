"""Whom a file belongs to. Code is unmarshalled from the store, so a file that somebody else could have
written is somebody else's code."""

from __future__ import annotations

import os
import stat


def foreign(status: os.stat_result) -> str:
    """Why a file or directory with this status is not only ours; "" if it is.

    Where the system has no user ids (Windows) the directory of the user's profile is trusted.
    """
    user = getattr(os, "geteuid", None)
    if user is None:
        return ""
    if status.st_uid != user():
        return "it belongs to another user"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "other users can write to it"
    return ""
