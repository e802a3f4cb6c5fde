# SPDX-License-Identifier: Apache-2.0
"""An authority for the machines of one user, and the certificates that it signs (X.509)."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.x509 import Certificate

YEARS = 10
FROM_YEAR = 2000  # a robot without a battery for its clock starts years behind


def pem(key: EllipticCurvePrivateKey) -> bytes:
    """Its key, for a file."""
    from cryptography.hazmat.primitives import serialization as to

    return key.private_bytes(to.Encoding.PEM, to.PrivateFormat.PKCS8, to.NoEncryption())


def new() -> tuple[EllipticCurvePrivateKey, Certificate]:
    """A key, and the certificate that says whose certificates it signs."""
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = f"Takt workers {secrets.token_hex(4)}"
    return key, _certificate(name, key, name, key, authority=True)


def for_machine(name: str, signer: EllipticCurvePrivateKey, authority: Certificate) -> bytes:
    """What a machine needs: its key, its certificate, the authority's."""
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import Encoding
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    of = authority.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value
    certificate = _certificate(name, key, str(of), signer, authority=False)
    return pem(key) + certificate.public_bytes(Encoding.PEM) + authority.public_bytes(Encoding.PEM)


def _certificate(
    name: str,
    key: EllipticCurvePrivateKey,
    signer_name: str,
    signer: EllipticCurvePrivateKey,
    *,
    authority: bool,
) -> Certificate:
    """As RFC 5280 wants them, which newer Pythons insist on."""
    from datetime import datetime, timedelta, timezone

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    def named(text: str) -> x509.Name:
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

    may = dict.fromkeys(
        (
            *("digital_signature", "content_commitment", "key_encipherment", "data_encipherment"),
            *("key_agreement", "key_cert_sign", "crl_sign", "encipher_only", "decipher_only"),
        ),
        False,
    )
    may |= {"key_cert_sign": True} if authority else {"digital_signature": True}
    of_signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
    now = datetime.now(timezone.utc)
    builder = (
        x509.CertificateBuilder()
        .subject_name(named(name))
        .issuer_name(named(signer_name))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime(FROM_YEAR, 1, 1, tzinfo=timezone.utc))
        .not_valid_after(now + timedelta(days=365 * YEARS))
        .add_extension(x509.BasicConstraints(authority, 0 if authority else None), critical=True)
        .add_extension(x509.KeyUsage(**may), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(of_signer, critical=False)
    )
    if not authority:
        both = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
        builder = builder.add_extension(x509.ExtendedKeyUsage(both), critical=False)
    return builder.sign(signer, hashes.SHA256())
