"""Payloads that Temporal keeps without being able to read them.

Each is encrypted with AES-256-GCM before it leaves the process, with the first of several keys,
and says by which. To read, any of the keys will do, so that keys can be changed while runs go on.
"""

import base64
import binascii
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NoReturn, Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from temporalio.api.common.v1 import Payload
from temporalio.contrib.pydantic import PydanticPayloadConverter
from temporalio.converter import (
    DataConverter,
    DefaultFailureConverterWithEncodedAttributes,
    EncodingPayloadConverter,
    PayloadCodec,
)

from workflows.connecting import UnusableSettingsError

VARIABLE: Final = "FLEETGATE_PAYLOAD_KEYS"
"""Names the file with the keys."""
ENCODING: Final = b"binary/encrypted"
ENCODED_FAILURE: Final = "Encoded failure"
"""What the SDK shows of an error whose words it cannot read."""
_KEY_ID: Final = "encryption-key-id"
_CIPHER: Final = "encryption-cipher"
_AES_256_GCM: Final = b"AES-256-GCM"
_KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 12
_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,63}")


class EncryptedError(Exception):
    """A payload cannot be read with the keys at hand; the text says what is missing."""


@dataclass(frozen=True, slots=True)
class Keys:
    """Keys by their ids; the first is the one to write with."""

    by_id: Mapping[str, bytes] = field(repr=False)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a file with a line `ID: BASE64` for each key; `#` begins a comment.

        Raises UnusableSettingsError; the text never shows a key.
        """
        try:
            lines = path.read_text(encoding="ascii").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it has to be text"
            raise UnusableSettingsError(f"{VARIABLE} is '{path}': {reason}") from error
        found: dict[str, bytes] = {}
        for number, line in enumerate(lines, start=1):
            text = line.partition("#")[0].strip()
            if text:
                _take(text, found, where=f"{VARIABLE} is '{path}': line {number}")
        if not found:
            raise UnusableSettingsError(
                f"{VARIABLE} is '{path}': it has no key; write a line `ID: BASE64` for each"
            )
        return cls(found)


def _take(text: str, found: dict[str, bytes], *, where: str) -> None:
    name, colon, encoded = (part.strip() for part in text.partition(":"))
    if not (colon and _ID.fullmatch(name)):
        raise UnusableSettingsError(f"{where} has to be `ID: BASE64`, with an id such as 2026-11")
    try:
        key = base64.b64decode(encoded, validate=True)
    except binascii.Error as error:
        raise UnusableSettingsError(f"{where}: the key {name} is not in base64") from error
    if len(key) != _KEY_BYTES:
        raise UnusableSettingsError(
            f"{where}: the key {name} has {len(key)} bytes, but AES-256 needs {_KEY_BYTES}; make "
            f"one with `openssl rand -base64 {_KEY_BYTES}`"
        )
    if name in found:
        raise UnusableSettingsError(f"{where}: there is a key {name} already")
    if key in found.values():
        other = next(each for each, known in found.items() if known == key)
        raise UnusableSettingsError(f"{where}: the key {name} is the same as {other}")
    found[name] = key


class PayloadCipher(PayloadCodec):
    """Encrypts what goes to Temporal, and decrypts what comes from it."""

    def __init__(self, keys: Keys) -> None:
        self.use(keys)

    def use(self, keys: Keys) -> None:
        """Encrypt with the first of these from now on, and decrypt with any of them."""
        self._ciphers = {name: AESGCM(key) for name, key in keys.by_id.items()}
        self._current = next(iter(self._ciphers))

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Encrypt each, with a nonce of its own."""
        return [self._encrypted(each) for each in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Decrypt those that are encrypted: others were written before there was a key.

        Raises EncryptedError.
        """
        return [self._decrypted(each) if is_encrypted(each) else each for each in payloads]

    def _encrypted(self, payload: Payload) -> Payload:
        name = self._current.encode()
        nonce = os.urandom(_NONCE_BYTES)
        sealed = self._ciphers[self._current].encrypt(nonce, payload.SerializeToString(), name)
        metadata = {"encoding": ENCODING, _KEY_ID: name, _CIPHER: _AES_256_GCM}
        return Payload(metadata=metadata, data=nonce + sealed)

    def _decrypted(self, payload: Payload) -> Payload:
        name = payload.metadata[_KEY_ID]
        cipher = self._ciphers.get(name.decode(errors="replace"))
        if cipher is None:
            raise EncryptedError(what_is_needed(payload))
        nonce, sealed = payload.data[:_NONCE_BYTES], payload.data[_NONCE_BYTES:]
        try:
            return Payload.FromString(cipher.decrypt(nonce, sealed, name))
        except (InvalidTag, ValueError) as error:
            raise EncryptedError(
                f"the key {name.decode()} of {VARIABLE} is not the one that this was encrypted with"
            ) from error


class _Patient(PayloadCipher):
    """Leaves what it cannot decrypt for whoever wants to read it.

    The SDK decrypts all that a step of a workflow gets together: one message with a key that is
    not known would fail each try of that step, and the run stood still. Left alone, the message is
    dropped or refused like any other that cannot be read.
    """

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Decrypt those that it has the keys for."""
        return [await self._tried(each) for each in payloads]

    async def _tried(self, payload: Payload) -> Payload:
        try:
            (decrypted,) = await super().decode([payload])
        except EncryptedError:
            return payload
        return decrypted


def is_encrypted(payload: Payload) -> bool:
    """Whether a payload has to be decrypted before it can be read."""
    return payload.metadata.get("encoding") == ENCODING


def what_is_needed(payload: Payload) -> str:
    """What somebody has to have who wants to read an encrypted payload."""
    name = payload.metadata[_KEY_ID].decode(errors="replace")
    return f"this is encrypted with the key {name}: {VARIABLE} has to name a file with that key"


class _Unreadable(EncodingPayloadConverter):
    """Says what is missing to read a payload that is still encrypted."""

    @property
    def encoding(self) -> str:
        return ENCODING.decode()

    def to_payload(self, value: object) -> Payload | None:
        return None

    def from_payload(self, payload: Payload, type_hint: type | None = None) -> NoReturn:
        raise EncryptedError(what_is_needed(payload))


class _PayloadConverter(PydanticPayloadConverter):
    """Pydantic's, which knows of encrypted payloads that it cannot read them."""

    def __init__(self) -> None:
        super().__init__()
        unreadable = _Unreadable()
        self.converters = {**self.converters, ENCODING: unreadable}


def data_converter(keys: Keys | None) -> DataConverter:
    """How fleetgate's values become payloads; with keys, encrypted ones, and errors too."""
    if keys is None:
        return DataConverter(payload_converter_class=_PayloadConverter)
    return DataConverter(
        payload_converter_class=_PayloadConverter,
        payload_codec=_Patient(keys),
        failure_converter_class=DefaultFailureConverterWithEncodedAttributes,
    )


def keys_of(environ: Mapping[str, str]) -> Keys | None:
    """The keys of the file that the variable names; None without one.

    Raises UnusableSettingsError.
    """
    named = environ.get(VARIABLE)
    return Keys.read(Path(named)) if named else None
