"""Services in Go, Java and Rust, generated for a contract of a user's own."""

from __future__ import annotations
