"""The codecs of a contract's messages."""

from __future__ import annotations

from enum import StrEnum


class Codec(StrEnum):
    """Formats of messages, named as in stack references."""

    JSON = "json"
    PROTOBUF = "protobuf"
    XML = "xml"
    CBOR = "cbor"
    MSGPACK = "msgpack"
    AVRO = "avro"
    SOAP_LITERAL = "soap-literal"
