"""How a user-defined service is found to be ready, and its files of TLS."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from wirelab.experiment.fields import Model, Time, time_default


class Ready(Model):
    """How to detect that a started service is ready: one of these keys."""

    http: str | None = Field(None, pattern=r"^/", description="path that returns 2xx")
    tcp: Literal[True] | None = Field(
        None, description="ready when it accepts connections (default)"
    )
    grpc: bool | Annotated[str, Field(max_length=100)] | None = Field(
        None, description="gRPC health check: true, or the name of a service"
    )
    log: str | None = Field(None, description="regular expression that matches a printed line")
    within: Time = time_default(
        "30 s",
        "time without progress (CPU time, output) after which the trial fails; --ready-timeout "
        "replaces it",
    )

    @field_validator("log")
    @classmethod
    def _is_regular_expression(cls, pattern: str | None) -> str | None:
        try:
            re.compile(pattern or "")
        except re.error as error:
            raise ValueError(f"not a regular expression: {error}") from None
        return pattern

    @model_validator(mode="after")
    def _one_of(self) -> Ready:
        if sum(bool(way) for way in (self.http, self.tcp, self.grpc, self.log)) > 1:
            raise ValueError("write only one of http, tcp, grpc and log")
        return self


class Tls(Model):
    """TLS files in PEM format, relative to the experiment file."""

    ca: str | None = Field(
        None,
        description="authorities, or the server's own certificate; default: those of the system",
    )
    insecure: bool = Field(False, description="accept any certificate")
    server_name: str | None = Field(None, description="name that the certificate must be valid for")
    certificate: str | None = Field(None, description="client certificate, for mutual TLS")
    key: str | None = Field(None, description="private key of certificate")

    @model_validator(mode="after")
    def _pair(self) -> Tls:
        if (self.certificate is None) != (self.key is None):
            raise ValueError("certificate and key need each other: give both")
        if self.insecure and self.ca is not None:
            raise ValueError(
                "insecure accepts any certificate, so ca has no effect: leave one of them out"
            )
        return self
