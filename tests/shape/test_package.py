import shutil
import zipfile
from importlib.resources import files
from pathlib import Path

from hatchling.builders.wheel import WheelBuilder
from tests.shape import tree

CONSOLE = "pegboard/servers/http/console/"


def test_type_checkers_read_the_types_of_the_package() -> None:
    assert files("pegboard").joinpath("py.typed").is_file()


def test_a_wheel_contains_the_console_if_it_is_built(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(tree.ROOT / name, tmp_path)
    package = tmp_path / "src" / "pegboard"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()

    def build() -> set[str]:
        (wheel,) = WheelBuilder(str(tmp_path)).build(directory=str(tmp_path / "made"))
        with zipfile.ZipFile(wheel) as opened:
            return {name for name in opened.namelist() if name.startswith(CONSOLE)}

    without = build()
    (tmp_path / "web" / "dist" / "assets").mkdir(parents=True)
    (tmp_path / "web" / "dist" / "index.html").touch()
    (tmp_path / "web" / "dist" / "assets" / "index-1.js").touch()

    assert without == set()
    assert build() == {f"{CONSOLE}index.html", f"{CONSOLE}assets/index-1.js"}
