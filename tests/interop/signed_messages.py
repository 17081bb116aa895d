"""Signed and encrypted messages of SOAP by libxml2, libxmlsec1 and OpenSSL."""

from __future__ import annotations

import base64
import copy
import re
import secrets
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import xmlsec
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from lxml import etree
from xmlsec import constants

SOAP = "http://schemas.xmlsoap.org/soap/envelope/"
OASIS = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss"
WSSE = f"{OASIS}-wssecurity-secext-1.0.xsd"
WSU = f"{OASIS}-wssecurity-utility-1.0.xsd"
X509 = f"{OASIS}-x509-token-profile-1.0#X509v3"
BASE64 = f"{OASIS}-soap-message-security-1.0#Base64Binary"
DS = "http://www.w3.org/2000/09/xmldsig#"
XENC = "http://www.w3.org/2001/04/xmlenc#"
XENC11 = "http://www.w3.org/2009/xmlenc11#"
NAMES = {"s": SOAP, "wsse": WSSE, "wsu": WSU, "ds": DS, "xenc": XENC}
ID = f"{{{WSU}}}Id"

OAEP = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)
NONCE_BYTES = 12
"""Of the initialization vector before the cipher text (XML Encryption 1.1, section 5.2.4)."""

ENVELOPE = (
    f'<s:Envelope xmlns:s="{SOAP}"><s:Header><wsse:Security xmlns:wsse="{WSSE}" '
    's:mustUnderstand="1"/></s:Header><s:Body><HelloRequest xmlns="urn:wirelab:transfer:v1"/>'
    "</s:Body></s:Envelope>"
)


@dataclass(frozen=True)
class Key:
    """A private key and its certificate."""

    private: rsa.RSAPrivateKey
    certificate: x509.Certificate

    @property
    def public(self) -> rsa.RSAPublicKey:
        """The key of the certificate."""
        key = self.certificate.public_key()
        assert isinstance(key, rsa.RSAPublicKey)
        return key

    def pem(self) -> bytes:
        """The private key, without a password."""
        return self.private.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )


def read_keys(keystore: Mapping[str, str]) -> dict[str, Key]:
    """The keys in a file of PKCS #12, by the name of their entry, by OpenSSL."""
    command = ["openssl", "pkcs12", "-in", keystore["path"], "-nodes", "-passin"]
    done = subprocess.run(
        [*command, f"pass:{keystore['password']}"], capture_output=True, text=True, check=True
    )
    entry = re.compile(r"friendlyName: (\w+).*?(-----BEGIN (.*?)-----.*?-----END \3-----)", re.S)
    found = {(name, kind): pem.encode() for name, pem, kind in entry.findall(done.stdout)}
    keys = {}
    for name in {name for name, _ in found}:
        private = serialization.load_pem_private_key(found[name, "PRIVATE KEY"], None)
        assert isinstance(private, rsa.RSAPrivateKey)
        certificate = x509.load_pem_x509_certificate(found[name, "CERTIFICATE"])
        keys[name] = Key(private, certificate)
    return keys


def parse(text: bytes | str) -> etree._Element:
    """An envelope."""
    return etree.fromstring(text)


def find(envelope: etree._Element, path: str) -> etree._Element:
    """The one element at a path with the prefixes of :data:`NAMES`."""
    found = envelope.xpath(path, namespaces=NAMES)
    assert isinstance(found, list)
    (element,) = found
    assert isinstance(element, etree._Element)
    return element


def sign(envelope: etree._Element, key: Key, *, age_s: float = 0) -> None:
    """Adds a timestamp of some seconds ago, the certificate, and the signature of timestamp and
    body."""
    security = find(envelope, "/s:Envelope/s:Header/wsse:Security")
    body = find(envelope, "/s:Envelope/s:Body")
    created = datetime.now(UTC) - timedelta(seconds=age_s)
    timestamp = etree.SubElement(security, f"{{{WSU}}}Timestamp")
    for name, time in (("Created", created), ("Expires", created + timedelta(seconds=300))):
        etree.SubElement(timestamp, f"{{{WSU}}}{name}").text = f"{time:%Y-%m-%dT%H:%M:%SZ}"
    token = etree.SubElement(security, f"{{{WSSE}}}BinarySecurityToken")
    token.set("ValueType", X509)
    token.set("EncodingType", BASE64)
    der = key.certificate.public_bytes(serialization.Encoding.DER)
    token.text = base64.b64encode(der).decode()
    for element, name in ((timestamp, "T"), (body, "B"), (token, "X")):
        element.set(ID, name)
    signature = xmlsec.template.create(
        envelope, constants.TransformExclC14N, constants.TransformRsaSha256
    )
    security.append(signature)
    for uri in ("#T", "#B"):
        reference = xmlsec.template.add_reference(signature, constants.TransformSha256, uri=uri)
        xmlsec.template.add_transform(reference, constants.TransformExclC14N)
    info = xmlsec.template.ensure_key_info(signature)
    named = etree.SubElement(
        etree.SubElement(info, f"{{{WSSE}}}SecurityTokenReference"), f"{{{WSSE}}}Reference"
    )
    named.set("URI", "#X")
    named.set("ValueType", X509)
    context = xmlsec.SignatureContext()
    context.key = xmlsec.Key.from_memory(key.pem(), constants.KeyDataFormatPem)
    for element in (timestamp, body):
        context.register_id(element, "Id", WSU)
    context.sign(signature)


def verify(envelope: etree._Element, certificate: x509.Certificate) -> None:
    """Checks that exactly body and timestamp are signed, with the key of that certificate. Raises
    :class:`xmlsec.Error`."""
    signature = find(envelope, "/s:Envelope/s:Header/wsse:Security/ds:Signature")
    signed = [
        find(envelope, "/s:Envelope/s:Body"),
        find(envelope, "/s:Envelope/s:Header/wsse:Security/wsu:Timestamp"),
    ]
    uris = signature.xpath("ds:SignedInfo/ds:Reference/@URI", namespaces=NAMES)
    assert isinstance(uris, list)
    assert sorted(map(str, uris)) == sorted(f"#{element.get(ID)}" for element in signed)
    context = xmlsec.SignatureContext()
    context.key = xmlsec.Key.from_memory(
        certificate.public_bytes(serialization.Encoding.PEM), constants.KeyDataFormatCertPem
    )
    for element in signed:
        context.register_id(element, "Id", WSU)
    context.verify(signature)


def encrypt(envelope: etree._Element, receiver: x509.Certificate) -> None:
    """Replaces the content of the body by its cipher text, whose key is in the header."""
    body = find(envelope, "/s:Envelope/s:Body")
    content = b"".join(etree.tostring(child, with_tail=False) for child in body)
    key, nonce = AESGCM.generate_key(256), secrets.token_bytes(NONCE_BYTES)
    public = receiver.public_key()
    assert isinstance(public, rsa.RSAPublicKey)
    for child in list(body):
        body.remove(child)
    body.append(_make_data(nonce + AESGCM(key).encrypt(nonce, content, None)))
    wrapped = _make_key(public.encrypt(key, OAEP), receiver)
    find(envelope, "/s:Envelope/s:Header/wsse:Security").insert(0, wrapped)


def _make_data(content: bytes) -> etree._Element:
    return parse(
        f'<xenc:EncryptedData xmlns:xenc="{XENC}" Id="D" Type="{XENC}Content">'
        f'<xenc:EncryptionMethod Algorithm="{XENC11}aes256-gcm"/><xenc:CipherData>'
        f"<xenc:CipherValue>{base64.b64encode(content).decode()}</xenc:CipherValue>"
        "</xenc:CipherData></xenc:EncryptedData>"
    )


def _make_key(wrapped: bytes, receiver: x509.Certificate) -> etree._Element:
    return parse(
        f'<xenc:EncryptedKey xmlns:xenc="{XENC}" xmlns:ds="{DS}" Id="K">'
        f'<xenc:EncryptionMethod Algorithm="{XENC11}rsa-oaep">'
        f'<ds:DigestMethod Algorithm="{XENC}sha256"/>'
        f'<m:MGF xmlns:m="{XENC11}" Algorithm="{XENC11}mgf1sha256"/></xenc:EncryptionMethod>'
        f'<ds:KeyInfo><wsse:SecurityTokenReference xmlns:wsse="{WSSE}"><ds:X509Data>'
        f"<ds:X509IssuerSerial><ds:X509IssuerName>{receiver.issuer.rfc4514_string()}"
        f"</ds:X509IssuerName><ds:X509SerialNumber>{receiver.serial_number}"
        "</ds:X509SerialNumber></ds:X509IssuerSerial></ds:X509Data>"
        "</wsse:SecurityTokenReference></ds:KeyInfo><xenc:CipherData>"
        f"<xenc:CipherValue>{base64.b64encode(wrapped).decode()}</xenc:CipherValue>"
        '</xenc:CipherData><xenc:ReferenceList><xenc:DataReference URI="#D"/>'
        "</xenc:ReferenceList></xenc:EncryptedKey>"
    )


def decrypt(envelope: etree._Element, private: rsa.RSAPrivateKey) -> etree._Element:
    """A copy of the envelope with the decrypted body."""
    plain = copy.deepcopy(envelope)
    key = private.decrypt(_read_cipher(plain, "/s:Envelope/s:Header//xenc:EncryptedKey"), OAEP)
    body = find(plain, "/s:Envelope/s:Body")
    content = _read_cipher(plain, "/s:Envelope/s:Body/xenc:EncryptedData")
    text = AESGCM(key).decrypt(content[:NONCE_BYTES], content[NONCE_BYTES:], None)
    body.remove(find(plain, "/s:Envelope/s:Body/xenc:EncryptedData"))
    for child in parse(b"<s:Body xmlns:s='%s'>%s</s:Body>" % (SOAP.encode(), text)):
        body.append(child)
    return plain


def _read_cipher(envelope: etree._Element, path: str) -> bytes:
    value = find(envelope, f"{path}/xenc:CipherData/xenc:CipherValue").text
    assert value is not None
    return base64.b64decode(value)
