"""Workers of `labeler generate` that start at once: forked from a process that has them loaded.

Loading one takes seconds, and nearly each test of a run starts one. A worker has the pipes, the
folder, the environment and the session that it would have; nothing else differs.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn


class ForkedWorker:
    """What `subprocess.Popen` gives, of a process that another one forked."""

    def __init__(
        self, server: str, cwd: Path, env: Mapping[str, str], pass_fds: Sequence[int]
    ) -> None:
        (theirs_in, ours_in), (ours_out, theirs_out), (ours_err, theirs_err) = (
            os.pipe() for _ in range(3)
        )
        theirs = [theirs_in, theirs_out, theirs_err]
        self._connection = socket.socket(socket.AF_UNIX)
        self._connection.connect(server)
        socket.send_fds(self._connection, [b"."], [*theirs, *pass_fds])
        order = json.dumps({"cwd": str(cwd), "env": dict(env)})
        self._connection.sendall(f"{order}\n".encode())
        for descriptor in theirs:
            os.close(descriptor)
        self.stdin, self.stdout = os.fdopen(ours_in, "wb"), os.fdopen(ours_out, "rb")
        self.stderr = os.fdopen(ours_err, "rb")
        self.returncode: int | None = None
        self.pid = self._number()

    def poll(self) -> int | None:
        """Tell how it ended, or None while it runs."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(timeout=0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended."""
        if self.returncode is None:
            if not select.select([self._connection], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("worker", timeout or 0.0)
            self.returncode = self._number()
            self._connection.close()
        return self.returncode

    def kill(self) -> None:
        """End it at once."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def _number(self) -> int:
        line = b""
        while not line.endswith(b"\n"):
            one = self._connection.recv(1)
            assert one, "the process that forks workers has died"
            line += one
        return int(line)


def forking(server: str) -> SimpleNamespace:
    """Give what `labeler.synthesis.process` uses of `subprocess`, with workers that are forked."""

    def popen(_: object, *, cwd: Path, env: Mapping[str, str], **more: Any) -> ForkedWorker:
        return ForkedWorker(server, cwd, env, more["pass_fds"])

    return SimpleNamespace(
        Popen=popen, PIPE=subprocess.PIPE, TimeoutExpired=subprocess.TimeoutExpired
    )


@contextmanager
def running_server() -> Iterator[str]:
    """Start the process that forks workers; give the address of its socket."""
    # Short: a socket's path may hold 107 characters.
    folder = Path(tempfile.mkdtemp(prefix="lw"))
    address, root = str(folder / "s"), Path(__file__).resolve().parents[1]
    with subprocess.Popen(
        [sys.executable, "-m", "tests.ready_workers", address],
        cwd=root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield address
        finally:
            process.kill()
            shutil.rmtree(folder)


def serve(address: str) -> None:
    """Fork a worker for each connection."""
    import instructor  # noqa: F401 - loaded before the fork

    from labeler.providers.seam import load_litellm
    from labeler.synthesis import worker  # noqa: F401 - likewise

    load_litellm()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        print("ready", flush=True)
        while True:
            connection, _ = listening.accept()
            _, descriptors, *_ = socket.recv_fds(connection, 1, 8)
            if os.fork() == 0:
                listening.close()
                _keep(connection, descriptors)
            connection.close()
            for descriptor in descriptors:
                os.close(descriptor)


def _keep(connection: socket.socket, descriptors: Sequence[int]) -> NoReturn:
    """Fork the worker, and tell its id and how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with connection.makefile(encoding="utf-8") as lines:
        order = json.loads(lines.readline())
    pid = os.fork()
    if pid == 0:
        connection.close()
        _work(order, descriptors)
    for descriptor in (*descriptors, 1):
        os.close(descriptor)
    connection.sendall(f"{pid}\n".encode())
    _, status = os.waitpid(pid, 0)
    with suppress(BrokenPipeError):
        connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def _work(order: Mapping[str, Any], descriptors: Sequence[int]) -> NoReturn:
    """Be the worker."""
    from labeler.synthesis import worker

    os.setsid()
    for number, descriptor in enumerate(descriptors[:3]):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(order["env"])
    os.chdir(order["cwd"])
    tempfile.tempdir = None
    code = 1
    try:
        code = worker.main()
    except BaseException:  # noqa: BLE001 - as an interpreter ends
        traceback.print_exc()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    serve(sys.argv[1])
