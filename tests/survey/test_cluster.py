"""A real Dask cluster on this machine: several workers, one of which is killed."""

from __future__ import annotations

import os
import signal

import pytest

from chatlint.config import Settings
from chatlint.errors import UsageError
from chatlint.results import code_digest
from chatlint.source.bundled import corpus_names
from chatlint.survey.crew import open_crew
from chatlint.survey.run import run_survey
from chatlint.survey.targets import Named

from .conftest import lines_of

distributed = pytest.importorskip("distributed", reason="needs the extra `cluster`")
dask = pytest.importorskip("dask")

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def fresh_digest():
    """Code may change between the start of a test run and that of its workers."""
    code_digest.cache_clear()


TARGETS = [Named(f"corpus:{name}", name) for name in corpus_names()[::5]]

DEADLY = """
import os
from chatlint.pipeline import read_target as real
from chatlint.survey import work
def deadly(target, settings, say):
    if target == "corpus:llama-3":
        os._exit(9)
    return real(target, settings, say)
work.read_target = deadly
"""


def start(**options):
    quiet = {"distributed.logging": {"distributed": "critical"}, "distributed.scheduler.allowed-failures": 1}
    dask.config.set(quiet)
    return distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, dashboard_address=None, host="127.0.0.1", **options
    )


def url(cluster):
    return cluster.scheduler_address.replace("tcp://", "dask://")


def statuses(lines):
    assert len({line["target"] for line in lines}) == len(lines)
    return {line["target"]: line["status"] for line in lines}


def test_a_worker_is_killed_and_nothing_is_lost(tmp_path):
    with start() as cluster:
        with distributed.Client(cluster) as client:
            workers = list(client.run(os.getpid).values())
        assert len(workers) == 3
        done = []

        def kill_one(name, before):
            done.append(name)
            if len(done) == 3:
                os.kill(workers[0], signal.SIGKILL)

        path = run_survey(TARGETS, tmp_path / "dask", Settings(), open_crew(url(cluster)), step=kill_one)
    assert statuses(lines_of(path)) == {named.name: "checked" for named in TARGETS}
    alone = run_survey(TARGETS, tmp_path / "alone", Settings(), open_crew("", 1))
    keys = [
        {line["target"]: [one["key"] for one in line["templates"]] for line in lines_of(place)}
        for place in (path, alone)
    ]
    assert keys[0] == keys[1]


def test_what_kills_every_worker_is_given_up(tmp_path):
    preload = tmp_path / "deadly.py"
    preload.write_text(DEADLY)
    targets = [*TARGETS[:4], Named("corpus:llama-3", "deadly")]
    with start(preload=[str(preload)]) as cluster:
        path = run_survey(targets, tmp_path / "dask", Settings(), open_crew(url(cluster)))
    found = {line["target"]: line for line in lines_of(path)}
    assert found["deadly"]["status"] == "failed"
    assert found["deadly"]["failure"]["message"] == "the process that judged this target died"
    assert [found[named.name]["status"] for named in TARGETS[:4]] == ["checked"] * 4


def test_error_where_no_cluster_answers(monkeypatch):
    monkeypatch.setattr("chatlint.survey.cluster._SECONDS", 0.2)
    with pytest.raises(UsageError, match="is no cluster"):
        open_crew("tcp://127.0.0.1:1")
    with pytest.raises(UsageError, match="does not answer"):
        open_crew("dask://127.0.0.1:1")


def test_error_for_workers_with_another_chatlint(monkeypatch):
    with start() as cluster:
        monkeypatch.setattr("chatlint.survey.cluster.own_digest", lambda: "other")
        with pytest.raises(UsageError, match="have another chatlint"):
            open_crew(url(cluster))
