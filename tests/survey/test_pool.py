"""Processes of a survey, and interrupts that come while they are started."""

from __future__ import annotations

import subprocess
import sys

WHILE_STARTING = """
import os, signal, sys, threading
from chatlint.survey.pool import Pool

start = threading.Thread.start

def interrupted(thread):
    os.kill(os.getpid(), signal.SIGINT)
    start(thread)

signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Thread.start = interrupted
pool = Pool(2)
try:
    pool.submit(abs, -1)
except KeyboardInterrupt:
    threading.Thread.start = start
    pool.shutdown(wait=False)
    sys.exit(130)
"""

WHILE_WAITING = """
import os, signal, sys, threading, time
from chatlint.survey.pool import Pool

signal.signal(signal.SIGINT, signal.default_int_handler)
pool = Pool(2)
for _ in range(20):
    pool.submit(time.sleep, 60)
try:
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    pool.shutdown()
except KeyboardInterrupt:
    sys.exit(130)
"""


def ran(program):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30)


def test_an_interrupt_waits_until_processes_are_started():
    done = ran(WHILE_STARTING)
    assert (done.returncode, done.stderr) == (130, "")


def test_an_interrupt_ends_what_is_waited_for():
    done = ran(WHILE_WAITING)
    assert (done.returncode, done.stderr) == (130, "")
