"""Keep keys out of settings, which are written to manifests and caches, and out of all that is printed.

What is a key is decided once, by `mask_keys`: a setting is refused where that would change it (`secret_in`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

from harness.errors import ConfigError

SECRET = 16
"""The least length of a key. Shorter ones (none, EMPTY) are placeholders for local servers, and words of replies."""
PASSWORD = 8
"""The least length of a value that counts as a key by its setting's name: `header: 0` does not."""
_FORM = re.compile(
    r"\b(?:sk|pk|rk|xai|nvapi|github_pat|glpat|xox[abeprs])[-_][\w-]{16,}|\b(?:hf|gsk|gh[opsru]|r8|tgp)_[A-Za-z0-9]{16,}"
    r"|\bAIza[\w-]{30,}|\bA[KS]IA[A-Z0-9]{16}\b|(?<![\w-])eyJ[\w-]{8,}\.[\w-]+|\b[Bb]earer\s+\S{8,}|\b[Bb]asic\s+[\w+/]{12,}=*"
)
"""How the keys of the larger providers look."""
_HEX = re.compile(r"(?<![A-Za-z0-9])[0-9a-fA-F]{32}(?![A-Za-z0-9])")
"""How Azure's keys look, and digests that are no secret."""
_LONG_RUN = re.compile(r"(?<![A-Za-z0-9])(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{20,}(?![A-Za-z0-9])")
"""A run of letters and digits that is too long for a name."""
_CREDENTIALS = re.compile(r"://[^/\s@'\"]+@")
"""user:password in an address."""
_PAIR = re.compile(
    r"""(?<![\w.-])(?P<name>[\w.-]++)(?P<between>=|["']?\s*+:\s*+)(?!["']?\[(?:a|the)\ key\])["'\[{(]*+"""
)
"""name=value, 'name': value inside of what was once a mapping, and name: value."""
_FLAG = re.compile(
    r"""(?<![\w-])(?:--?(?=[A-Za-z])|(?:setenv|export|set[ ]+-[a-z]+)[ ]+)(?P<name>[\w.-]++)"""
    r"""(?P<between>["']?(?:\s*+,\s*+|\s++(?:-\s++)?)["']?)(?![-$])"""
)
"""--name value, in one text or in a list; setenv NAME value."""
_VALUE = re.compile(r"""[^\s"',;&}\])=]+""")
"""What stands behind a name. It is looked into as well where the name is that of no key: args=[--api-key=…]."""
_LINE = re.compile(r"^(?P<name>[ \t]*+(?:-[ \t]+)*+[\w.-]++)(?P<between>:[ \t]+)(?P<value>\S.*)$", re.MULTILINE)
"""A line of YAML that is a name and its value."""

_ALWAYS = frozenset(
    {
        "apikey",
        "auth",
        "authkey",
        "authorization",
        "bearer",
        "cookie",
        "cookies",
        "credential",
        "credentials",
        "header",
        "headers",
        "jwt",
        "passcode",
        "passphrase",
        "passwd",
        "password",
        "pwd",
        "secret",
        "secrets",
    }
)
"""Words that make the name of a setting one for a secret wherever they stand in it."""
_NO_KEY = frozenset({"cache", "idempotency", "routing", "sort", "partition", "affinity", "foreign", "primary"})
"""prompt_cache_key and its like: words before `key` that make it something else."""
_NO_TOKEN = frozenset(
    {
        "bos",
        "eos",
        "pad",
        "unk",
        "sep",
        "cls",
        "mask",
        "stop",
        "start",
        "end",
        "begin",
        "first",
        "last",
        "next",
        "new",
        "max",
        "min",
        "prompt",
        "completion",
        "special",
        "reasoning",
        "thinking",
        "think",
        "image",
        "audio",
        "video",
        "forced",
        "decoder",
        "logprob",
        "return",
        "echo",
        "skip",
        "add",
        "ban",
        "bad",
        "allowed",
        "per",
    }
)
"""bos_token and its like: words before `token` that make it a model's."""
_ABOUT = frozenset({"env", "file", "path", "dir", "method", "type", "mode", "scheme", "sock"})
"""Words at the end of a name that say where a secret is, or of what kind."""
_SWITCHES = frozenset({"no", "enable", "disable", "allow", "skip", "without"})
"""Words that begin the name of a switch: --no-auth."""
_OPEN = frozenset({"user", "safety_identifier", "prompt_cache_key", "cache_salt"})
"""Parameters that hold digests by the advice of their providers."""


def secret_name(name: str) -> bool:
    """Test whether a parameter or variable is named like a key: x-api-key, sessionToken, HF_TOKEN."""
    words = [word.lower() for word in re.split(r"[^A-Za-z0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)) if word]
    if not words:
        return False
    *before, last = words
    nearest = before[-1] if before else ""
    if last in _ABOUT or words[0] in _SWITCHES:
        return False
    return (
        not _ALWAYS.isdisjoint(words)
        or last.endswith(("apikey", "password", "passwd", "secret"))
        or (last in ("key", "keys") and nearest not in _NO_KEY)
        or (last == "token" and nearest not in _NO_TOKEN)
    )


def looks_like_key(value: str) -> bool:
    """Test whether a text contains something shaped like a key, a password in a URL, or a key from the environment."""
    plain = value.replace("\\", "")
    return _mask_shapes(plain) != plain


def secret_in(text: str, name: str = "") -> bool:
    """Test whether a text is a key or holds one: by its shape, by the `name` beside it or by a name in the text.

    A value beside a name is no key where it is short (`header: 0`), a path, or refers to a variable of the environment.
    """
    plain = text.replace("\\", "")
    whole = secret_name(name) and text != name and len(text) >= PASSWORD and not _REFERENCE.match(text)
    return whole or _mask_shapes(plain) != plain or any(_secrets_beside_names(plain, PASSWORD))


def mask_keys(text: str) -> str:
    """Mask everything that looks like a key, short values beside a name too: an error may quote a setting."""
    text = _mask_shapes(text)
    pieces, end = [], 0
    for start, after in sorted(_secrets_beside_names(text, 1)):
        if start >= end:
            pieces += [text[end:start], "[a key]"]
            end = after
    return "".join([*pieces, text[end:]])


def mask_keys_in_yaml(text: str) -> str:
    """Return a printed config with all that looks like a key replaced."""
    return mask_keys(_LINE.sub(_mask_line, text))


def _mask_shapes(text: str) -> str:
    for key in _environment():
        text = text.replace(key, "[the key]")
    return _CREDENTIALS.sub("://[a key]@", _FORM.sub("[a key]", text))


def _mask_line(line: re.Match[str]) -> str:
    return f"{line['name']}{line['between']}[a key]" if _is_secret(line, line["value"], 1) else line[0]


def _secrets_beside_names(text: str, least: int) -> Iterator[tuple[int, int]]:
    """Yield where values stand that are keys by the names before them, of `least` characters and more."""
    for pattern in (_PAIR, _FLAG):
        at = 0
        while pair := pattern.search(text, at):
            at = pair.end()
            if secret_name(pair["name"].rpartition(".")[2]) and (value := _VALUE.match(text, at)):
                if secret := _is_secret(pair, value[0], least):
                    yield value.span()
                if secret or _REFERENCE.match(value[0]):
                    at = value.end()


def _is_secret(pair: re.Match[str], value: str, least: int) -> bool:
    name = pair["name"].rpartition(".")[2]
    if not secret_name(name) or len(value) < least or value in _PLACEHOLDERS or _REFERENCE.match(value):
        return False
    if pair.re is _FLAG or (pair.re is _PAIR and pair["between"].startswith((":", " "))):  # may be words of a sentence
        return _LIKE_A_KEY.fullmatch(value) is not None
    code = pair["between"] == "=" and pair.string[pair.start() - 1 : pair.start()] not in ("?", "&")
    # key=value, and key=len in a traceback
    return not (code and name == "key" and re.fullmatch(r"[A-Za-z_.(]+", value))


_PLACEHOLDERS = ("…", "...", "VALUE", "value1")
"""Placeholders for a value in our own sentences, and in Hydra's: key=[value1,value2]."""
_REFERENCE = re.compile(r"[$`<]|~?/|\.{1,2}/|[A-Z]:\\")
"""How the name of a variable, a command or a path begins, which stands for a key and is none."""
_IS_FLAG = re.compile(r"--?[A-Za-z][\w-]*")
_LIKE_A_KEY = re.compile(r"(?=\S*\d)(?=\S*[A-Za-z])\S{8,}|\S{16,}")


def refuse(settings: Mapping[str, Any], key: str, key_env: str) -> None:
    """Raise ConfigError for settings that hold a key. The sentence names the setting and does not show its value."""
    for where, name, value in _strings(settings, "model"):
        inside = where.startswith("model.extra.")
        if (
            (len(key) >= SECRET and key in value)
            or secret_in(value)
            or secret_name(name)
            or (inside and name not in _OPEN and _HEX.search(value))
            or (where == "model.base_url" and _in_path(value))
        ):
            raise refusal(where, key_env)


def refuse_config(config: Mapping[str, Any]) -> None:
    """Raise ConfigError for a composed config that holds a key.

    In a part of the user's own too: manifests hold it.
    """
    for where, name, value in _strings(config, "", inside=True):
        if secret_in(value, name):
            raise refusal(where.lstrip("."), "")


def refuse_arguments(arguments: Sequence[str]) -> None:
    """Raise ConfigError for a command line that holds a key.

    A sweep writes it down before it looks at a setting.
    """
    for argument in arguments:
        name, equals, value = argument.lstrip("+~").partition("=")
        if not equals:
            name, value = "an argument", name
        setting = name.rpartition(".")[2] if equals else ""
        inside = ".extra" in name
        pairs = [pair for pair in _INNER.finditer(value) if secret_name(pair["name"])] if "extra" in name else []
        addresses = re.split(r"[,\s\[\]'\"]", value) if setting == "base_url" else []
        if (
            secret_in(argument)
            or (secret_name(setting) and value.lower() not in _NOTHING and (inside or len(value) >= PASSWORD))
            or pairs
            or (inside and setting not in _OPEN and _HEX.search(value))
            or any(map(_in_path, addresses))
        ):
            raise refusal(name, "")


_INNER = re.compile(r"""(?P<name>[\w-]+)["']?\s*:(?!\s*(?:null|true|false)\b)""")
"""The names inside of {name: value}."""
_NOTHING = ("", "null", "true", "false")


def refusal(where: str, key_env: str) -> ConfigError:
    """Return the error that says of a setting that it looks like a key."""
    name = where
    if mask_keys(where) != where:
        above = where.rpartition(".")[0]
        name = f"{above}.…" if above and mask_keys(above) == above else "a name"
    variable = key_env if key_env and not looks_like_key(key_env) else "OPENAI_API_KEY"
    return ConfigError(
        f"{name} looks like a key, and settings are written to manifests and to the cache: put the key into the "
        f"environment variable {variable} (or another one that model.api_key_env names), from where it goes to the "
        "server and nowhere else."
    )


def _in_path(address: str) -> bool:
    """Test whether the path of an address has a part that looks like a key, or stands behind a name for one."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    if (parts.hostname or "").endswith("cloudflare.com"):  # has the account's number there, which is no secret
        return False
    path = [part for part in parts.path.split("/") if part]
    return any(_HEX.search(part) or _LONG_RUN.search(part) for part in path) or any(
        secret_name(name) and len(part) >= 8 for name, part in pairwise(path)
    )


def in_environment() -> dict[str, str]:
    """Return the environment variables that are named like keys, by name."""
    return {name: content for name, content in os.environ.items() if _secret_variable(name)}


_secret_variable = lru_cache(1024)(secret_name)  # names of variables are few, and asked for with every text


def _environment() -> list[str]:
    """Return the keys in the environment; paths to files with keys are none."""
    values = (content.strip() for content in in_environment().values())
    return [value for value in values if len(value) >= SECRET and not value.startswith(("/", "~", "."))]


def _strings(value: Any, where: str, name: str = "", *, inside: bool = False) -> Iterator[tuple[str, str, str]]:
    """Yield every string below a setting: its place, the name beside it (only inside of model.extra), itself."""
    if isinstance(value, Mapping):
        for key, below in value.items():
            switch = below is None or isinstance(below, bool)  # return_token: true holds no key
            yield from _strings(below, f"{where}.{key}", str(key) if inside else "", inside=inside or key == "extra")
            if inside:
                yield f"{where}.{key}", "" if switch else str(key), str(key)
    elif isinstance(value, list | tuple):
        for before, below in pairwise((None, *value)):
            # [--api-key, KEY]: the word before is its name.
            flag = isinstance(before, str) and _IS_FLAG.fullmatch(before) and not str(below).startswith("-")
            beside = str(before) if flag else name
            yield from _strings(below, where, beside, inside=inside)
    elif isinstance(value, str):
        yield where, name, value
