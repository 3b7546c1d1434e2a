"""Command lines of packages, and packages that have none."""

from typing import Any

import pytest

from pegboard.features.marketplace.formats.mcp_packages import package_way

NPM = {"registryType": "npm", "identifier": "@a/b", "version": "1.2.3"}


def made(**said: Any) -> Any:
    return package_way({**NPM, **said}, name="package-1", short="b")


@pytest.mark.parametrize(
    ("said", "command"),
    [
        pytest.param({}, "npx -y @a/b@1.2.3", id="npm"),
        pytest.param({"version": None}, "npx -y @a/b", id="npm without a version"),
        pytest.param({"registryType": "pypi", "identifier": "mcp-b"}, "uvx mcp-b@1.2.3", id="pypi"),
        pytest.param(
            {"registryType": "oci", "identifier": "ghcr.io/a/b"},
            "docker run -i --rm ghcr.io/a/b:1.2.3",
            id="an image",
        ),
        pytest.param(
            {"registryType": "oci", "identifier": "a.example:5000/b:2", "version": "1"},
            "docker run -i --rm a.example:5000/b:2",
            id="an image with a tag",
        ),
        pytest.param(
            {
                "registryType": "oci",
                "identifier": "a/b",
                "environmentVariables": [{"name": "UNITS", "value": "m"}],
                "runtimeArguments": [{"type": "named", "name": "--network", "value": "none"}],
            },
            "docker run -i --rm -e UNITS --network=none a/b:1.2.3",
            id="an image with a variable",
        ),
        pytest.param(
            {"registryType": "nuget", "identifier": "A.B"}, "dnx A.B@1.2.3 --yes", id="nuget"
        ),
        pytest.param(
            {
                "registryType": "nuget",
                "identifier": "A.B",
                "packageArguments": [{"type": "positional", "value": "mcp"}],
            },
            "dnx A.B@1.2.3 --yes -- mcp",
            id="nuget with arguments",
        ),
        pytest.param(
            {
                "packageArguments": [
                    {"type": "positional", "valueHint": "folder", "isRequired": True},
                    {"type": "named", "name": "--verbose"},
                    {"type": "named", "name": "--port", "default": "80"},
                    {"type": "named", "name": "--key", "isRequired": True},
                    {"type": "positional", "valueHint": "more"},
                ]
            },
            "npx -y @a/b@1.2.3 ${MARKET_B_FOLDER} --verbose --port=80 --key=${MARKET_B_KEY}",
            id="arguments",
        ),
        pytest.param(
            {"runtimeArguments": [{"type": "positional", "value": "-y"}]},
            "npx -y @a/b@1.2.3",
            id="said twice",
        ),
    ],
)
def test_a_package_is_started_so(said: Any, command: str) -> None:
    way = made(**said)

    assert (way.problem, " ".join(way.command)) == ("", command)
    assert way.config["command"] == way.command[0]
    assert list(way.config["args"]) == list(way.command[1:])
    assert way.runs_here


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        pytest.param({"registryType": "cargo"}, "packages of 'cargo'", id="another registry"),
        pytest.param({"registryType": None}, "packages of ''", id="no registry"),
        pytest.param({"registry_type": "npm"}, "before September 2025", id="an old form"),
        pytest.param({"identifier": "--eval=1"}, "its package has an invalid name", id="an option"),
        pytest.param({"identifier": "a;rm -rf /"}, "its package has an invalid name", id="a shell"),
        pytest.param({"identifier": None}, "its package has an invalid name", id="no name"),
        pytest.param(
            {"version": "1 --x"}, "its package has an invalid version", id="not a version"
        ),
        pytest.param(
            {"version": ["1"]}, "its package has an invalid version", id="no version at all"
        ),
        pytest.param(
            {"transport": {"type": "streamable-http", "url": "http://localhost"}},
            "the transport 'streamable-http'; only stdio is supported",
            id="another transport",
        ),
        pytest.param(
            {"environmentVariables": [{"name": "A=B"}]},
            "one of its variables has an invalid name",
            id="not a variable",
        ),
        pytest.param(
            {"environmentVariables": [7]}, "one of its variables has an invalid name", id="a number"
        ),
        pytest.param(
            {"packageArguments": [{"type": "named", "name": "-a b"}]},
            "one of its arguments has an invalid name",
            id="not an argument",
        ),
        pytest.param(
            {"packageArguments": [{"value": "x"}] * 200}, "more than 100", id="many arguments"
        ),
        pytest.param(
            {"packageArguments": [{"type": "positional", "value": "${HOME}"}]},
            "a value contains '${'",
            id="reads a variable",
        ),
    ],
)
def test_a_package_that_cannot_be_started_says_why(said: Any, problem: str) -> None:
    way = made(**said)

    assert problem in way.problem
    assert (way.command, dict(way.config)) == ((), {})


def test_what_to_know_before_is_told() -> None:
    way = made(
        version="",
        runtimeHint="bunx",
        runtimeArguments=[{"type": "named", "name": "--privileged"}],
        registryBaseUrl="https://packages.example",
    )

    told = " ".join(way.warnings)
    assert "It runs a third-party program" in told
    assert "pins no version" in told
    assert "arguments to 'npx' itself: --privileged" in told
    assert "starts it with 'bunx'" in told
    assert "to come from https://packages.example" in told
