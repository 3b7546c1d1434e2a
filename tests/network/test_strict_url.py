import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.errors import InvalidRequest
from pegboard.network.strict_url import parse_url


@pytest.mark.parametrize(
    ("url", "origin", "path"),
    [
        ("http://a.example", "http://a.example", "/"),
        ("HTTP://A.Example:80/x?y=1#z", "http://a.example", "/x?y=1"),
        ("https://a.example:443/", "https://a.example", "/"),
        ("https://a.example:8443/", "https://a.example:8443", "/"),
        ("http://a.example./x", "http://a.example", "/x"),
        ("http://bücher.example/ü", "http://xn--bcher-kva.example", "/%C3%BC"),
        ("http://[2001:DB8:0::1]:81/", "http://[2001:db8::1]:81", "/"),
        ("http://[::ffff:8.8.8.8]/", "http://[::ffff:808:808]", "/"),
        ("http://8.8.8.8/", "http://8.8.8.8", "/"),
        ("http://127。0。0。1/", "http://127.0.0.1", "/"),
        ("http://a.example/../../etc", "http://a.example", "/etc"),
        ("http://my_host/", "http://my_host", "/"),
    ],
)
def test_a_url_is_normalised_once(url: str, origin: str, path: str) -> None:
    target = parse_url(url)

    assert (target.origin, target.path) == (origin, path)


@pytest.mark.parametrize(
    "url",
    [
        "http://2130706433/",
        "http://0x7f.1/",
        "http://0x7f000001/",
        "http://0X7F.0.0.1/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://0/",
        "http://127.0.0.1./",
        "http://127.0.0.01/",
        "http://1.2.3.4.5/",
        "http://a.example.0x/",
        "http://256.256.256.256/",
        "http://①②⑦.⓪.⓪.①/",
        "http://\uff11\uff12\uff17.0.0.1/",
        "http://%31%32%37.0.0.1/",
        "http://127.0.0.1%00.a.example/",
        "http://a.example%2f@127.0.0.1/",
        "http://[fe80::1%25eth0]/",
        "http://[fe80::1%eth0]/",
        "http://[::1",
        "http://a..example/",
        "http://.a.example/",
        "http://a.example../",
        "http://-a.example/",
        "http://a b.example/",
        "http://a\\b.example/",
        "http://a.example\\@b.example/",
        "http://a.example\t/",
        "http://a.example\r\nX: y/",
        "http://" + "a" * 64 + ".example/",
        "http://" + "a." * 127 + "ab/",
        "http://a.example:0/",
        "http://a.example:65536/",
        "http://a.example:-1/",
        "http://a.example:x/",
        "http:///x",
        "http://",
        "http:a.example",
        "//a.example/",
        "a.example/x",
        "",
        "ftp://a.example/",
        "file:///etc/passwd",
        "gopher://a.example/",
        "unix:///var/run/docker.sock",
        "javascript:alert(1)",
        "http://user@a.example/",
        "http://:pw@a.example/",
        "http://" + "a" * 70_000,
    ],
)
def test_a_disguised_or_malformed_url_is_refused(url: str) -> None:
    with pytest.raises(InvalidRequest):
        parse_url(url)


def test_a_refusal_repeats_neither_user_name_nor_password() -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_url("http://alice:hunter2@a.example:99999/")

    assert "alice" not in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("/b", "https://a.example/b"),
        ("b?c", "https://a.example/x/b?c"),
        ("//b.example/c", "https://b.example/c"),
        ("http://b.example", "http://b.example/"),
        ("?q", "https://a.example/x/y?q"),
    ],
)
def test_a_redirect_is_joined_to_where_it_came_from(location: str, expected: str) -> None:
    assert str(parse_url("https://a.example/x/y").join(location)) == expected


@pytest.mark.parametrize(
    "location", ["file:///etc/passwd", "http://u:p@b.example/", "http://0x7f.1/", "http://[::1"]
)
def test_a_redirect_is_held_to_the_same_rules(location: str) -> None:
    with pytest.raises(InvalidRequest, match="redirects to"):
        parse_url("https://a.example/").join(location)


@given(text=st.text(max_size=60))
def test_any_text_is_a_target_or_an_invalid_request(text: str) -> None:
    try:
        host = parse_url("http://" + text).host
    except InvalidRequest:
        return
    assert host.isascii()
    assert host == host.lower().strip("./@ ")
