import os
from pathlib import Path

import pytest

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


def test_a_missing_folder_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), replacing(tmp_path / "none" / "out"):
        pass
