"""The journal of a finished run as one Parquet file, for runs that are kept: ``trials.parquet``.

Its column ``line`` has the lines of ``trials.jsonl``, unchanged and in their order. The column
``id`` names their trials, so that other programs find one without reading all lines. A run with an
archive in place of its journal can be read, but not continued.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from wirelab.errors import RunDirectoryError
from wirelab.format.sanitize import damage
from wirelab.format.untrusted import TooLarge, read_bounded

NAME = "trials.parquet"
BYTES_MAX = 16_000_000
"""Maximum size of the file, which is compressed."""
_ROWS = 64
"""Lines that are decompressed together."""
_LEVEL = 19
"""Of zstd: a third smaller than its default."""


def write(lines: Sequence[bytes], path: Path) -> None:
    """Writes the lines of a journal, without their ends. Raises :class:`OSError`."""
    import pyarrow as pa
    from pyarrow import parquet

    ids = [str(json.loads(line)["id"]) for line in lines]
    columns = {"id": pa.array(ids, pa.string()), "line": pa.array(lines, pa.binary())}
    whole = io.BytesIO()
    parquet.write_table(
        pa.table(columns),
        whole,
        compression="zstd",
        compression_level=_LEVEL,
        use_dictionary=False,
    )
    path.write_bytes(whole.getvalue())


def read(path: Path, line_max: int, bytes_max: int) -> Iterator[bytes]:
    """The lines, of at most ``line_max`` bytes each and ``bytes_max`` in total. Raises
    :class:`RunDirectoryError`."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(io.BytesIO(read_bounded(path, BYTES_MAX)))
        groups = range(file.metadata.num_row_groups)
        size = sum(file.metadata.row_group(group).total_byte_size for group in groups)
        if size > bytes_max:
            raise TooLarge(f"it has {size:,} bytes, more than {bytes_max:,}")
        for batch in file.iter_batches(_ROWS, columns=["line"]):
            for value in batch.column("line"):
                line = value.as_py()
                if not isinstance(line, bytes):
                    raise TypeError("column line has other values than bytes")
                if len(line) > line_max:
                    raise TooLarge(f"a line has more than {line_max:,} bytes")
                yield line
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError) as error:
        raise RunDirectoryError(
            f"{path} cannot be read: {damage(error)}", "restore the file from a copy"
        ) from error
