"""OpenAPI 3.0 and 3.1 (https://spec.openapis.org) and Swagger 2.0, in JSON or YAML.

:mod:`document` reads the text, :mod:`references` follows ``$ref``, :mod:`examples` makes content
of schemas, and :mod:`operations` makes requests of them.
"""

from wirelab.imports.openapi.operations import read as read
