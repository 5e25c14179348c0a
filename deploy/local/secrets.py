"""Tokens and keys of a throw-away cluster."""

import base64
import secrets
from typing import Final

# Order of the curve P-256; a private key is a number below it.
_P256_ORDER: Final = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551

# RFC 5915 ECPrivateKey without the optional public key: version 1, 32 bytes of key, the curve.
_BEFORE_KEY: Final = bytes.fromhex("30310201010420")
_AFTER_KEY: Final = bytes.fromhex("a00a06082a8648ce3d030107")


def new_token() -> str:
    """Return a random bearer token."""
    return secrets.token_urlsafe(32)


def new_signing_key() -> str:
    """Return a new private key for service account tokens, as PEM."""
    number = secrets.randbelow(_P256_ORDER - 1) + 1
    body = base64.b64encode(_BEFORE_KEY + number.to_bytes(32, "big") + _AFTER_KEY).decode()
    lines = "\n".join(body[start : start + 64] for start in range(0, len(body), 64))
    return f"-----BEGIN EC PRIVATE KEY-----\n{lines}\n-----END EC PRIVATE KEY-----\n"
