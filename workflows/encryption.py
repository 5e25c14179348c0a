"""Encryption of payloads, so that Temporal stores them without being able to read them.

Each payload is encrypted with AES-256-GCM before it leaves the process, with the first of several
keys, whose id it carries. Any of the keys can decrypt, so keys can be rotated while runs continue.
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
"""Variable that names the file with the keys."""
ENCODING: Final = b"binary/encrypted"
ENCODED_FAILURE: Final = "Encoded failure"
"""Message that the SDK shows for an error whose text is encrypted."""
_KEY_ID: Final = "encryption-key-id"
_CIPHER: Final = "encryption-cipher"
_AES_256_GCM: Final = b"AES-256-GCM"
_KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 12
_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,63}")


class EncryptedError(Exception):
    """A payload cannot be read with the available keys; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Keys:
    """Keys by id; the first one encrypts."""

    by_id: Mapping[str, bytes] = field(repr=False)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a file with a line `ID: BASE64` for each key; `#` starts a comment.

        Raises UnusableSettingsError; the message never shows a key.
        """
        try:
            lines = path.read_text(encoding="ascii").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it must be ASCII text"
            raise UnusableSettingsError(f"{VARIABLE} is '{path}': {reason}") from error
        found: dict[str, bytes] = {}
        for number, line in enumerate(lines, start=1):
            text = line.partition("#")[0].strip()
            if text:
                _take(text, found, where=f"{VARIABLE} is '{path}': line {number}")
        if not found:
            raise UnusableSettingsError(
                f"{VARIABLE} is '{path}': it contains no key; write a line `ID: BASE64` for each"
            )
        return cls(found)


def _take(text: str, found: dict[str, bytes], *, where: str) -> None:
    name, colon, encoded = (part.strip() for part in text.partition(":"))
    if not (colon and _ID.fullmatch(name)):
        raise UnusableSettingsError(f"{where} must be `ID: BASE64`, with an id such as 2026-11")
    try:
        key = base64.b64decode(encoded, validate=True)
    except binascii.Error as error:
        raise UnusableSettingsError(f"{where}: the key {name} is not valid base64") from error
    if len(key) != _KEY_BYTES:
        raise UnusableSettingsError(
            f"{where}: the key {name} has {len(key)} bytes, but AES-256 needs {_KEY_BYTES}; "
            f"generate one with `openssl rand -base64 {_KEY_BYTES}`"
        )
    if name in found:
        raise UnusableSettingsError(f"{where}: the key {name} is already defined")
    if key in found.values():
        other = next(each for each, known in found.items() if known == key)
        raise UnusableSettingsError(f"{where}: the key {name} is the same as {other}")
    found[name] = key


class PayloadCipher(PayloadCodec):
    """Encrypts what goes to Temporal, and decrypts what comes from it."""

    def __init__(self, keys: Keys) -> None:
        self.use(keys)

    def use(self, keys: Keys) -> None:
        """From now on, encrypt with the first of these keys and decrypt with any of them."""
        self._ciphers = {name: AESGCM(key) for name, key in keys.by_id.items()}
        self._current = next(iter(self._ciphers))

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Encrypt each, with a nonce of its own."""
        return [self._encrypted(each) for each in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Decrypt those that are encrypted; the others were written before keys were configured.

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
                f"the key {name.decode()} in {VARIABLE} is not the one that encrypted this payload"
            ) from error


class _Patient(PayloadCipher):
    """A cipher that passes on what it cannot decrypt.

    The SDK decrypts all payloads of a workflow task together: one message encrypted with an unknown
    key would fail every attempt at the task, and the run would be stuck. Passed on, the message is
    dropped or refused like any other that cannot be read.
    """

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Decrypt those whose keys are known."""
        return [await self._tried(each) for each in payloads]

    async def _tried(self, payload: Payload) -> Payload:
        try:
            (decrypted,) = await super().decode([payload])
        except EncryptedError:
            return payload
        return decrypted


def is_encrypted(payload: Payload) -> bool:
    """Return whether a payload has to be decrypted before it can be read."""
    return payload.metadata.get("encoding") == ENCODING


def what_is_needed(payload: Payload) -> str:
    """Return which key is needed to read an encrypted payload, and where to put it."""
    name = payload.metadata[_KEY_ID].decode(errors="replace")
    return f"this is encrypted with the key {name}: {VARIABLE} must name a file with that key"


class _Unreadable(EncodingPayloadConverter):
    """A converter that refuses payloads that are still encrypted, naming the missing key."""

    @property
    def encoding(self) -> str:
        return ENCODING.decode()

    def to_payload(self, value: object) -> Payload | None:
        return None

    def from_payload(self, payload: Payload, type_hint: type | None = None) -> NoReturn:
        raise EncryptedError(what_is_needed(payload))


class _PayloadConverter(PydanticPayloadConverter):
    """Pydantic's converter, with a clear error for payloads that are still encrypted."""

    def __init__(self) -> None:
        super().__init__()
        unreadable = _Unreadable()
        self.converters = {**self.converters, ENCODING: unreadable}


def data_converter(keys: Keys | None) -> DataConverter:
    """Return the converter of values to payloads; keys encrypt payloads and error messages."""
    if keys is None:
        return DataConverter(payload_converter_class=_PayloadConverter)
    return DataConverter(
        payload_converter_class=_PayloadConverter,
        payload_codec=_Patient(keys),
        failure_converter_class=DefaultFailureConverterWithEncodedAttributes,
    )


def keys_of(environ: Mapping[str, str]) -> Keys | None:
    """Return the keys from the file that the variable names; None if the variable is not set.

    Raises UnusableSettingsError.
    """
    named = environ.get(VARIABLE)
    return Keys.read(Path(named)) if named else None
