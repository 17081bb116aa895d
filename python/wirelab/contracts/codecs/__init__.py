"""Bytes of messages in every codec. Libraries are loaded when their codec is used."""

from __future__ import annotations

from wirelab.contracts.codecs.codec import Codec
from wirelab.contracts.schema import Contract
from wirelab.contracts.values import Value

__all__ = ["Codec", "decode", "encode", "measure_sizes"]


def encode(contract: Contract, message: str, value: Value, codec: Codec) -> bytes:
    """The message's bytes. Raises :class:`UsageError` with the field's path where the format
    cannot represent a value."""
    if codec is Codec.PROTOBUF:
        from wirelab.contracts.codecs import protobuf

        return protobuf.encode(contract, message, value)
    if codec in (Codec.XML, Codec.SOAP_LITERAL):
        from wirelab.contracts.codecs import xml

        return xml.encode(contract, message, value, is_soap=codec is Codec.SOAP_LITERAL)
    if codec is Codec.AVRO:
        from wirelab.contracts.codecs import avro

        return avro.encode(contract, message, value)
    from wirelab.contracts.codecs import tree

    return tree.encode(contract, message, value, codec)


def decode(contract: Contract, message: str, content: bytes, codec: Codec) -> Value:
    """The value, complete. Raises :class:`UsageError` for bytes that are not such a message."""
    if codec is Codec.PROTOBUF:
        from wirelab.contracts.codecs import protobuf

        return protobuf.decode(contract, message, content)
    if codec in (Codec.XML, Codec.SOAP_LITERAL):
        from wirelab.contracts.codecs import xml

        return xml.decode(contract, message, content, is_soap=codec is Codec.SOAP_LITERAL)
    if codec is Codec.AVRO:
        from wirelab.contracts.codecs import avro

        return avro.decode(contract, message, content)
    from wirelab.contracts.codecs import tree

    return tree.decode(contract, message, content, codec)


def measure_sizes(contract: Contract, message: str, value: Value) -> dict[Codec, int]:
    """Bytes of the message in every codec."""
    return {codec: len(encode(contract, message, value, codec)) for codec in Codec}
