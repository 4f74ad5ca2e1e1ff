import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from labeler.errors import OutputError
from labeler.formats.atomic import replacing


def test_the_file_is_there_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    path = folder / "out"
    with replacing(path) as file:
        file.write(b"one")
        assert not path.exists()
    assert path.read_bytes() == b"one"
    with pytest.raises(KeyboardInterrupt):
        _write_and_stop(path)
    assert path.read_bytes() == b"one"
    assert list(folder.iterdir()) == [path]


def _write_and_stop(path: Path) -> None:
    with replacing(path) as file:
        file.write(b"two")
        raise KeyboardInterrupt


def test_modes_and_links_are_kept(tmp_path: Path) -> None:
    path, link = tmp_path / "out", tmp_path / "link"
    before = os.umask(0o027)
    try:
        with replacing(path) as file:
            file.write(b"one")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o640
    path.chmod(0o600)
    link.symlink_to(path)
    with replacing(link) as file:
        file.write(b"two")
    assert link.is_symlink()
    assert path.read_bytes() == b"two"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_device_is_written_to_and_stays(tmp_path: Path) -> None:
    with replacing(Path(os.devnull)) as file:
        file.write(b"x")
    assert not Path(os.devnull).is_file()


def test_a_pipe_that_stands_for_the_output_is_written_to() -> None:
    code = (
        "from pathlib import Path; from labeler.formats.atomic import replacing\n"
        "with replacing(Path('/dev/stdout')) as file: file.write(b'rows')"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert ended.stdout == b"rows"


def test_what_cant_be_written_is_told_and_leaves_nothing_behind(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(OutputError, match="there is no folder"), replacing(folder / "none" / "out"):
        pass
    with pytest.raises(OutputError, match="Is a directory"), replacing(folder):
        pass
    with pytest.raises(OutputError, match="No space left"), replacing(folder / "out"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert list(folder.iterdir()) == []


def test_a_reader_that_goes_away_is_no_fault_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(BrokenPipeError), replacing(tmp_path / "out"):
        raise BrokenPipeError
