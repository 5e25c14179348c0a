"""Payloads that can be read only with a key."""

import base64
import os
from collections.abc import Iterable
from pathlib import Path

import pytest
from temporalio.api.common.v1 import Payload

from workflows.connecting import UnusableSettingsError
from workflows.encryption import EncryptedError, Keys, PayloadCipher, data_converter, is_encrypted

PLAIN = Payload(metadata={"encoding": b"json/plain"}, data=b'"cluster-7"')


def new_key() -> str:
    return base64.b64encode(os.urandom(32)).decode()


def written(folder: Path, *lines: str) -> Path:
    file = folder / "keys"
    file.write_text("".join(f"{line}\n" for line in lines))
    return file


def cipher(folder: Path, lines: Iterable[str]) -> PayloadCipher:
    return PayloadCipher(Keys.read(written(folder, *lines)))


async def test_an_encrypted_payload_can_be_decrypted(tmp_path: Path) -> None:
    codec = cipher(tmp_path, [f"one: {new_key()}"])
    (sealed,) = await codec.encode([PLAIN])
    assert is_encrypted(sealed)
    assert b"cluster-7" not in sealed.SerializeToString()
    assert await codec.decode([sealed]) == [PLAIN]


async def test_the_same_payload_is_encrypted_differently_each_time(tmp_path: Path) -> None:
    codec = cipher(tmp_path, [f"one: {new_key()}"])
    first, second = await codec.encode([PLAIN, PLAIN])
    assert first.data != second.data


async def test_payloads_written_before_encryption_was_set_up_stay_readable(tmp_path: Path) -> None:
    codec = cipher(tmp_path, [f"one: {new_key()}"])
    assert await codec.decode([PLAIN]) == [PLAIN]


async def test_keys_are_rotated_in_three_steps_while_every_process_can_read(tmp_path: Path) -> None:
    """Add the new key for decryption everywhere, then encrypt with it, then remove the old one."""
    old, new = f"old: {new_key()}", f"new: {new_key()}"
    steps = [cipher(tmp_path, keys) for keys in ([old], [old, new], [new, old], [new])]
    for writer, reader in [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)]:
        sealed = await steps[writer].encode([PLAIN])
        assert await steps[reader].decode(sealed) == [PLAIN]


async def test_a_missing_key_is_named(tmp_path: Path) -> None:
    sealed = await cipher(tmp_path, [f"old: {new_key()}"]).encode([PLAIN])
    told = "encrypted with the key old: FLEETGATE_PAYLOAD_KEYS must name a file with that key"
    with pytest.raises(EncryptedError, match=told):
        await cipher(tmp_path, [f"new: {new_key()}"]).decode(sealed)
    with pytest.raises(EncryptedError, match=told):
        data_converter(None).payload_converter.from_payloads(sealed)


async def test_an_unreadable_message_does_not_block_the_others(tmp_path: Path) -> None:
    """A workflow task gets all its messages together, and would fail because of one."""
    (foreign,) = await cipher(tmp_path, [f"other: {new_key()}"]).encode([PLAIN])
    converter = data_converter(Keys.read(written(tmp_path, f"own: {new_key()}")))
    codec = converter.payload_codec
    assert codec is not None
    assert await codec.decode([*await codec.encode([PLAIN]), foreign]) == [PLAIN, foreign]
    with pytest.raises(EncryptedError, match="encrypted with the key other"):
        await converter.decode([foreign])


async def test_a_different_key_with_the_same_id_is_detected(tmp_path: Path) -> None:
    sealed = await cipher(tmp_path, [f"one: {new_key()}"]).encode([PLAIN])
    with pytest.raises(EncryptedError, match="the key one in FLEETGATE_PAYLOAD_KEYS is not the"):
        await cipher(tmp_path, [f"one: {new_key()}"]).decode(sealed)


async def test_an_encrypted_payload_that_was_tampered_with_is_refused(tmp_path: Path) -> None:
    codec = cipher(tmp_path, [f"one: {new_key()}", f"two: {new_key()}"])
    (sealed,) = await codec.encode([PLAIN])
    for place in (0, 12, len(sealed.data) - 1):
        changed = bytearray(sealed.data)
        changed[place] ^= 1
        with pytest.raises(EncryptedError):
            await codec.decode([Payload(metadata=sealed.metadata, data=bytes(changed))])
    renamed = Payload(metadata={**sealed.metadata, "encryption-key-id": b"two"}, data=sealed.data)
    for broken in (renamed, Payload(metadata=sealed.metadata, data=b"")):
        with pytest.raises(EncryptedError):
            await codec.decode([broken])


def test_comments_and_empty_lines_are_ignored(tmp_path: Path) -> None:
    file = written(tmp_path, "# of November", "", f"  2026-11 : {new_key()}  # current")
    assert list(Keys.read(file).by_id) == ["2026-11"]


def test_keys_are_not_shown(tmp_path: Path) -> None:
    assert repr(Keys.read(written(tmp_path, f"one: {new_key()}"))) == "Keys()"


SAME = new_key()


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([], "it contains no key; write a line `ID: BASE64` for each"),
        (["# nothing"], "it contains no key; write a line `ID: BASE64` for each"),
        ([SAME], "line 1 must be `ID: BASE64`, with an id such as 2026-11"),
        ([f"a b: {SAME}"], "line 1 must be `ID: BASE64`, with an id such as 2026-11"),
        (["one: ?"], "line 1: the key one is not valid base64"),
        (
            ["one: c2hvcnQ="],
            (
                "line 1: the key one has 5 bytes, but AES-256 needs 32; generate one with `openssl "
                "rand -base64 32`"
            ),
        ),
        ([f"one: {SAME}", f"one: {new_key()}"], "line 2: the key one is already defined"),
        ([f"one: {SAME}", "", f"two: {SAME}"], "line 3: the key two is the same as one"),
    ],
)
def test_the_error_names_the_wrong_line_of_a_key_file(
    tmp_path: Path, lines: list[str], told: str
) -> None:
    file = written(tmp_path, *lines)
    with pytest.raises(UnusableSettingsError) as refused:
        Keys.read(file)
    assert str(refused.value) == f"FLEETGATE_PAYLOAD_KEYS is '{file}': {told}"
    assert SAME not in str(refused.value)


@pytest.mark.parametrize("name", ["none", "."])
def test_an_unreadable_key_file_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnusableSettingsError, match=r"FLEETGATE_PAYLOAD_KEYS is '.*'"):
        Keys.read(tmp_path / name)
