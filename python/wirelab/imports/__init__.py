"""Experiment files from what describes or records a service: OpenAPI, Protobuf, HAR, Postman
collections, curl commands, and scripts of load tools (JMeter, k6).

One module per kind of source reads a document into operations; :mod:`experiment_text` writes them
down. Nothing here calls a service, except for its description.
"""
