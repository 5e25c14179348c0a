"""Keys and certificates of a throw-away cluster."""

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import Final, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_VALID: Final = timedelta(days=365)
_CLOCKS_DIFFER: Final = timedelta(hours=1)


class Certificate(NamedTuple):
    """A certificate that is its own authority, and its key, both as PEM."""

    certificate: str
    key: str


def new_signing_key() -> str:
    """Return a new private key for service account tokens, as PEM."""
    return _pem(_new_key())


def new_certificate(address: str) -> Certificate:
    """Return a certificate for a server at an IP address, valid for a year.

    With an elliptic curve: the RSA keys that an API server would make cost it a good part of its
    start, and a little of each connection.
    """
    key = _new_key()
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, address)])
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder(issuer_name=name, subject_name=name, public_key=key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCKS_DIFFER)
        .not_valid_after(now + _VALID)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), True)
        .add_extension(_SIGNS, True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), False)
        .add_extension(identifier, False)
        .sign(key, SHA256())
    )
    return Certificate(signed.public_bytes(Encoding.PEM).decode(), _pem(key))


_SIGNS: Final = x509.KeyUsage(
    digital_signature=True,
    key_cert_sign=True,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    crl_sign=False,
    encipher_only=False,
    decipher_only=False,
)


def _new_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _pem(key: ec.EllipticCurvePrivateKey) -> str:
    form = PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(Encoding.PEM, form, NoEncryption()).decode()
