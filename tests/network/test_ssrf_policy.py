from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.errors import ConfigError
from pegboard.network import SsrfPolicy
from pegboard.network.addresses import classify


@given(address=st.ip_addresses(), host=st.sampled_from(["a.example", "127.0.0.1"]))
def test_without_allowances_exactly_public_addresses_pass(address, host) -> None:
    assert SsrfPolicy().refusal(host, 80, address) == classify(address)


@pytest.mark.parametrize(
    ("pattern", "host", "port", "passes"),
    [
        ("intra.example", "intra.example", 80, True),
        ("Intra.Example.", "intra.example", 80, True),
        ("intra.example", "x.intra.example", 80, False),
        ("intra.example", "evilintra.example", 80, False),
        ("*.intra.example", "x.intra.example", 80, True),
        ("*.intra.example", "x.y.intra.example", 80, True),
        ("*.intra.example", "intra.example", 80, False),
        ("*.intra.example", "evilintra.example", 80, False),
        ("intra.example:8080", "intra.example", 8080, True),
        ("intra.example:8080", "intra.example", 80, False),
        ("10.0.0.1:8080", "10.0.0.1", 8080, True),
        ("10.0.0.1", "10.0.0.2", 80, False),
        ("[::1]:8080", "::1", 8080, True),
        ("[::1]:8080", "::1", 80, False),
        ("::1", "::1", 80, True),
        ("0:0:0:0:0:0:0:1", "::1", 80, True),
        ("bücher.example", "xn--bcher-kva.example", 80, True),
        ("*", "anything.example", 1, True),
        ("*:443", "anything.example", 443, True),
        ("*:443", "anything.example", 80, False),
    ],
)
def test_a_host_pattern_allows_what_it_names(pattern, host, port, passes) -> None:
    policy = SsrfPolicy(allow_hosts=[pattern])

    assert (policy.refusal(host, port, ip_address("10.0.0.1")) == "") is passes


@pytest.mark.parametrize(
    ("network", "address", "passes"),
    [
        ("10.2.0.0/16", "10.2.3.4", True),
        ("10.2.0.0/16", "10.3.3.4", False),
        ("10.2.0.0/16", "::ffff:10.2.3.4", True),
        ("10.2.0.0/16", "64:ff9b::10.2.3.4", True),
        ("10.2.0.0/16", "::ffff:10.3.3.4", False),
        ("10.2.3.4", "10.2.3.4", True),
        ("fd12::/16", "fd12::1", True),
        ("fd12::/16", "fd13::1", False),
        ("8.8.8.0/24", "fe80::5efe:8.8.8.8", False),
        ("10.0.0.0/8", "fe80::5efe:10.0.0.1", False),
    ],
)
def test_a_network_allows_its_addresses_in_every_form(network, address, passes) -> None:
    policy = SsrfPolicy(allow_networks=[network])

    assert (policy.refusal("a.example", 80, ip_address(address)) == "") is passes


@pytest.mark.parametrize("address", ["169.254.169.254", "::ffff:169.254.169.254", "fd00:ec2::254"])
def test_an_allowed_host_does_not_lead_to_cloud_metadata(address: str) -> None:
    policy = SsrfPolicy(allow_hosts=["*"])

    assert policy.refusal("a.example", 80, ip_address(address)) == "cloud metadata"


def test_cloud_metadata_is_reached_where_its_network_is_allowed() -> None:
    policy = SsrfPolicy(allow_networks=["169.254.169.254/32"])

    assert policy.refusal("a.example", 80, ip_address("169.254.169.254")) == ""


@pytest.mark.parametrize("network", ["10.0.0.0/33", "intra.example", "", "10.0.0"])
def test_a_malformed_network_is_a_config_error_that_shows_how(network: str) -> None:
    with pytest.raises(ConfigError, match="write one as"):
        SsrfPolicy(allow_networks=[network])


@pytest.mark.parametrize(
    "host", ["", "http://a.example", "a.example/x", "a b", "a.example:0", "a.example:http", "*."]
)
def test_a_malformed_host_is_a_config_error_that_shows_how(host: str) -> None:
    with pytest.raises(ConfigError, match="no scheme"):
        SsrfPolicy(allow_hosts=[host])


def test_policies_compare_by_what_they_allow() -> None:
    assert SsrfPolicy(allow_hosts=["a.example"]) == SsrfPolicy(allow_hosts=("a.example",))
