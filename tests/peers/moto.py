"""An S3-compatible service on a free port of this machine, for each run of tests that needs it."""

import atexit
import subprocess
import sys
import urllib.request

_STARTED: list["subprocess.Popen[str]"] = []
REGION = "us-east-1"
_RUNNING = "Running on "


def started_moto() -> str:
    """The address of a service without buckets."""
    server = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", "moto.server", "-p", "0"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    atexit.register(end_moto)
    _STARTED.append(server)
    assert server.stderr is not None
    for line in server.stderr:
        if _RUNNING in line:
            return line.partition(_RUNNING)[2].split()[0]
    raise AssertionError("the service did not start")


def make_bucket(address: str, name: str) -> None:
    """Make an empty bucket; its name has three characters or more."""
    headers = {"Authorization": f"AWS4-HMAC-SHA256 Credential=k/20260101/{REGION}/s3/aws4_request"}
    request = urllib.request.Request(f"{address}/{name}", method="PUT", headers=headers)
    with urllib.request.urlopen(request) as answer:
        assert answer.status == 200


def end_moto() -> None:
    """End each service that this process has started."""
    while _STARTED:
        server = _STARTED.pop()
        server.terminate()
        server.communicate()
