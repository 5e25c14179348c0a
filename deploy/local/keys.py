"""Keys and certificates for a throwaway cluster."""

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
    """A certificate followed by that of its authority, and its key, as PEM."""

    chain: str
    key: str


def new_signing_key() -> str:
    """Return a new private key for service account tokens, as PEM."""
    return _pem(_new_key())


def new_certificate(address: str) -> Certificate:
    """Return a certificate for a server at an IP address, valid for a year.

    Its authority signs nothing else. It uses elliptic curves, because the RSA keys that an API
    server would generate slow down its start, and every connection a little.
    """
    authority, key = _new_key(), _new_key()
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"authority of {address}")])
    signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public_key())
    root = (
        _begun(name, name, authority)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(key_cert_sign=True), critical=True)
        .sign(authority, SHA256())
    )
    leaf = (
        _begun(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, address)]), name, key)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(digital_signature=True), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName([_ip(address)]), critical=False)
        .add_extension(signer, critical=False)
        .sign(authority, SHA256())
    )
    return Certificate("".join(map(_certificate_pem, (leaf, root))), _pem(key))


def _begun(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now, public = datetime.now(UTC), key.public_key()
    return (
        x509.CertificateBuilder(issuer_name=issuer, subject_name=subject, public_key=public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCKS_DIFFER)
        .not_valid_after(now + _VALID)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
    )


def _usage(*, digital_signature: bool = False, key_cert_sign: bool = False) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=digital_signature,
        key_cert_sign=key_cert_sign,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )


def _ip(address: str) -> x509.IPAddress:
    return x509.IPAddress(ip_address(address))


def _certificate_pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(Encoding.PEM).decode()


def _new_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _pem(key: ec.EllipticCurvePrivateKey) -> str:
    form = PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(Encoding.PEM, form, NoEncryption()).decode()
